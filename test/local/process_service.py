"""process.Process: the calls of envd that start and drive processes."""

import base64
import signal
import struct

import process_messages as messages
from connect_rpc import (Crash, Method, RpcError, Stream, deadline_error, decode,
                         read_envelopes)
from process import InputError, Subscriber
from protobuf import length_delimited, varint
from sandbox import StartError

DEFAULT_KEEPALIVE = 90
JSON_DATA = {name: (b'{"event":{"data":{"%b":"' % name.encode(), b'"}}}')
             for name in ("stdout", "stderr", "pty")}
DATA_FIELD = {"stdout": 1, "stderr": 2, "pty": 3}


class EventStream(Subscriber):
    """Turns what a process does into the events of one stream."""

    def __init__(self, stream: Stream, keepalive, loop):
        self.stream = stream
        self._loop = loop
        self._interval = keepalive
        self._timer = None
        self._last = loop.time()
        self._outputs_open = lambda: True

    def begin(self, process):
        self.stream.write_message({"event": {"start": {"pid": process.pid}}})
        self._outputs_open = lambda: bool(process.outputs)
        process.subscribers.append(self)
        self._last = self._loop.time()
        self._timer = self._loop.call_later(self._interval, self._tick)

    def _tick(self):
        due = self._last + self._interval
        now = self._loop.time()
        if now >= due - 0.001:
            # None are sent while only the exit is awaited.
            if self._outputs_open():
                self.stream.write_message({"event": {"keepalive": {}}})
            self._last = due = now
            due += self._interval
        self._timer = self._loop.call_later(due - now, self._tick)

    def data(self, name, piece):
        self._last = self._loop.time()
        if self.stream.codec == "json":
            before, after = JSON_DATA[name]
            self.stream.write(before + base64.b64encode(piece) + after)
        else:
            self.stream.write(binary_data(name, piece))

    def ended(self, end):
        self.stream.write_message({"event": {"end": end}})
        self.stream.stop(None)

    def congested(self):
        return self.stream.reply.congested

    async def drained(self):
        await self.stream.reply.drain()

    def close(self, process):
        if self in process.subscribers:
            process.subscribers.remove(self)
        if self._timer is not None:
            self._timer.cancel()


def binary_data(name, piece):
    data = varint(DATA_FIELD[name] << 3 | 2) + varint(len(piece)) + piece
    return length_delimited(1, length_delimited(2, data))


def keepalive_interval(request):
    """Seconds; below one the daemon would crash, which None stands for."""
    try:
        interval = int(request.headers.get("Keepalive-Ping-Interval", ""))
    except ValueError:
        return DEFAULT_KEEPALIVE
    return interval if interval > 0 else None


async def start(context, message, stream):
    sandbox = context.sandbox
    config = message.get("process", {})
    user = context.user or sandbox.default_user
    terminal = None
    if "pty" in message:
        size = message["pty"].get("size", {})
        terminal = {name: size.get(name, 0) & 0xFFFF for name in ("cols", "rows")}
    wants_input = message.get("stdin", True)
    try:
        process = await sandbox.start(config, user, message.get("tag"),
                                      wants_input, terminal)
    except StartError as error:
        raise RpcError(error.code, str(error)) from None
    # The limit of the call is the process's too, also when the client leaves.
    # A limit of 0 ends the stream alone.
    if stream.timeout:
        process.limit_life(stream.timeout)
    if context.request.protocol.half_closed:
        process.begin()
        raise RpcError("canceled", "context canceled")
    await follow(context, process, stream)


async def follow(context, process, stream):
    interval = keepalive_interval(context.request)
    if interval is None:
        stream.write_message({"event": {"start": {"pid": process.pid}}})
        process.begin()
        raise Crash
    events = EventStream(stream, interval, context.loop)
    events.begin(process)
    process.begin()
    try:
        if stream.deadline_passed:
            raise deadline_error()
        error = await stream.stopped
        if error is not None:
            raise error
    finally:
        events.close(process)


async def connect(context, message, stream):
    selector = message.get("process")
    sandbox = context.sandbox
    process = find(sandbox, selector, missing_selector="invalid input type "
                   "*process.ProcessSelector", including_ended=True)
    if process.end is not None:
        stream.write_message({"event": {"start": {"pid": process.pid}}})
        stream.write_message({"event": {"end": process.end}})
        return
    await follow(context, process, stream)


def find(sandbox, selector, missing_selector="invalid input type <nil>",
         including_ended=False):
    if selector is None:
        raise RpcError("unimplemented", missing_selector)
    if "pid" in selector:
        process = sandbox.processes.get(selector["pid"])
        label = f"pid {selector['pid']}"
        if process is None and including_ended:
            process = sandbox.ended_process(pid=selector["pid"])
    elif "tag" in selector:
        tag = selector["tag"]
        process = next((one for one in sandbox.processes.values()
                        if one.tag == tag), None)
        label = f"tag {tag}"
        if process is None and including_ended:
            process = sandbox.ended_process(tag=tag)
    else:
        raise RpcError("unimplemented", "invalid input type <nil>")
    if process is None:
        raise RpcError("not_found", f"process with {label} not found")
    return process


async def list_processes(context, _message):
    listed = []
    for process in context.sandbox.processes.values():
        info = {"config": process.config, "pid": process.pid}
        if process.tag is not None:
            info["tag"] = process.tag
        listed.append(info)
    return {"processes": listed}


async def write_input(process, message):
    if "stdin" in message:
        if process.is_terminal:
            raise RpcError("internal", "error writing to stdin: tty assigned to "
                           "process \u2014 input should be written to the pty, not "
                           "the stdin")
        label, data = "stdin", message["stdin"]
    elif "pty" in message:
        if not process.is_terminal:
            raise RpcError("internal", "error writing to tty: tty not assigned to "
                           "process \u2014 input should be written to the stdin, "
                           "not the tty")
        label, data = "tty", message["pty"]
    else:
        raise RpcError("unimplemented", "invalid input type <nil>")
    if process.input.descriptor is None:
        raise RpcError("internal",
                       "error writing to stdin: stdin not enabled or closed")
    try:
        await process.input.write(data)
    except InputError as error:
        raise RpcError("internal", f"error writing to {label}: {error}") from None


async def send_input(context, message):
    process = find(context.sandbox, message.get("process"))
    await write_input(process, message.get("input", {}))
    return {}


async def stream_input(context, request, stream, compressed):
    process = None
    async for flags, payload in read_envelopes(request, compressed):
        if flags & 2:
            break
        message = decode(stream.codec, messages.STREAM_INPUT_REQUEST, payload)
        if "start" in message:
            process = find(context.sandbox, message["start"].get("process"))
        elif "data" in message:
            if process is None:
                raise Crash
            await write_input(process, message["data"].get("input", {}))
        elif "keepalive" not in message:
            raise RpcError("unimplemented", "invalid event type <nil>")
    stream.write_message({})


async def close_stdin(context, message):
    process = find(context.sandbox, message.get("process"))
    if process.is_terminal:
        raise RpcError("unknown", "error closing stdin: cannot close stdin for PTY "
                       "process \u2014 send Ctrl+D (0x04) instead")
    process.input.close()
    return {}


async def send_signal(context, message):
    process = find(context.sandbox, message.get("process"))
    number = message.get("signal", 0)
    if number not in (signal.SIGKILL, signal.SIGTERM):
        name = messages.SIGNALS.get(number, str(number))
        raise RpcError("unimplemented", f"invalid signal: {name}")
    if not await process.signal(number):
        raise RpcError("internal",
                       "error sending signal: os: process already finished")
    return {}


async def update(context, message):
    process = find(context.sandbox, message.get("process"))
    if "pty" not in message:
        return {}
    if not process.is_terminal:
        raise RpcError("internal", "error resizing tty: tty not assigned to process")
    process.resize(message["pty"].get("size", {}))
    return {}


METHODS = {
    "Start": Method("server_stream", messages.START_REQUEST,
                    messages.EVENT_RESPONSE, start),
    "Connect": Method("server_stream", messages.CONNECT_REQUEST,
                      messages.EVENT_RESPONSE, connect),
    "List": Method("unary", messages.LIST_REQUEST, messages.LIST_RESPONSE,
                   list_processes),
    "SendInput": Method("unary", messages.SEND_INPUT_REQUEST, messages.EMPTY,
                        send_input),
    "StreamInput": Method("client_stream", messages.STREAM_INPUT_REQUEST,
                          messages.EMPTY, stream_input),
    "CloseStdin": Method("unary", messages.CLOSE_STDIN_REQUEST, messages.EMPTY,
                         close_stdin),
    "SendSignal": Method("unary", messages.SEND_SIGNAL_REQUEST, messages.EMPTY,
                         send_signal),
    "Update": Method("unary", messages.UPDATE_REQUEST, messages.EMPTY, update),
}
