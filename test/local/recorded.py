"""Reading the recordings, and HTTP and Connect messages out of bytes."""

import base64
import gzip
import json
import os
import struct

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recordings")


class Recording:
    def __init__(self, line):
        value = json.loads(line)
        self.name = value["name"]
        self.end = value["end"]
        self.sent = join(value["sent"])
        self.received = join(value["received"])
        self._pieces = value["received"]

    def received_before(self, milliseconds):
        return join([piece for piece in self._pieces if piece[0] < milliseconds])


def join(pieces):
    return b"".join(base64.b64decode(text) for _, text in pieces)


def load(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return [Recording(line) for line in file]


class Incomplete(Exception):
    """More bytes are needed."""


class Answer:
    """One HTTP reply. chunks is None where the body was not chunked."""

    def __init__(self, version, status, headers):
        self.version = version
        self.status = status
        self.headers = headers
        self.chunks = None
        self.body = b""


def split_head(data):
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end:
        raise Incomplete
    lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return lines[0], headers, rest


def split_request(data):
    """(head and body of the first request, the rest)."""
    _, headers, rest = split_head(data)
    head = data[:len(data) - len(rest)]
    if headers.get("transfer-encoding") == "chunked":
        _, after = read_chunks(rest)
        return head + rest[:len(rest) - len(after)], after
    length = int(headers.get("content-length", 0))
    return head + rest[:length], rest[length:]


def requests_of(data):
    requests = []
    while data:
        request, data = split_request(data)
        requests.append(request)
    return requests


def read_chunks(data):
    chunks = []
    while True:
        line, end, data = data.partition(b"\r\n")
        if not end:
            raise Incomplete
        size = int(line, 16)
        if len(data) < size + 2:
            raise Incomplete
        if size == 0:
            return chunks, data[2:]
        chunks.append(data[:size])
        data = data[size + 2:]


def read_answer(data, method, closed, partial=False):
    """(answer, rest). With partial, a chunked body may still be under way."""
    first, headers, rest = split_head(data)
    version, status = first.split(" ")[:2]
    answer = Answer(version, int(status), headers)
    if method == "HEAD" or answer.status in (204, 304):
        return answer, rest
    if headers.get("transfer-encoding") == "chunked":
        try:
            answer.chunks, rest = read_chunks(rest)
        except Incomplete:
            if not partial:
                raise
            answer.chunks = chunks_so_far(rest)
            rest = b""
        answer.body = b"".join(answer.chunks)
        return answer, rest
    if "content-length" in headers:
        length = int(headers["content-length"])
        if len(rest) < length and not partial:
            raise Incomplete
        answer.body = rest[:length]
        return answer, rest[length:]
    if not closed:
        raise Incomplete
    answer.body = rest
    return answer, b""


def chunks_so_far(data):
    chunks = []
    while True:
        line, end, data = data.partition(b"\r\n")
        if not end or not line:
            return chunks
        size = int(line, 16)
        if len(data) < size + 2 or size == 0:
            return chunks
        chunks.append(data[:size])
        data = data[size + 2:]


def envelopes(body):
    """[(flags, payload)], inflated; a cut one at the end is left out."""
    found = []
    at = 0
    while len(body) - at >= 5:
        flags, length = struct.unpack_from(">BI", body, at)
        payload = body[at + 5:at + 5 + length]
        if len(payload) < length:
            break
        if flags & 1:
            payload = gzip.decompress(payload)
        found.append((flags, payload))
        at += 5 + length
    return found
