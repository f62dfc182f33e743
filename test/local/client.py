"""A small client for the tests of e2b-local."""

import base64
import http.client
import json
import struct


class Cut(Exception):
    """A stream ended without its end."""


def envelope(message, flags=0):
    payload = json.dumps(message).encode()
    return struct.pack(">BI", flags, len(payload)) + payload


class Client:
    def __init__(self, service):
        self.port = service.port
        self.key = service.key

    def request(self, method, path, body=None, headers=(), host=None):
        """(status, headers, body); the body is JSON where it says so."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = dict(headers)
        if host is not None:
            headers["Host"] = host
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            data = reply.read()
        finally:
            connection.close()
        if reply.headers.get("Content-Type", "").startswith("application/json"):
            data = json.loads(data)
        return reply.status, reply.headers, data

    def api(self, method, path, body=None):
        status, _, value = self.request(method, path, body, {"X-API-Key": self.key})
        return status, value

    def control(self, method, name, body=None):
        status, _, value = self.request(method, "/_local/" + name, body)
        assert status == 200, value
        return value

    def create(self, **fields):
        status, value = self.api("POST", "/sandboxes",
                                 {"templateID": "base", "timeout": 300, **fields})
        assert status == 201, value
        return Sandbox(self, value["sandboxID"], value.get("envdAccessToken"))


class Sandbox:
    def __init__(self, client, sandbox_id, token=None):
        self.client = client
        self.id = sandbox_id
        self.headers = {"E2b-Sandbox-Id": sandbox_id, "E2b-Sandbox-Port": "49983"}
        if token:
            self.headers["X-Access-Token"] = token

    def unary(self, method, message):
        status, _, value = self.client.request(
            "POST", "/process.Process/" + method, message, self.headers)
        return status, value

    def stream(self, method, message, **headers):
        return Stream(self, method, message, headers)

    def start(self, *argv, **fields):
        headers = fields.pop("headers", {})
        process = {"cmd": argv[0], "args": list(argv[1:]), **fields.pop("process", {})}
        return Stream(self, "Start", {"process": process, **fields}, headers)

    def run(self, *argv, **fields):
        """(exit code, stdout) of a command without input."""
        return self.start(*argv, stdin=False, **fields).finish()

    def path(self, rest=""):
        return f"/sandboxes/{self.id}{rest}"


class Stream:
    """The events of a Start or Connect call, as they come."""

    def __init__(self, sandbox, method, message, headers):
        self._connection = http.client.HTTPConnection(
            "127.0.0.1", sandbox.client.port, timeout=120)
        self._connection.request(
            "POST", "/process.Process/" + method,
            envelope(message),
            {**sandbox.headers, "Content-Type": "application/connect+json", **headers})
        try:
            self.reply = self._connection.getresponse()
        except OSError:
            self._connection.close()
            raise
        self.error = None
        self.pid = None

    def __iter__(self):
        return self

    def __next__(self):
        try:
            prefix = self.reply.read(5)
            flags, length = struct.unpack(">BI", prefix)
            message = json.loads(self.reply.read(length))
        except (http.client.HTTPException, OSError, struct.error, ValueError):
            self.close()
            raise Cut from None
        if flags & 2:
            self.error = message.get("error")
            self.reply.read()
            self.close()
            raise StopIteration
        return message["event"]

    def wait_start(self):
        self.pid = next(self)["start"]["pid"]
        return self

    def output(self, length):
        """The next length bytes of output."""
        found = b""
        while len(found) < length:
            for text in next(self).get("data", {}).values():
                found += base64.b64decode(text)
        return found

    def finish(self):
        """(exit code, the rest of the output); the code is None without an end."""
        code, pieces = None, []
        for event in self:
            if "data" in event:
                pieces += [base64.b64decode(text) for text in event["data"].values()]
            elif "end" in event:
                code = event["end"].get("exitCode", 0)
        return code, b"".join(pieces)

    def close(self):
        # The reply holds the socket's file too.
        self.reply.close()
        self._connection.close()
