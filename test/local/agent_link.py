"""The service's end of the channel to a sandbox's agent (agent.py)."""

import asyncio
import json
import os
import socket
import subprocess

from agent import LARGEST_DATAGRAM, receive


class AgentGone(Exception):
    """The sandbox ended while a request to it was waiting."""


class AgentLink:
    def __init__(self, isolation, sandbox_directory, on_exit):
        """on_exit(pid, wait_status) is called for each process that ended."""
        self._loop = asyncio.get_running_loop()
        self._on_exit = on_exit
        self._waiting = {}
        self._next_id = 0
        ours, theirs = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
        ours.setblocking(False)
        self._socket = ours
        # A session of its own: Ctrl-C in the terminal is for the service.
        self._process = subprocess.Popen(
            isolation.agent_command(sandbox_directory, theirs.fileno()),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()], start_new_session=True,
            cwd="/", env={"PATH": os.environ.get("PATH", os.defpath)})
        theirs.close()
        self._loop.add_reader(ours, self._readable)

    async def request(self, message, descriptors=()):
        """Returns the agent's answer and the descriptors that came with it."""
        if self._socket is None:
            raise AgentGone
        self._next_id += 1
        message["id"] = self._next_id
        answer = self._waiting[self._next_id] = self._loop.create_future()
        data = json.dumps(message).encode()
        descriptors = list(descriptors)
        memory = None
        if len(data) > LARGEST_DATAGRAM:
            memory = os.memfd_create("request", os.MFD_CLOEXEC)
            with os.fdopen(os.dup(memory), "wb") as file:
                file.write(data)
            descriptors.append(memory)
            data = b'{"large":true}'
        try:
            await self._send(data, descriptors)
        finally:
            if memory is not None:
                os.close(memory)
        return await answer

    async def _send(self, data, descriptors):
        while True:
            if self._socket is None:
                raise AgentGone
            try:
                socket.send_fds(self._socket, [data], descriptors)
                return
            except BlockingIOError:
                await asyncio.sleep(0.001)
            except OSError as error:
                raise AgentGone from error

    def _readable(self):
        for _ in range(64):
            try:
                data, descriptors = receive(self._socket)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self.close()
                return
            message = json.loads(data)
            if "exit" in message:
                self._on_exit(message["exit"], message["status"])
                continue
            answer = self._waiting.pop(message["id"], None)
            if answer is not None and not answer.done():
                answer.set_result((message, descriptors))
            else:
                for descriptor in descriptors:
                    os.close(descriptor)

    def close(self):
        """Ends the agent, which ends every process of the sandbox."""
        if self._socket is None:
            return
        self._loop.remove_reader(self._socket)
        self._socket.close()
        self._socket = None
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(AgentGone())
        self._waiting.clear()

    def join(self):
        """Waits until the processes are gone: the agent leaves when the socket
        closes, and bwrap only after the last process of its namespace."""
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
