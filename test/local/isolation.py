"""How the processes of a sandbox are kept apart: with bubblewrap where it
works, otherwise not at all (and the caller says so)."""

import os
import shutil
import subprocess
import sys

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent.py")
AGENT_INSIDE = "/run/e2b-agent.py"
PYTHON = "/usr/bin/python3"
UID = {"root": 0, "user": 1000}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Directories of the host that a sandbox replaces by its own or never sees.
HIDDEN = {"proc", "dev", "home", "root", "tmp", "run", "srv", "lost+found"}
# Path inside a sandbox: name of the directory that stands behind it.
PRIVATE = {"/home/user": "home", "/root": "root", "/tmp": "tmp", "/srv": "srv"}

# What root keeps in a sandbox: enough to act as any user on its own files, not
# enough to mount or to reach the host's.
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID",
                "SETUID", "SETFCAP", "NET_BIND_SERVICE")
# bwrap hands what it is told to keep to every user; this takes it back.
FROM_ROOT = ["/usr/bin/setpriv", "--inh-caps", "-all", "--ambient-caps", "-all"]

SHARED_WARNING = (
    "e2b-local: warning: bubblewrap (bwrap) is missing, does not work here or "
    "was turned off, so sandboxes are not isolated: their processes run as the "
    "user that started e2b-local and share its files, its process ids and its "
    "network; only the home directory of each sandbox is its own")


class Isolation:
    """One for the whole service."""

    def __init__(self, base, allow_bwrap=True):
        self.base = base
        self.bwrap = shutil.which("bwrap") if allow_bwrap else None
        self._root = []
        if self.bwrap:
            self._write_accounts()
            self._root = self._root_arguments()
            if not self._works():
                self.bwrap = None

    @property
    def confined(self):
        return self.bwrap is not None

    def make_directories(self, sandbox_directory):
        for path, name in PRIVATE.items():
            directory = os.path.join(sandbox_directory, name)
            os.makedirs(directory)
            os.chmod(directory, 0o1777 if path == "/tmp" else 0o755)
            if name == "home" and os.geteuid() == 0 and self.confined:
                os.chown(directory, UID["user"], UID["user"])

    def home(self, user, sandbox_directory):
        if self.confined:
            return "/root" if user == "root" else "/home/user"
        return os.path.join(sandbox_directory, "home")

    def inside(self, path, sandbox_directory):
        """The path a process sees for a path that a caller named."""
        if not self.confined and (path + "/").startswith("/home/user/"):
            return os.path.join(sandbox_directory, "home") + path[len("/home/user"):]
        return path

    def agent_command(self, sandbox_directory, descriptor):
        if not self.confined:
            return [PYTHON, "-I", "-S", AGENT, str(descriptor)]
        command = [self.bwrap, "--as-pid-1", "--die-with-parent",
                   "--unshare-pid", "--unshare-ipc", "--unshare-uts",
                   "--hostname", "e2b.local"]
        if os.geteuid() != 0:
            command += ["--unshare-user", "--uid", "0", "--gid", "0"]
        command += ["--cap-drop", "ALL"]
        for name in CAPABILITIES:
            command += ["--cap-add", "CAP_" + name]
        command += self._root + ["--perms", "0755", "--dir", "/home"]
        for path, name in PRIVATE.items():
            command += ["--bind", os.path.join(sandbox_directory, name), path]
        command += ["--remount-ro", "/"]
        if os.geteuid() == 0:
            command += FROM_ROOT
        return command + [PYTHON, "-I", "-S", AGENT_INSIDE, str(descriptor)]

    def _root_arguments(self):
        arguments = []
        for name in sorted(os.listdir("/")):
            path = "/" + name
            if name in HIDDEN:
                continue
            if os.path.islink(path):
                arguments += ["--symlink", os.readlink(path), path]
            elif os.path.isdir(path):
                arguments += ["--ro-bind", path, path]
        arguments += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run",
                      "--ro-bind", AGENT, AGENT_INSIDE]
        # Name resolution is often a link into the hidden /run.
        resolver = os.path.realpath("/etc/resolv.conf")
        if resolver.startswith("/run/") and os.path.exists(resolver):
            arguments += ["--ro-bind", resolver, resolver]
        for name in ("passwd", "group"):
            arguments += ["--ro-bind", os.path.join(self.base, name),
                          "/etc/" + name]
        return arguments

    def _write_accounts(self):
        accounts = {
            "passwd": "root:x:0:0:root:/root:/bin/bash\n"
                      "user:x:1000:1000::/home/user:/bin/bash\n"
                      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
            "group": "root:x:0:\ntty:x:5:\nuser:x:1000:\nnogroup:x:65534:\n",
        }
        for name, text in accounts.items():
            path = os.path.join(self.base, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, 0o644)

    def _works(self):
        probe = os.path.join(self.base, "probe")
        os.mkdir(probe)
        self.make_directories(probe)
        command = self.agent_command(probe, 0)
        command = command[:command.index(PYTHON)] + ["/bin/true"]
        result = subprocess.run(command, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(probe)
        return result.returncode == 0

    def warn(self):
        if not self.confined:
            print(SHARED_WARNING, file=sys.stderr, flush=True)
