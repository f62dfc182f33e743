"""Runs inside a sandbox and starts its processes.

The service sends one datagram for each request over a SOCK_SEQPACKET socket
(its number is the only argument) with the child's ends of the pipes beside it;
the answers and exit reports go back the same way. Where a private pid
namespace exists this is its process 1, so its death ends everything in it.
Only the standard library's small modules are imported: a sandbox is ready as
soon as this file runs.
"""

import contextlib
import errno
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import termios

LARGEST_DATAGRAM = 65536


def receive(channel):
    """One datagram and its descriptors, which no child inherits (recv_fds of
    the standard library does not hand its flags on)."""
    message, ancillary, _, _ = channel.recvmsg(
        LARGEST_DATAGRAM, socket.CMSG_SPACE(8 * 4), socket.MSG_CMSG_CLOEXEC)
    descriptors = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors += struct.unpack(f"{len(data) // 4}i", data)
    return message, descriptors


class SingleIdentity:
    """A namespace made by an ordinary user has one user id, which is root's.
    Where a process is to be someone else it gets a namespace of its own inside,
    that gives the same id another name."""

    def __init__(self):
        import ctypes
        self._library = ctypes.CDLL(None)

    @staticmethod
    def applies():
        with open("/proc/self/uid_map", encoding="ascii") as file:
            return [line.split()[2] for line in file] == ["1"]

    def become(self, uid, gid):
        clone_newuser = 0x10000000
        if uid == os.getuid() or self._library.unshare(clone_newuser) != 0:
            return
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} 0 1"),
                           ("gid_map", f"{gid} 0 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)


class Agent:
    def __init__(self, channel, confined):
        self.channel = channel
        self.confined = confined
        self.single = None
        if confined and SingleIdentity.applies():
            self.single = SingleIdentity()
        self.children = set()

    def run(self):
        waker_read, waker_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(waker_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        os.umask(0o022)
        for ignored in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)
        poll = select.poll()
        poll.register(self.channel, select.POLLIN)
        poll.register(waker_read, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in poll.poll()]
            if waker_read in ready:
                os.read(waker_read, 4096)
                self.reap()
            if self.channel.fileno() in ready and not self.serve():
                return

    def serve(self):
        message, descriptors = receive(self.channel)
        if not message:
            return False
        request = json.loads(message)
        if request.get("large"):
            with os.fdopen(descriptors.pop(), "rb") as memory:
                memory.seek(0)
                request = json.load(memory)
        kind = request["do"]
        if kind == "start":
            self.start(request, descriptors)
        elif kind == "signal":
            self.answer(request, self.signal_child(request))
        elif kind == "signal_all":
            self.signal_all(request["signal"])
            self.answer(request, {})
        return True

    def answer(self, request, result, descriptors=()):
        result["id"] = request["id"]
        socket.send_fds(self.channel, [json.dumps(result).encode()], descriptors)

    def signal_child(self, request):
        if request["pid"] not in self.children:
            return {"error": "finished"}
        os.kill(request["pid"], request["signal"])
        return {}

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.children:
                self.children.discard(pid)
                self.channel.send(json.dumps(
                    {"exit": pid, "status": status}).encode())

    def start(self, request, descriptors):
        if not os.path.exists(request["cwd"]):
            close_all(descriptors)
            self.answer(request, {"error": "no cwd"})
            return
        master = None
        try:
            if request["pty"]:
                master, pid = self.fork_on_terminal(request)
            elif self.single is not None and request["uid"] != 0:
                pid = self.fork(request, descriptors)
            else:
                pid = self.spawn(request, descriptors)
        except OSError as error:
            close_all(descriptors)
            self.answer(request, {"error": "start", "errno": error.errno})
            return
        # Before anybody hears of it: a pipe whose reader has gone must be seen as broken.
        close_all(descriptors)
        self.children.add(pid)
        self.answer(request, {"pid": pid}, [] if master is None else [master])
        if master is not None:
            os.close(master)

    def spawn(self, request, descriptors):
        """Several times as fast as a fork of this interpreter. The user and
        the directory are put on here for as long as it takes."""
        uid, gid = request["uid"], request["gid"]
        switch = self.confined and self.single is None and uid != 0
        try:
            if switch:
                os.setgroups([gid])
                os.setresgid(gid, gid, 0)
                os.setresuid(uid, uid, 0)
            os.chdir(request["cwd"])
            return spawn_command(request["argv"], request["env"], descriptors)
        finally:
            if switch:
                os.setresuid(0, 0, 0)
                os.setresgid(0, 0, 0)
                os.setgroups([0])
            os.chdir("/")

    def fork_on_terminal(self, request):
        master, slave = os.openpty()
        try:
            set_window(slave, request["pty"])
            if self.confined and self.single is None:
                os.chown(os.ttyname(slave), request["uid"], -1)
            return master, self.fork(request, [slave, slave, slave])
        except OSError:
            os.close(master)
            raise
        finally:
            os.close(slave)

    def fork(self, request, descriptors):
        # The child says here, before it becomes the command, whether the
        # directory could be entered: that is an error of the call, while a
        # command that cannot be executed is an exit code.
        report_read, report_write = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            become(self, request, descriptors, report_write)
        os.close(report_write)
        report = os.read(report_read, 64)
        os.close(report_read)
        if report != b"ok":
            os.waitpid(pid, 0)
            raise OSError(int(report or b"5"), "start")
        return pid

    def signal_all(self, number):
        if self.confined:
            try:
                os.kill(-1, number)
            except ProcessLookupError:
                pass
            return
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                pass

    def end_everything(self):
        """Without a namespace nothing else ends what commands left behind."""
        if self.confined:
            return
        while True:
            self.signal_all(signal.SIGKILL)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


# Not the real-time signals: two of them belong to the C library.
RESTORED = [number for number in range(1, signal.SIGRTMIN - 2)
            if number not in (signal.SIGKILL, signal.SIGSTOP)]


def become(agent, request, descriptors, report_write):
    """In the forked child: take over the streams, user and directory, then
    execute the command. Never returns."""
    try:
        signal.set_wakeup_fd(-1)
        for number in RESTORED:
            signal.signal(number, signal.SIG_DFL)
        try:
            for target, descriptor in enumerate(descriptors):
                os.dup2(descriptor, target)
            if request["pty"]:
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if agent.single is not None:
                agent.single.become(request["uid"], request["gid"])
            elif agent.confined:
                os.setgroups([request["gid"]])
                os.setresgid(*[request["gid"]] * 3)
                os.setresuid(*[request["uid"]] * 3)
            os.chdir(request["cwd"])
            os.write(report_write, b"ok")
        except OSError as error:
            os.write(report_write, b"%d" % error.errno)
            return
        for path, argv in attempts(request["argv"], request["env"]):
            try:
                os.execve(path, argv, request["env"])
            except OSError:
                pass
    finally:
        os._exit(126)


def spawn_command(argv, env, descriptors):
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, target)
               for target, descriptor in enumerate(descriptors)]
    for path, attempt in attempts(argv, env):
        try:
            return os.posix_spawn(path, attempt, env, file_actions=actions,
                                  setsigdef=RESTORED)
        except OSError as error:
            if error.errno == errno.E2BIG:
                raise
    raise OSError(errno.EAGAIN, "start")


def attempts(argv, env):
    """What to execute, in this order. The daemon goes through nice, whose
    complaint and exit codes are what a caller sees of a missing command; the
    last attempt imitates them."""
    command = argv[0]
    path, reason = find_command(command, env)
    if path is not None:
        yield path, argv
        with contextlib.suppress(OSError), open(path, "rb") as file:
            if file.read(4) not in (b"\x7fELF", b"") and os.access(path, os.X_OK):
                yield "/bin/sh", ["/bin/sh", path, *argv[1:]]
        reason = errno.EACCES
    text = f"/usr/bin/nice: '{command}': {os.strerror(reason)}\n"
    code = 127 if reason == errno.ENOENT else 126
    yield "/bin/sh", ["/bin/sh", "-c", f'printf %s "$1" >&2; exit {code}', "sh", text]


def find_command(command, env):
    """(path, None), or (None, why not): the C library's search."""
    if "/" in command:
        if os.path.exists(command):
            return command, None
        return None, errno.ENOENT
    reason = errno.ENOENT
    for folder in env.get("PATH", os.defpath).split(":"):
        path = os.path.join(folder or ".", command)
        if command and os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path, None
            reason = errno.EACCES
    return None, reason


def close_all(descriptors):
    for descriptor in descriptors:
        os.close(descriptor)


def set_window(descriptor, size):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ,
                struct.pack("HHHH", size["rows"], size["cols"], 0, 0))


def descendants(root):
    parents = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                after_name = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(after_name[1])
    found = []
    layer = {root}
    while layer:
        layer = {pid for pid, parent in parents.items() if parent in layer}
        found += layer
    return found


def adopt_orphans():
    """Keeps what commands leave behind below this process, so that it can be
    stopped and ended with the sandbox."""
    import ctypes
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def usual_descriptor_limit():
    """The service raised its own; commands get what they would elsewhere."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, most), most))


def main():
    usual_descriptor_limit()
    channel = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(channel.fileno(), False)
    confined = os.getpid() == 1
    if not confined:
        adopt_orphans()
    agent = Agent(channel, confined)
    try:
        agent.run()
    except (BrokenPipeError, ConnectionResetError):
        pass  # the service has gone away or killed the sandbox: nobody is left to tell
    finally:
        agent.end_everything()


if __name__ == "__main__":
    main()
