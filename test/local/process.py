"""A real process of a sandbox: its pipes or terminal, the readers of its
output, its input and its end."""

import asyncio
import fcntl
import os
import signal
import struct
import termios

READ_SIZE = {"stdout": 32768, "stderr": 32768, "pty": 16384}


class Subscriber:
    """What a process needs of a stream that reads it."""

    def data(self, name, piece):
        raise NotImplementedError

    def ended(self, end):
        raise NotImplementedError

    def congested(self):
        raise NotImplementedError

    async def drained(self):
        raise NotImplementedError


class Output:
    """Reads one pipe and hands each read to every subscriber. A subscriber that
    does not keep up stops the reading, as the daemon's hand-off does."""

    def __init__(self, process, name, descriptor):
        os.set_blocking(descriptor, False)
        self.process = process
        self.name = name
        self.descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting = None

    def begin(self):
        self._loop.add_reader(self.descriptor, self._readable)

    def _readable(self):
        try:
            piece = os.read(self.descriptor, READ_SIZE[self.name])
        except BlockingIOError:
            return
        except OSError:
            piece = b""  # a terminal whose last user is gone
        if not piece:
            self.close()
            self.process.output_ended(self)
            return
        slow = self.process.publish(self.name, piece)
        if slow:
            self._loop.remove_reader(self.descriptor)
            self._waiting = self._loop.create_task(self._wait(slow))

    async def _wait(self, slow):
        for subscriber in slow:
            await subscriber.drained()
        self._waiting = None
        if self.descriptor is not None:
            self.begin()

    def drain_now(self):
        """What is in the pipe at this moment, at most once its capacity."""
        for _ in range(32):
            if self.descriptor is None:
                return
            try:
                piece = os.read(self.descriptor, READ_SIZE[self.name])
            except OSError:
                return
            if not piece:
                return
            self.process.publish(self.name, piece)

    def close(self):
        if self.descriptor is None:
            return
        self._loop.remove_reader(self.descriptor)
        if self._waiting is not None:
            self._waiting.cancel()
        if not self.process.is_terminal:
            os.close(self.descriptor)
        self.descriptor = None


class InputError(Exception):
    pass


class Input:
    """The write end of standard input, or the terminal."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self._lock = asyncio.Lock()
        if descriptor is not None:
            os.set_blocking(descriptor, False)

    async def write(self, data):
        loop = asyncio.get_running_loop()
        view = memoryview(data)
        async with self._lock:
            while view:
                if self.descriptor is None:
                    raise InputError("stdin not enabled or closed")
                try:
                    view = view[os.write(self.descriptor, view):]
                except BlockingIOError:
                    await self._writable(loop)
                except BrokenPipeError:
                    raise InputError("write |1: broken pipe") from None
                except OSError as error:
                    raise InputError("write /dev/ptmx: " +
                                     os.strerror(error.errno).lower()) from None

    async def _writable(self, loop):
        descriptor = os.dup(self.descriptor)  # a terminal has a reader of its own
        ready = loop.create_future()
        loop.add_writer(descriptor, lambda: ready.done() or ready.set_result(None))
        try:
            await ready
        finally:
            loop.remove_writer(descriptor)
            os.close(descriptor)

    def close(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


class Process:
    """Created by Sandbox.start; begin() once the first subscriber is there."""

    def __init__(self, sandbox, pid, config, tag, descriptors, is_terminal):
        """descriptors: {"stdin"?, "stdout", "stderr"} or {"pty"}, our ends."""
        self.sandbox = sandbox
        self.pid = pid
        self.config = config
        self.tag = tag
        self.is_terminal = is_terminal
        self.subscribers = []
        self.end = None
        self._status = None
        self._report_at_exit = False
        self._begun = False
        self._life = None
        if is_terminal:
            self._terminal = descriptors["pty"]
            self.outputs = [Output(self, "pty", self._terminal)]
            self.input = Input(self._terminal)
        else:
            self._terminal = None
            self.outputs = [Output(self, name, descriptors[name])
                            for name in ("stdout", "stderr")]
            self.input = Input(descriptors.get("stdin"))

    def begin(self):
        if not self._begun:
            self._begun = True
            for output in self.outputs:
                output.begin()

    def limit_life(self, seconds):
        loop = asyncio.get_running_loop()
        self._life = loop.call_later(seconds, lambda: loop.create_task(
            self.signal(signal.SIGKILL)))

    def publish(self, name, piece):
        """Returns the subscribers that have to catch up before more is read."""
        slow = []
        for subscriber in self.subscribers:
            subscriber.data(name, piece)
            if subscriber.congested():
                slow.append(subscriber)
        return slow

    def output_ended(self, output):
        self.outputs.remove(output)
        self._finish_if_over()

    def exited(self, status):
        """The agent reports the end; status is that of waitpid."""
        self._status = status
        self._finish_if_over()

    async def signal(self, number):
        """False where the process is already gone."""
        self._report_at_exit = True
        return await self.sandbox.signal(self.pid, number)

    def resize(self, size):
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack(
            "HHHH", size.get("rows", 0) & 0xFFFF, size.get("cols", 0) & 0xFFFF, 0, 0))

    def _finish_if_over(self):
        if self.end is not None or self._status is None:
            return
        # A background child that holds the pipes delays the end, unless the
        # end was asked for.
        if self.outputs and not self._report_at_exit:
            return
        for output in list(self.outputs):
            output.drain_now()
        self.end = end_event(self._status)
        self.release()
        self.sandbox.process_ended(self)
        for subscriber in list(self.subscribers):
            subscriber.ended(self.end)

    def release(self):
        if self._life is not None:
            self._life.cancel()
        for output in self.outputs:
            output.close()
        self.outputs = []
        self.input.close()  # the terminal's descriptor too


def end_event(status):
    if os.WIFSIGNALED(status):
        text = "signal: " + signal_text(os.WTERMSIG(status))
        if os.WCOREDUMP(status):
            text += " (core dumped)"
        return {"exit_code": -1, "status": text, "error": text}
    code = os.WEXITSTATUS(status)
    event = {"exit_code": code, "exited": True, "status": f"exit status {code}"}
    if code:
        event["error"] = event["status"]
    return event


def signal_text(number):
    """Go's names, which are the C library's without capitals."""
    text = signal.strsignal(number)
    return text.lower() if text else f"signal {number}"
