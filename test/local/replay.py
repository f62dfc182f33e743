"""Sends the requests of the recordings to a fresh e2b-local and compares the
answers with the recorded ones. What is left out, and why, is in
replay_plan.json. With names as arguments only those exchanges are reported."""

import fnmatch
import http.client
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import recorded
from replay_compare import Different, Names, compare_api, compare_envd, normal_events

HERE = os.path.dirname(os.path.abspath(__file__))
HANGS_AFTER = 60  # seconds without a byte, when the service must be stuck
API_KEY = "e2b_0123456789abcdef0123456789abcdef01234567"


class Service:
    def __init__(self, *options):
        self._folder = tempfile.TemporaryDirectory()
        self.key = API_KEY
        self.ready = os.path.join(self._folder.name, "ready")
        self.process = subprocess.Popen(
            [sys.executable, HERE, "--quiet", "--exit-with-parent",
             "--api-key", API_KEY, "--ready-file", self.ready, *options,
             *os.environ.get("LOCAL_OPTIONS", "").split()])
        while not os.path.exists(self.ready):
            if self.process.poll() is not None:
                sys.exit("replay: e2b-local did not start")
            time.sleep(0.01)
        with open(self.ready, encoding="ascii") as file:
            self.port = int(re.search(r":(\d+)$", file.readline()).group(1))

    def call(self, method, path, value=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, None if value is None else json.dumps(value),
                           {"X-API-Key": API_KEY, "Content-Type": "application/json"})
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        if reply.status >= 300:
            raise RuntimeError(f"{method} {path}: {reply.status} {body!r}")
        return json.loads(body) if body else None

    def stop(self):
        self.process.terminate()
        code = self.process.wait()
        self._folder.cleanup()
        return code


class Link:
    """One connection, read by a thread of its own."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), HANGS_AFTER)
        self.data = b""
        self.closed = False
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            try:
                piece = self.socket.recv(65536)
            except OSError:
                piece = b""
            with self.changed:
                self.data += piece
                self.closed = not piece
                self.changed.notify_all()
            if not piece:
                return

    def wait(self, take):
        """take(data, closed) raises Incomplete until there is enough."""
        with self.changed:
            while True:
                try:
                    return take(self.data, self.closed)
                except recorded.Incomplete:
                    if self.closed:
                        raise Different("the connection closed early, after "
                                        f"{self.data[-200:]!r}") from None
                    if not self.changed.wait(HANGS_AFTER):
                        raise Different("no complete answer; got "
                                        f"{self.data[-200:]!r}") from None

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


class Report:
    def __init__(self, only):
        self.only = only
        self.passed = self.failed = self.skipped = 0

    def wants(self, name):
        return not self.only or any(fnmatch.fnmatch(name, one) for one in self.only)

    def skip(self, name, reason):
        if self.wants(name):
            self.skipped += 1
            print(f"skipped {name}: {reason}", flush=True)

    def result(self, name, error=None):
        if not self.wants(name):
            return
        if error is None:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED {name}: {error}", flush=True)


def left_out(plan, name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in plan["left_out"])


def method_of(request):
    return request.split(b" ", 1)[0].decode()


def answers(data, closed, methods):
    found = []
    for method in methods:
        answer, data = recorded.read_answer(data, method, closed)
        found.append(answer)
    return found


def replay_api(plan, report):
    service = Service("--routes", "older", "--max-hours", "1")
    names = Names()
    for recording in recorded.load("control-plane-recordings.jsonl"):
        name = recording.name
        if left_out(plan, name):
            if name in plan["stand_in"]:
                service.call("POST", "/sandboxes", plan["stand_in"][name])
            continue
        if name in plan["control_before"]:
            path, value = plan["control_before"][name]
            service.call("POST", "/_local/" + path, value)
        requests = recorded.requests_of(recording.sent)
        methods = [method_of(request) for request in requests]
        link = Link(service.port)
        try:
            expected = answers(recording.received, True, methods)
            actual = []
            for index in range(len(requests)):
                link.socket.sendall(names.translate(requests[index]))
                actual = link.wait(lambda data, closed: answers(
                    data, closed, methods[:index + 1]))
            for pair in zip(expected, actual):
                compare_api(*pair, names)
                learn_token(*pair, names)
            report.result(name)
        except Different as error:
            report.result(name, error)
        link.close()
    if service.stop() != 0:
        report.result("control plane: end of the service", "it did not end cleanly")


def learn_token(expected, actual, names):
    """The page token is opaque; in a query its padding is encoded."""
    if "x-next-token" in expected.headers:
        tokens = [one.headers["x-next-token"].replace("=", "%3D")
                  for one in (expected, actual)]
        names.learn(*tokens)


class EnvdReplay:
    def __init__(self, plan, report):
        self.plan = plan
        self.report = report
        self.service = Service("--default-user", "root")
        self.confined = self.service.call("GET", "/_local/isolation")["confined"]
        self.names = Names()
        self.open = {}
        plain = self.service.call("POST", "/sandboxes",
                                  {"templateID": "base", "timeout": 3600})
        self.secured = self.service.call(
            "POST", "/sandboxes", {"templateID": "base", "timeout": 3600, "secure": True})
        self.plain_id = plain["sandboxID"]

    def run(self):
        for recording in recorded.load("envd-recordings.jsonl"):
            if left_out(self.plan, recording.name):
                continue
            if not self.confined and recording.name in self.plan["needs_isolation"]:
                self.report.skip(recording.name,
                                 self.plan["needs_isolation"][recording.name])
                continue
            self.finish_streams(recording.name)
            if recording.name in self.plan["clock_before"]:
                self.service.call("POST", "/_local/clock", {
                    "advance": self.plan["clock_before"][recording.name]})
            try:
                self.exchange(recording)
            except Different as error:
                self.report.result(recording.name, error)
        self.finish_streams(None)
        if self.service.stop() != 0:
            self.report.result("envd: end of the service", "it did not end cleanly")

    def routed(self, request, name):
        sandbox_id = self.plain_id
        if name in self.plan["with_token"]:
            sandbox_id = self.secured["sandboxID"]
            request = request.replace(
                b"X-Access-Token: token-1",
                b"X-Access-Token: " + self.secured["envdAccessToken"].encode())
        line, _, rest = request.partition(b"\r\n")
        return (line + f"\r\nE2b-Sandbox-Id: {sandbox_id}\r\n"
                "E2b-Sandbox-Port: 49983\r\n".encode() + rest)

    def exchange(self, recording):
        name = recording.name
        observer = self.observe(name)
        requests = recorded.requests_of(recording.sent)
        link = Link(self.service.port)
        if name == "pipelined":
            link.socket.sendall(b"".join(self.routed(one, name) for one in requests))
        else:
            link.socket.sendall(self.routed(requests[0], name))
        if name in self.plan["half_closed"]:
            link.socket.shutdown(socket.SHUT_WR)
        if observer is not None:
            observer.close()
        self.open[name] = (recording, requests, link)
        if name in self.plan["open_until"] or name in self.plan["left_early"]:
            self.catch_up(name)
        if name not in self.plan["open_until"]:
            self.settle(name)
        if name in self.plan["then_await"] and name not in self.plan["open_until"] \
                and name not in self.plan["left_early"]:
            self.catch_up(name)

    def observe(self, name):
        """A reader of its own sees how far a process is that nobody reads."""
        if name not in self.plan["observe_before"]:
            return None
        tag, text = self.plan["observe_before"][name]
        payload = json.dumps({"process": {"tag": tag}}).encode()
        body = struct.pack(">BI", 0, len(payload)) + payload
        link = Link(self.service.port)
        head = ("POST /process.Process/Connect HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                "Content-Type: application/connect+json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        link.socket.sendall(self.routed(head + body, name))

        def seen(data, _closed):
            if text.encode() not in data:
                raise recorded.Incomplete
        link.wait(seen)
        return link

    def catch_up(self, name):
        """Waits for what the stream had received when the recorder went on."""
        stream, milliseconds = self.plan["then_await"][name]
        recording, _, link = self.open[stream]
        expected, _ = recorded.read_answer(
            recording.received_before(milliseconds), "POST", False, partial=True)
        content_type = expected.headers["content-type"]
        others, joined = normal_events(expected, content_type, None)

        def enough(data, _closed):
            actual, _ = recorded.read_answer(data, "POST", False, partial=True)
            now_others, now_joined = normal_events(actual, content_type, None)
            if len(now_others) < len(others) or any(
                    len(now_joined.get(key, b"")) < len(joined[key]) for key in joined):
                raise recorded.Incomplete
        link.wait(enough)

    def finish_streams(self, name):
        for stream, until in self.plan["open_until"].items():
            if stream in self.open and (name is None or until == name):
                self.settle(stream)

    def settle(self, name):
        recording, requests, link = self.open.pop(name)
        try:
            self.compare(recording, requests, link)
            self.report.result(name)
        except Different as error:
            self.report.result(name, error)
        link.close()

    def compare(self, recording, requests, link):
        name = recording.name
        if not recording.received:
            closed_without_answer(link)
            return
        if name in self.plan["left_early"]:
            pair = [recorded.read_answer(data, "POST", False, partial=True)[0]
                    for data in (recording.received, link.data)]
            compare_envd(*pair, self.names)
            return
        count = self.plan["replies_compared"].get(name, len(requests))
        methods = [method_of(request) for request in requests[:count]]
        expected = answers(recording.received, True, methods)
        actual = []
        for index in range(count):
            if index > 0 and name != "pipelined":
                link.socket.sendall(self.routed(requests[index], name))
            actual = link.wait(lambda data, closed: answers(
                data, closed, methods[:index + 1]))
        for pair in zip(expected, actual):
            compare_envd(*pair, self.names)
        if recording.end == "closed":
            link.wait(until_closed)


def until_closed(_data, closed):
    if not closed:
        raise recorded.Incomplete


def closed_without_answer(link):
    link.wait(until_closed)
    if link.data:
        raise Different(f"expected no answer, got {link.data[:200]!r}")


def main():
    with open(os.path.join(HERE, "replay_plan.json"), encoding="utf-8") as file:
        plan = json.load(file)
    report = Report(sys.argv[1:])
    replay_api(plan["control_plane"], report)
    EnvdReplay(plan["envd"], report).run()
    print(f"{report.passed} passed, {report.failed} failed" +
          (f", {report.skipped} skipped" if report.skipped else ""))
    return 1 if report.failed or not report.passed else 0


if __name__ == "__main__":
    sys.exit(main())
