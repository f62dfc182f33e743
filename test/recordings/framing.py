"""How a recorded reply is framed: HTTP/1.1, Connect envelopes, process events.

Written from the protocol alone. Positions are counted in bytes of the reply as
it came over the wire: a position is how many of them must have arrived.
"""

import base64
import json

CODES = ("canceled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied"
         " resource_exhausted failed_precondition aborted out_of_range unimplemented internal unavailable"
         " data_loss unauthenticated").split()


class Reply:
    """One HTTP answer at the start of `data`.

    head      bytes of the head
    complete  position at which the framing says that it is whole; None: it never does
    close     the body ends with the connection
    body      the body without its framing, as far as it is there
    """

    def __init__(self, data, method="POST"):
        self.head = data.index(b"\r\n\r\n") + 4
        lines = data[:self.head - 4].decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1])
        pairs = [line.split(":", 1) for line in lines[1:]]
        self.headers = {name.lower(): value.strip() for name, value in pairs}
        self.segments = []  # (position in the reply, position in the body, length)
        self.body = b""
        self.complete = None
        self.close = False
        if method == "HEAD" or self.status in (204, 304) or self.status < 200:
            self.complete = self.head
        elif self.headers.get("transfer-encoding") == "chunked":
            self._chunks(data)
        elif "content-length" in self.headers:
            length = int(self.headers["content-length"])
            self._segment(data, self.head, length)
            if len(self.body) == length:
                self.complete = self.head + length
        else:
            self.close = True
            self._segment(data, self.head, len(data) - self.head)

    def _segment(self, data, at, length):
        part = data[at:at + length]
        self.segments.append((at, len(self.body), len(part)))
        self.body += part

    def _chunks(self, data):
        at = self.head
        while True:
            end = data.find(b"\r\n", at)
            if end < 0:
                return
            size = int(data[at:end], 16)
            at = end + 2
            if size == 0:
                if data[at:at + 2] == b"\r\n":
                    self.complete = at + 2
                return
            self._segment(data, at, size)
            at += size + 2

    def position(self, count):
        """How much of the reply must have come for `count` bytes of its body."""
        if count == 0:
            return self.head
        for at, start, length in self.segments:
            if start < count <= start + length:
                return at + count - start
        raise ValueError(f"the body has no {count} bytes")


def messages(reply):
    """The envelopes of a body: (flags, payload, its start in the body, whether it is whole)."""
    at = 0
    while at < len(reply.body):
        prefix = reply.body[at:at + 5]
        size = int.from_bytes(prefix[1:5], "big")
        payload = reply.body[at + 5:at + 5 + size]
        yield prefix[0], payload, at, len(prefix) == 5 and len(payload) == size
        at += 5 + size


# ---- Process events --------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def fields(data):
    """A protobuf message: the last value of each field."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            found[key >> 3], at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            found[key >> 3] = data[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {key & 7}")
    return found


def event_of_proto(payload):
    event = fields(fields(payload)[1])
    if 1 in event:
        return {"start": {"pid": fields(event[1])[1]}}
    if 2 in event:
        data = fields(event[2])
        return {"data": {name: data[number] for number, name in ((1, "stdout"), (2, "stderr"), (3, "pty")) if number in data}}
    if 3 in event:
        end = fields(event[3])
        zigzag = end.get(1, 0)
        return {"end": {"exitCode": (zigzag >> 1) ^ -(zigzag & 1), "exited": bool(end.get(2, 0)),
                        "status": end.get(3, b"").decode()}}
    return {"keepalive": {}}


def event_of_json(payload):
    event = json.loads(payload)["event"]
    if "data" in event:
        event["data"] = {name: base64.b64decode(text, validate=True) for name, text in event["data"].items()}
    return event


def stream(reply, binary):
    """What a process stream says, and from which position on it has said it."""
    said = {"marks": [], "stdout": b"", "stderr": b"", "pty": b"", "error": None, "end": None}
    for flags, payload, start, whole in messages(reply):
        if flags & 1:
            said.setdefault("compressed", reply.position(start + 1))
            continue
        if not whole:
            continue
        at = reply.position(start + 5 + len(payload))
        if flags & 2:
            said["finished"] = at
            said["error"] = json.loads(payload).get("error")
            continue
        event = event_of_proto(payload) if binary else event_of_json(payload)
        for name, data in event.get("data", {}).items():
            said[name] += data
        if "start" in event:
            said["started"] = at
            said["pid"] = event["start"]["pid"]
        if "end" in event:
            said["ended"] = at
            said["end"] = event["end"]
        said["marks"].append((at, len(said["stdout"]), len(said["stderr"]), len(said["pty"])))
    return said
