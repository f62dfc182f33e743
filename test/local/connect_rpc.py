"""The Connect protocol on the server's side: unary calls and streams in both
codecs, errors, compression and deadlines."""

import asyncio
import base64
import gzip
import json
import struct

import protobuf
from http_server import DroppedReply, Reply, StreamReply

STATUS = {
    "canceled": 499, "unknown": 500, "invalid_argument": 400,
    "deadline_exceeded": 504, "not_found": 404, "already_exists": 409,
    "permission_denied": 403, "resource_exhausted": 429,
    "failed_precondition": 400, "aborted": 409, "out_of_range": 400,
    "unimplemented": 501, "internal": 500, "unavailable": 503,
    "data_loss": 500, "unauthenticated": 401,
}

GRPC_TYPES = [
    "application/grpc", "application/grpc+json",
    "application/grpc+json; charset=utf-8", "application/grpc+proto",
    "application/grpc-web", "application/grpc-web+json",
    "application/grpc-web+json; charset=utf-8", "application/grpc-web+proto"]
STREAM_TYPES = [
    "application/connect+json", "application/connect+json; charset=utf-8",
    "application/connect+proto"]
UNARY_TYPES = [
    "application/json", "application/json; charset=utf-8", "application/proto"]

VARY = {"Vary": "Origin"}


class RpcError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.message = message


class Crash(Exception):
    """The daemon's handler panics here: the connection closes unanswered."""


class Method:
    def __init__(self, kind, request, response, handler):
        """kind is "unary", "server_stream" or "client_stream"."""
        self.kind = kind
        self.request = request
        self.response = response
        self.handler = handler


def go_json(value):
    """Compact JSON with the escapes that Go's encoding/json applies."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        if character in text:
            text = text.replace(character, "\\u%04x" % ord(character))
    return text.encode()


def error_value(code, message):
    return {"code": code, "message": message} if message else {"code": code}


def unary_error(error, extra=None):
    headers = {"Content-Type": "application/json", **VARY, **(extra or {})}
    return Reply(STATUS[error.code], headers,
                 go_json(error_value(error.code, error.message)))


def stream_error_alone(content_type, error):
    """What a refusal outside the Connect library looks like on a stream."""
    payload = go_json({"error": error_value(error.code, error.message)})
    return Reply(200, {"Content-Type": content_type, **VARY},
                 struct.pack(">BI", 2, len(payload)) + payload)


def content_type_of(request):
    """The type as the daemon spells it, and echoes it."""
    parts = request.headers.get("Content-Type", "").lower().split(";")
    return "; ".join(part.strip() for part in parts)


def is_stream_type(content_type):
    return content_type.startswith("application/connect+")


def codec_for(content_type):
    return "proto" if content_type.endswith("proto") else "json"


def decode(codec, message, data):
    try:
        if codec == "proto":
            return protobuf.decode_binary(message, data)
        return protobuf.decode_json(message, data)
    except protobuf.DecodeError as error:
        raise RpcError(
            "invalid_argument",
            f"unmarshal message: unmarshal into *process.{message.name}: "
            f"proto:{protobuf.NBSP}{error}") from None
    except ValueError as error:
        raise RpcError("invalid_argument", f"unmarshal message: {error}") from None


def encode(codec, message, value):
    if codec == "proto":
        return protobuf.encode_binary(message, value)
    return protobuf.encode_json(message, value)


def parse_timeout(request):
    """Milliseconds, or None where there is no limit."""
    text = request.headers.get("Connect-Timeout-Ms", "")
    if not text:
        return None
    if len(text) > 10:
        raise RpcError("invalid_argument", f'parse timeout: "{text}" has >10 digits')
    try:
        if not text.lstrip("+-").isascii() or not text.lstrip("+-").isdigit():
            raise ValueError
        return int(text)
    except ValueError:
        raise RpcError("invalid_argument", "parse timeout: strconv.ParseInt: "
                       f'parsing "{text}": invalid syntax') from None


def accepts_gzip(header):
    return "gzip" in header.replace(",", " ").split()


def check_coding(name):
    if name not in ("", "identity", "gzip"):
        raise RpcError("unimplemented", f'unknown compression "{name}": '
                       "supported encodings are gzip")
    return name == "gzip"


def inflate(data):
    try:
        return gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise RpcError("invalid_argument", f"decompress: {error}") from None


async def read_body(request):
    if "body" in request:
        return request["body"]
    pieces = []
    while True:
        piece = await request.content.readany()
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


async def serve(request, method, context):
    """Answers one call. context is what the handlers get beside the message."""
    content_type = content_type_of(request)
    if request.method != "POST":
        return Reply(405, {"Allow": "POST", **VARY})
    is_unary = method.kind == "unary"
    if content_type not in (UNARY_TYPES if is_unary else STREAM_TYPES):
        accepted = sorted(GRPC_TYPES + (UNARY_TYPES if is_unary else STREAM_TYPES))
        return Reply(415, {"Accept-Post": ", ".join(accepted), **VARY})
    try:
        if is_unary:
            return await serve_unary(request, method, context, content_type)
        return await serve_stream(request, method, context, content_type)
    except Crash:
        return DroppedReply()


async def serve_unary(request, method, context, content_type):
    codec = codec_for(content_type)
    extra = {"Accept-Encoding": "gzip"}
    try:
        parse_timeout(request)
        compressed = check_coding(request.headers.get("Content-Encoding", ""))
        body = await read_body(request)
        if compressed and body:
            body = inflate(body)
        message = decode(codec, method.request, body)
        value = await method.handler(context, message)
    except RpcError as error:
        return unary_error(error, extra)
    body = encode(codec, method.response, value)
    headers = {"Content-Type": content_type, **VARY, **extra}
    if compressed or accepts_gzip(request.headers.get("Accept-Encoding", "")):
        headers["Content-Encoding"] = "gzip"
        body = gzip.compress(body, 6)
    return Reply(200, headers, body)


def take_envelope(data, at, compressed):
    """Returns (flags, payload, next position) or raises the library's errors."""
    if len(data) - at < 5:
        raise RpcError("invalid_argument",
                       "protocol error: incomplete envelope: unexpected EOF")
    flags, length = struct.unpack_from(">BI", data, at)
    payload = data[at + 5:at + 5 + length]
    if len(payload) < length:
        raise RpcError("invalid_argument", f"protocol error: promised {length} "
                       f"bytes in enveloped message, got {len(payload)} bytes")
    if flags & 1:
        if not compressed:
            raise RpcError("internal", "protocol error: sent compressed message "
                           "without compression support")
        payload = inflate(payload) if payload else payload
    if flags & ~3:
        raise RpcError("internal", f"protocol error: invalid envelope flags {flags}")
    return flags, payload, at + 5 + length


async def read_envelopes(request, compressed):
    """Yields (flags, payload) as they come."""
    data = bytearray()
    while True:
        piece = await request.content.readany()
        data += piece
        while len(data) >= 5:
            end = 5 + int.from_bytes(data[1:5], "big")
            if len(data) < end:
                break
            flags, payload, _ = take_envelope(bytes(data[:end]), 0, compressed)
            del data[:end]
            yield flags, payload
        if not piece:
            break
    if data:
        take_envelope(bytes(data), 0, compressed)


def single_message(data, compressed):
    zero = RpcError("unimplemented", "unary request has zero messages")
    if not data:
        raise zero
    flags, payload, at = take_envelope(data, 0, compressed)
    if flags & 2:
        raise zero
    if at < len(data):
        raise RpcError("unimplemented", "unary request has multiple messages")
    return payload


async def serve_stream(request, method, context, content_type):
    asked = request.headers.get("Connect-Accept-Encoding", "")
    coding = request.headers.get("Connect-Content-Encoding", "")
    headers = {"Content-Type": content_type, "Connect-Accept-Encoding": "gzip", **VARY}
    if coding == "gzip" or accepts_gzip(asked):
        headers["Connect-Content-Encoding"] = "gzip"
    reply = StreamReply(request, 200, headers)
    reply.fault = context.fault
    stream = Stream(reply, codec_for(content_type), method,
                    "Connect-Content-Encoding" in headers)
    connection = request.protocol
    connection.watcher = stream
    try:
        timeout = parse_timeout(request)
        compressed = check_coding(coding)
        if timeout is not None:
            stream.set_deadline(timeout / 1000)
        if method.kind == "client_stream":
            await method.handler(context, request, stream, compressed)
        else:
            payload = single_message(await read_body(request), compressed)
            message = decode(stream.codec, method.request, payload)
            await method.handler(context, message, stream)
        stream.end()
    except RpcError as error:
        stream.fail(error.code, error.message)
    finally:
        stream.close()
        if connection.watcher is stream:
            connection.watcher = None
    return reply


class Stream:
    """The reply of one streaming call."""

    def __init__(self, reply, codec, method, compress):
        self.reply = reply
        self.codec = codec
        self.method = method
        self.compress = compress
        self.deadline_passed = False
        self.timeout = None
        # Resolved once the stream is over from the client's side: an error to
        # report, or None where the client is gone.
        self.stopped = asyncio.get_running_loop().create_future()
        self._deadline = None

    def set_deadline(self, seconds):
        self.timeout = seconds
        if seconds <= 0:
            self.deadline_passed = True
            return
        self._deadline = asyncio.get_running_loop().call_later(
            seconds, self._deadline_reached)

    def _deadline_reached(self):
        self.deadline_passed = True
        self.stop(deadline_error())

    def client_half_closed(self):
        self.stop(RpcError("canceled", "context canceled"))

    def client_gone(self):
        self.stop(None)

    def stop(self, error):
        if not self.stopped.done():
            self.stopped.set_result(error)

    def write(self, payload):
        flags = 0
        if self.compress:
            flags, payload = 1, gzip.compress(payload, 1)
        self.reply.write(struct.pack(">BI", flags, len(payload)) + payload)

    def write_message(self, value):
        self.write(encode(self.codec, self.method.response, value))

    def end(self):
        self._finish({})

    def fail(self, code, message):
        self._finish({"error": error_value(code, message)})

    def _finish(self, value):
        flags, payload = 2, go_json(value)
        if self.compress:
            flags, payload = 3, gzip.compress(payload, 1)
        self.reply.finish(struct.pack(">BI", flags, len(payload)) + payload)

    def close(self):
        if self._deadline is not None:
            self._deadline.cancel()


def deadline_error():
    return RpcError("deadline_exceeded", "context deadline exceeded")


def basic_user(request):
    """The user named by Basic authentication, None where there is none."""
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        text = base64.b64decode(value, validate=True).decode()
    except ValueError:
        return None
    user, colon, _ = text.partition(":")
    return user if colon else None
