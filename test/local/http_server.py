"""The HTTP layer: aiohttp's parser and keep-alive loop, with replies written
exactly as the Go servers being imitated write them."""

import http
import sys
import traceback

from aiohttp import web
from aiohttp.helpers import rfc822_formatted_time
from aiohttp.web_protocol import RequestHandler, RequestPayloadError

# Go's response writer buffers this much. A longer body is chunked, and an
# envelope that overflows the buffer is split here.
GO_BUFFER = 2048


class Connection(RequestHandler):
    """One client connection. It tells the running reply when the client shuts
    its sending side or goes away; aiohttp itself does neither."""

    __slots__ = ("half_closed", "watcher")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.half_closed = False
        self.watcher = None

    def eof_received(self):
        request = self._current_request
        if request is not None and not request.content.is_eof():
            return None
        if self._waiter is not None and not self._messages:
            return None
        self.half_closed = True
        if self.watcher is not None:
            self.watcher.client_half_closed()
        return True

    def connection_lost(self, exc):
        super().connection_lost(exc)
        watcher, self.watcher = self.watcher, None
        if watcher is not None:
            watcher.client_gone()

    def handle_error(self, request, status=500, exc=None, message=None):
        # A client that leaves or sends a broken body is no error of ours. The
        # text of an exception can hold header values, so only the frames are
        # shown.
        client_s_fault = isinstance(exc, (ConnectionError, RequestPayloadError))
        if status >= 500 and exc is not None and not client_s_fault:
            frames = "".join(traceback.format_tb(exc.__traceback__))
            print(f"e2b-local: error in a handler: {type(exc).__name__}\n{frames}",
                  file=sys.stderr, flush=True)
        phrase = http.HTTPStatus(status).phrase
        reply = Reply(status, {"Content-Type": "text/plain; charset=utf-8"},
                      f"{status} {phrase}".encode())
        reply.close_after = True
        return reply


class Server(web.Server):
    def __call__(self):
        return Connection(self, loop=self._loop, **self._kwargs)


def make_server(handler):
    return Server(
        handler,
        access_log=None,
        keepalive_timeout=640,
        auto_decompress=False,
        max_line_size=1 << 20,
        max_field_size=1 << 20,
        max_headers=1000,
    )


def header_block(request, status, headers, framing):
    version = "1.0" if request.version < (1, 1) else "1.1"
    try:
        phrase = http.HTTPStatus(status).phrase
    except ValueError:
        phrase = f"status code {status}"
    lines = [f"HTTP/{version} {status} {phrase}"]
    lines += [f"{name}: {headers[name]}" for name in sorted(headers)]
    lines.append("Date: " + rfc822_formatted_time())
    if framing:
        lines.append(framing)
    if version == "1.1" and not request.keep_alive:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8")


class Reply:
    """A whole answer. A fault (faults.py) delays or withholds it."""

    def __init__(self, status, headers=None, body=b""):
        self.status = status
        self.headers = headers or {}
        self.body = body
        self.close_after = False
        self.fault = None
        self._request = None

    @property
    def keep_alive(self):
        protocol = self._request.protocol
        if protocol.half_closed and not protocol._messages:
            return False
        return self._request.keep_alive and not self.close_after

    async def prepare(self, request):
        self._request = request

    async def write_eof(self):
        request = self._request
        if self.fault is not None and await self.fault.take_reply(request):
            self.close_after = True
            return
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("client gone")
        transport.write(self.encode(request))
        await request.protocol._drain_helper()

    def encode(self, request):
        body = self.body
        if self.status in (204, 304):
            framing, body = None, b""
        elif len(body) <= GO_BUFFER or request.version < (1, 1):
            framing = f"Content-Length: {len(body)}"
        else:
            framing = "Transfer-Encoding: chunked"
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        head = header_block(request, self.status, self.headers, framing)
        if request.method == "HEAD":
            return head
        return head + body


class DroppedReply(Reply):
    """No answer at all: the connection closes."""

    def __init__(self):
        super().__init__(500)
        self.close_after = True

    async def write_eof(self):
        if self._request.transport is not None:
            self._request.transport.close()


class StreamReply:
    """A chunked answer, one HTTP chunk for each piece handed over. A fault
    withholds it from the first piece on."""

    def __init__(self, request, status, headers):
        self.request = request
        self.status = status
        self.fault = None
        self._protocol = request.protocol
        self._head = (status, headers)
        self._chunked = request.version >= (1, 1)
        self._finished = False

    @property
    def keep_alive(self):
        protocol = self._protocol
        if protocol.half_closed and not protocol._messages:
            return False
        return self._finished and self._chunked and self.request.keep_alive

    @property
    def gone(self):
        return self._protocol.transport is None

    @property
    def congested(self):
        return self._protocol._paused and self._protocol.transport is not None

    async def drain(self):
        try:
            await self._protocol._drain_helper()
        except ConnectionError:
            pass

    def _withheld(self):
        if self.fault is None:
            return False
        self.fault.cut(self.request)
        return True

    def write(self, piece):
        transport = self._protocol.transport
        if transport is None or self._finished or self._withheld():
            return
        transport.write(self._take_head() + self._frame(piece))

    def _take_head(self):
        if self._head is None:
            return b""
        status, headers = self._head
        self._head = None
        framing = "Transfer-Encoding: chunked" if self._chunked else None
        return header_block(self.request, status, headers, framing)

    def _frame(self, piece):
        if not self._chunked:
            return piece
        if len(piece) <= GO_BUFFER:
            return b"%x\r\n%b\r\n" % (len(piece), piece)
        rest = len(piece) - GO_BUFFER
        return b"%x\r\n%b\r\n%x\r\n%b\r\n" % (
            GO_BUFFER, piece[:GO_BUFFER], rest, piece[GO_BUFFER:])

    def finish(self, last_piece):
        transport = self._protocol.transport
        if transport is None or self._finished or self._withheld():
            return
        end = b"0\r\n\r\n" if self._chunked else b""
        transport.write(self._take_head() + self._frame(last_piece) + end)
        self._finished = True

    async def prepare(self, request):
        pass

    async def write_eof(self):
        if self.fault is not None:
            await self.fault.take_reply(self.request)
        elif not self._finished and self._protocol.transport is not None:
            self._protocol.transport.close()
        else:
            await self.drain()
