"""A sandbox: its life, its processes, and the set of all sandboxes."""

import asyncio
import hashlib
import os
import secrets
import shutil
import signal
import string
import time

from agent_link import AgentGone, AgentLink
from isolation import PATH, UID
from process import Process

ALPHABET = string.ascii_lowercase + string.digits
EXIT_KEPT_NS = 30 * 10**9
SECOND = 10**9


class Clock:
    """Wall time in nanoseconds, which tests can move forward."""

    def __init__(self):
        self.offset = 0

    def now(self):
        return time.time_ns() + self.offset


class StartError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def random_id(length):
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


class Sandbox:
    def __init__(self, service, template, timeout, options):
        """options: the fields of the create request that are kept."""
        self.service = service
        self.template = template
        self.id = "i" + random_id(20)
        self.options = options
        self.state = "running"
        self.started = service.clock.now()
        self.ends = self.started + timeout * SECOND
        self.timeout = timeout
        # The token is a function of the id, so it outlives pause and resume.
        self.token = self._token("envd") if options.get("secure") else None
        self.traffic_token = self._token("traffic") if options.get(
            "network", {}).get("allowPublicTraffic") is False else None
        self.processes = {}
        self.connections = set()
        self._ended = []
        self._early_exits = {}
        self._link = None
        self.directory = os.path.join(service.base, self.id)
        os.mkdir(self.directory)
        service.isolation.make_directories(self.directory)

    def _token(self, use):
        text = f"{use}:{self.id}:{self.service.token_seed}"
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def default_user(self):
        return self.service.default_user

    @property
    def auto_pause(self):
        return bool(self.options.get("autoPause"))

    @property
    def auto_resume(self):
        return bool(self.options.get("autoResume", {}).get("enabled"))

    def environment(self, user):
        return {
            "PATH": PATH,
            "HOME": self.service.isolation.home(user, self.directory),
            "USER": user,
            "LOGNAME": user,
            "E2B_SANDBOX": "true",
            "E2B_SANDBOX_ID": self.id,
            "E2B_TEMPLATE_ID": self.template.id,
            **self.options.get("envVars", {}),
        }

    def link(self):
        if self._link is None:
            self._link = AgentLink(self.service.isolation, self.directory,
                                   self._process_exited)
        return self._link

    def expand_path(self, path, user):
        home = self.service.isolation.home(user, self.directory)
        if path in ("", "~"):
            return home
        if path.startswith("~/"):
            return os.path.normpath(home + path[1:])
        if path.startswith("~"):
            raise StartError("invalid_argument", f"failed to expand path '{path}': "
                             "cannot expand user-specific home dir")
        if not path.startswith("/"):
            return os.path.normpath(home + "/" + path)
        return self.service.isolation.inside(path, self.directory)

    async def start(self, config, user, tag, wants_input, terminal):
        argv = [config.get("cmd", ""), *config.get("args", [])]
        env = {**self.environment(user), **config.get("envs", {})}
        cwd = self.expand_path(config.get("cwd", ""), user)
        label = " ".join(argv)
        starting = "error starting " + (
            f"pty with command '{label}'" if terminal else f"process '{label}'")
        if "\0" in "".join((*argv, cwd, *env, *env.values())):
            raise StartError("invalid_argument",
                             f"{starting}: fork/exec /bin/sh: invalid argument")
        request = {"do": "start", "argv": argv, "env": env, "cwd": cwd,
                   "uid": UID[user], "gid": UID[user], "pty": terminal}
        ours, theirs = {}, []
        if terminal is None:
            ours, theirs = make_pipes(wants_input)
        try:
            answer, received = await self.link().request(request, theirs)
        except (AgentGone, OSError) as error:
            close_all(ours.values())
            raise StartError("internal", f"{starting}: {error}") from None
        finally:
            close_all(theirs)
        if "error" in answer:
            close_all(ours.values())
            if answer["error"] == "no cwd":
                raise StartError("invalid_argument", f"cwd '{cwd}' does not exist")
            reason = os.strerror(answer["errno"]).lower()
            raise StartError("invalid_argument",
                             f"{starting}: fork/exec /bin/sh: {reason}")
        if terminal is not None:
            ours = {"pty": received[0]}
        return self._add_process(answer["pid"], config, tag, ours,
                                 terminal is not None)

    def _add_process(self, pid, config, tag, descriptors, is_terminal):
        process = Process(self, pid, config, tag, descriptors, is_terminal)
        self._ended = [one for one in self._ended if one[1].pid != pid]
        self.processes[pid] = process
        if pid in self._early_exits:
            process.exited(self._early_exits.pop(pid))
        return process

    def _process_exited(self, pid, status):
        process = self.processes.get(pid)
        if process is None:
            self._early_exits[pid] = status
        else:
            process.exited(status)

    def process_ended(self, process):
        self.processes.pop(process.pid, None)
        self._forget_old()
        self._ended.append((self.service.clock.now(), process))

    def _forget_old(self):
        oldest = self.service.clock.now() - EXIT_KEPT_NS
        self._ended = [one for one in self._ended if one[0] > oldest]

    def ended_process(self, pid=None, tag=None):
        self._forget_old()
        for _, process in reversed(self._ended):
            if process.pid == pid or (tag is not None and process.tag == tag):
                return process
        return None

    async def signal(self, pid, number):
        try:
            answer, _ = await self.link().request(
                {"do": "signal", "pid": pid, "signal": int(number)})
        except AgentGone:
            return False
        return "error" not in answer

    async def _signal_all(self, number):
        if self._link is None:
            return
        try:
            await self._link.request({"do": "signal_all", "signal": int(number)})
        except AgentGone:
            pass

    async def pause(self):
        now = self.service.clock.now()
        self.state = "paused"
        # What the server stores of a paused sandbox has microseconds only.
        self.ends = now // 1000 * 1000
        self.started = self.started // 1000 * 1000
        self._drop_connections()
        await self._signal_all(signal.SIGSTOP)

    async def resume(self, timeout):
        await self._signal_all(signal.SIGCONT)
        self.started = self.service.clock.now()
        self.ends = self.started + timeout * SECOND
        self.timeout = timeout
        self.state = "running"
        self.service.schedule_expiry()

    def set_end(self, seconds):
        self.ends = self.service.clock.now() + seconds * SECOND
        self.service.schedule_expiry()

    def end(self):
        """Ends every process and removes the directories."""
        self.state = "ended"
        self._drop_connections()
        link, self._link = self._link, None
        if link is not None:
            link.close()
        for process in self.processes.values():
            process.release()
        self.processes.clear()
        return asyncio.get_running_loop().run_in_executor(
            None, remove, link, self.directory)

    def _drop_connections(self):
        for connection in list(self.connections):
            if connection.transport is not None:
                connection.transport.abort()


def remove(link, directory):
    if link is not None:
        link.join()
    shutil.rmtree(directory, ignore_errors=True)


def make_pipes(wants_input):
    """Returns our ends by name and the child's ends in the order 0, 1, 2."""
    ours, theirs = {}, []
    if wants_input:
        read, write = os.pipe2(os.O_CLOEXEC)
        ours["stdin"] = write
        theirs.append(read)
    else:
        theirs.append(os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC))
    for name in ("stdout", "stderr"):
        read, write = os.pipe2(os.O_CLOEXEC)
        ours[name] = read
        theirs.append(write)
    return ours, theirs


def close_all(descriptors):
    for descriptor in descriptors:
        os.close(descriptor)
