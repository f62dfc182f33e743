"""What the recordings do not show: the newer routes, expiry, pause, isolation,
routing, load, and the controls for tests."""

import base64
import http.client
import os
import select
import subprocess
import sys
import threading
import time
import unittest

from client import Client, Cut, envelope
from replay import Service

COUNTER = 'i=0; while :; do i=$((i+1)); echo $i > ~/count; echo $i; sleep 0.01; done'


def chunk(data):
    return b"%x\r\n%b\r\n" % (len(data), data)


class Case(unittest.TestCase):
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.service = Service(*cls.options)
        cls.client = Client(cls.service)
        cls.confined = cls.client.control("GET", "isolation")["confined"]

    @classmethod
    def tearDownClass(cls):
        code = cls.service.stop()
        if code != 0:
            raise RuntimeError(f"e2b-local ended with {code}")

    def tearDown(self):
        self.client.control("DELETE", "faults")


class ControlPlane(Case):
    options = ("--template", "mine")

    def test_newer_create_is_secured_and_lives_300_seconds(self):
        status, value = self.client.api("POST", "/v2/sandboxes", {"templateID": "base"})
        self.assertEqual(status, 201)
        self.assertRegex(value["envdAccessToken"], "^[0-9a-f]{64}$")
        path = "/sandboxes/" + value["sandboxID"]
        self.client.control("POST", "clock", {"advance": 290})
        self.assertEqual(self.client.api("GET", path)[0], 200)
        self.client.control("POST", "clock", {"advance": 11})
        self.assertEqual(self.client.api("GET", path)[0], 404)

    def test_newer_connect_needs_no_timeout(self):
        sandbox = self.client.create(secure=True)
        for body in ({}, None):
            status, value = self.client.api("POST", f"/v2/sandboxes/{sandbox.id}/connect",
                                            body)
            self.assertEqual(status, 200)
            self.assertEqual(value["envdAccessToken"], sandbox.headers["X-Access-Token"])

    def test_connect_never_shortens_and_timeout_does(self):
        sandbox = self.client.create(timeout=1000)
        self.client.api("POST", sandbox.path("/connect"), {"timeout": 10})
        self.client.control("POST", "clock", {"advance": 500})
        self.assertEqual(self.client.api("GET", sandbox.path())[0], 200)
        self.client.api("POST", sandbox.path("/timeout"), {"timeout": 10})
        self.client.control("POST", "clock", {"advance": 11})
        self.assertEqual(self.client.api("GET", sandbox.path())[0], 404)

    def test_template_option(self):
        self.assertEqual(self.client.api(
            "POST", "/sandboxes", {"templateID": "mine"})[1]["alias"], "mine")

    def test_pages_in_both_orders(self):
        made = [self.client.create(metadata={"page": "7"}).id for _ in range(5)]
        for order, expected in (("desc", made[::-1]), ("asc", made)):
            found, token = [], ""
            while token is not None:
                status, headers, page = self.client.request(
                    "GET", f"/v2/sandboxes?metadata=page%3D7&limit=2&order={order}"
                    + (f"&nextToken={token}" if token else ""),
                    headers={"X-API-Key": self.client.key})
                self.assertEqual(status, 200)
                found += [one["sandboxID"] for one in page]
                token = headers["X-Next-Token"]
            self.assertEqual(found, expected)

    def test_expiry_ends_processes_and_streams(self):
        sandbox = self.client.create(timeout=60)
        stream = sandbox.start("sleep", "1000").wait_start()
        self.client.control("POST", "clock", {"advance": 61})
        self.assertRaises(Cut, stream.finish)
        self.assertEqual(sandbox.unary("List", {})[0], 502)

    def test_expiry_can_pause(self):
        sandbox = self.client.create(timeout=60, autoPause=True)
        stream = sandbox.start("sleep", "1000").wait_start()
        self.client.control("POST", "clock", {"advance": 61})
        self.assertRaises(Cut, stream.finish)
        self.assertEqual(self.client.api("GET", sandbox.path())[1]["state"], "paused")
        self.assertEqual(self.client.api(
            "POST", sandbox.path("/connect"), {"timeout": 60})[0], 201)
        self.assertEqual(len(sandbox.unary("List", {})[1]["processes"]), 1)

    def test_a_request_resumes_where_that_was_asked_for(self):
        sandbox = self.client.create(autoPause=True, autoResume={"enabled": True})
        self.client.api("POST", sandbox.path("/pause"), {})
        self.assertEqual(sandbox.unary("List", {}), (200, {}))

    def test_pause_stops_and_resume_continues(self):
        sandbox = self.client.create()
        stream = sandbox.start("sh", "-c", COUNTER, tag="counter").wait_start()
        stream.output(4)
        self.assertEqual(self.client.api("POST", sandbox.path("/pause"), {})[0], 204)
        self.assertRaises(Cut, stream.finish)
        self.assertEqual(sandbox.unary("List", {})[0], 502)
        states = self.process_states(sandbox)
        self.assertEqual(set(states), {"T"})
        self.client.api("POST", sandbox.path("/connect"), {"timeout": 300})
        again = sandbox.stream("Connect", {"process": {"tag": "counter"}}).wait_start()
        self.assertEqual(again.pid, stream.pid)
        again.output(4)
        again.close()

    def process_states(self, sandbox):
        """Read from outside, since nothing inside answers: the commands are
        known by their environment."""
        marker = f"E2B_SANDBOX_ID={sandbox.id}".encode()
        states = []
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if marker not in file.read().split(b"\0"):
                        continue
                with open(f"/proc/{name}/stat", "rb") as file:
                    states.append(file.read().rpartition(b") ")[2][:1].decode())
            except (OSError, NotADirectoryError):
                continue
        return states

    def test_kill_ends_every_process(self):
        sandbox = self.client.create()
        sandbox.run("sh", "-c", "setsid sleep 1000 >&- 2>&- & nohup sleep 1000 >&- 2>&- &")
        self.assertTrue(self.process_states(sandbox))
        self.assertEqual(self.client.api("DELETE", sandbox.path())[0], 204)
        self.assertEqual(self.process_states(sandbox), [])


class Routing(Case):
    def test_by_headers_and_by_host(self):
        sandbox = self.client.create()
        health = lambda headers, host: self.client.request(
            "GET", "/health", headers=headers, host=host)
        self.assertEqual(health(sandbox.headers, "localhost")[0], 204)
        self.assertEqual(health(sandbox.headers, "sandbox.example.com")[0], 204)
        self.assertEqual(health({}, f"49983-{sandbox.id}.example.com:9")[0], 204)
        self.assertEqual(health({}, f"49983-{sandbox.id}-6532622b.example.com")[0], 204)
        self.assertEqual(health(sandbox.headers, "api.example.com")[0], 200)
        self.assertEqual(health({}, "127.0.0.1")[0], 200)

    def test_what_the_proxy_refuses(self):
        sandbox = self.client.create()
        get = lambda path, **headers: self.client.request("GET", path, headers={
            name.replace("_", "-"): value for name, value in headers.items()})
        self.assertEqual(get("/health", E2b_Sandbox_Id=sandbox.id)[::2],
                         (400, b"missing header\n"))
        self.assertEqual(get("/health", E2b_Sandbox_Id="A", E2b_Sandbox_Port="1")[::2],
                         (400, b"Invalid sandbox ID\n"))
        self.assertEqual(get("/health", E2b_Sandbox_Id="inone", E2b_Sandbox_Port="49983")
                         [::2], (502, {"sandboxId": "inone", "code": 502,
                                       "message": "The sandbox was not found"}))
        self.assertEqual(get("/", E2b_Sandbox_Id=sandbox.id, E2b_Sandbox_Port="80")[2],
                         {"sandboxId": sandbox.id, "port": 80, "code": 502, "message":
                          "The sandbox is running but port is not open"})
        self.assertEqual(get("/init", **{name.replace("-", "_"): value for name, value
                                         in sandbox.headers.items()})[0], 404)
        self.assertIn("text/html", get("/health", E2b_Sandbox_Id="inone",
                                       E2b_Sandbox_Port="49983",
                                       User_Agent="Mozilla/5.0")[1]["Content-Type"])


class Processes(Case):
    def test_sandboxes_are_apart(self):
        one, other = self.client.create(), self.client.create()
        one.run("sh", "-c", "echo secret > ~/file")
        self.assertEqual(one.run("sh", "-c", "cat ~/file"), (0, b"secret\n"))
        self.assertEqual(other.run("sh", "-c", "test ! -e ~/file"), (0, b""))
        if not self.confined:
            self.skipTest("without bubblewrap the rest is shared")
        self.assertEqual(one.run("sh", "-c", "pwd; id -un"), (0, b"/home/user\nuser\n"))
        self.assertNotEqual(one.run("touch", "/usr/file")[0], 0)
        one.run("touch", "/tmp/file")
        self.assertNotEqual(other.run("ls", "/tmp/file")[0], 0)

    def test_users(self):
        sandbox = self.client.create()
        for name in ("root", "user"):
            basic = base64.b64encode(name.encode() + b":").decode()
            code, output = sandbox.run("sh", "-c", "echo $USER $LOGNAME",
                                       headers={"Authorization": "Basic " + basic})
            self.assertEqual((code, output), (0, f"{name} {name}\n".encode()))

    def test_environment(self):
        sandbox = self.client.create(envVars={"A": "sandbox", "B": "sandbox"})
        self.assertEqual(sandbox.run(
            "sh", "-c", "echo $A $B $E2B_SANDBOX $E2B_SANDBOX_ID",
            process={"envs": {"B": "process"}}),
            (0, f"sandbox process true {sandbox.id}\n".encode()))

    def test_the_limit_of_a_call_outlives_its_client(self):
        sandbox = self.client.create()
        stream = sandbox.start("sleep", "1000", tag="limited",
                               headers={"Connect-Timeout-Ms": "300"}).wait_start()
        watcher = sandbox.stream("Connect", {"process": {"tag": "limited"}}).wait_start()
        stream.close()
        self.assertEqual(watcher.finish(), (-1, b""))

    def test_arguments_longer_than_a_datagram(self):
        sandbox = self.client.create()
        argument = "x" * 100000
        self.assertEqual(sandbox.run("printf", "%s%s", argument, argument),
                         (0, argument.encode() * 2))
        stream = sandbox.start("true", "x" * 200000)
        self.assertEqual(stream.finish(), (None, b""))
        self.assertIn("argument list too long", stream.error["message"])

    def test_pids_are_the_command_s_own(self):
        sandbox = self.client.create()
        stream = sandbox.start("sh", "-c", "echo $$").wait_start()
        self.assertEqual(stream.finish()[1], f"{stream.pid}\n".encode())

    def test_64_mib_through_cat(self):
        sandbox = self.client.create()
        stream = sandbox.start("cat").wait_start()
        received = []
        reader = threading.Thread(target=lambda: received.append(stream.finish()))
        reader.start()
        piece = os.urandom(1 << 20)
        message = {"process": {"pid": stream.pid},
                   "input": {"stdin": base64.b64encode(piece).decode()}}
        for _ in range(64):
            self.assertEqual(sandbox.unary("SendInput", message), (200, {}))
        sandbox.unary("CloseStdin", {"process": {"pid": stream.pid}})
        reader.join()
        self.assertEqual(received[0][0], 0)
        self.assertTrue(received[0][1] == piece * 64)

    def test_input_waits_for_a_process_that_does_not_read(self):
        sandbox = self.client.create()
        self.assertEqual(sandbox.run("mkfifo", "go"), (0, b""))
        stream = sandbox.start("sh", "-c", "read line < ~/go; wc -c").wait_start()
        message = {"process": {"pid": stream.pid}, "input": {
            "stdin": base64.b64encode(bytes(300000)).decode()}}
        answers = []
        writer = threading.Thread(
            target=lambda: answers.append(sandbox.unary("SendInput", message)))
        writer.start()
        self.assertEqual(sandbox.run("sh", "-c", "echo > ~/go")[0], 0)
        writer.join()
        self.assertEqual(answers, [(200, {})])
        sandbox.unary("CloseStdin", {"process": {"pid": stream.pid}})
        self.assertEqual(stream.finish(), (0, b"300000\n"))

    def test_streamed_input_arrives_while_the_call_goes_on(self):
        sandbox = self.client.create()
        stream = sandbox.start("cat").wait_start()
        connection = http.client.HTTPConnection("127.0.0.1", self.client.port, timeout=60)
        connection.putrequest("POST", "/process.Process/StreamInput")
        for name, value in {**sandbox.headers, "Transfer-Encoding": "chunked",
                            "Content-Type": "application/connect+json"}.items():
            connection.putheader(name, value)
        connection.endheaders()
        for message in ({"start": {"process": {"pid": stream.pid}}},
                        {"data": {"input": {"stdin": "b25l"}}}):
            connection.send(chunk(envelope(message)))
        self.assertEqual(stream.output(3), b"one")
        connection.send(chunk(envelope({"data": {"input": {"stdin": "dHdv"}}})))
        self.assertEqual(stream.output(3), b"two")
        connection.send(b"0\r\n\r\n")
        self.assertEqual(connection.getresponse().read(), envelope({}) + envelope({}, 2))
        connection.close()
        stream.close()

    def test_a_reader_that_stops_reading_stops_the_process(self):
        sandbox = self.client.create()
        slow = sandbox.start("head", "-c", "40000000", "/dev/zero").wait_start()
        self.assertEqual(sandbox.run("true"), (0, b""))
        listed = sandbox.unary("List", {})[1]["processes"]
        self.assertEqual([one["pid"] for one in listed], [slow.pid])
        self.assertEqual(slow.finish(), (0, bytes(40000000)))

    def test_200_streams_at_once(self):
        sandbox = self.client.create()
        streams = [sandbox.start("cat", tag=str(number)) for number in range(200)]
        for stream in streams:
            stream.wait_start()
        self.assertEqual(len({stream.pid for stream in streams}), 200)
        for number in (199, 0, 100):
            sandbox.unary("SendInput", {"process": {"tag": str(number)}, "input": {
                "stdin": base64.b64encode(b"%d" % number).decode()}})
            self.assertEqual(streams[number].output(len(str(number))), b"%d" % number)
        sandbox.unary("SendSignal", {"process": {"pid": streams[5].pid},
                                     "signal": "SIGNAL_SIGKILL"})
        self.assertEqual(streams[5].finish(), (-1, b""))
        self.client.api("DELETE", sandbox.path())
        for stream in streams[:5] + streams[6:]:
            self.assertRaises(Cut, stream.finish)


class Controls(Case):
    def created(self, tag):
        return [one for one in self.client.control("GET", "sandboxes")
                if one["metadata"].get("tag") == tag]

    def create(self, tag):
        return self.client.api("POST", "/sandboxes", {
            "templateID": "base", "timeout": 60, "metadata": {"tag": tag}})

    def test_an_answer_withheld_after_the_work(self):
        for how, error in (("close", http.client.RemoteDisconnected),
                           ("reset", ConnectionResetError)):
            self.client.control("POST", "faults", {
                "method": "POST", "path": "/sandboxes", "withhold": how})
            self.assertRaises(error, self.create, how)
            self.assertEqual(len(self.created(how)), 1)
            self.assertEqual(self.create(how + " passed")[0], 201)

    def test_an_answer_that_never_comes(self):
        self.client.control("POST", "faults", {"path": "/sandboxes", "withhold": "never"})
        connection = http.client.HTTPConnection("127.0.0.1", self.client.port, timeout=60)
        connection.request("POST", "/sandboxes",
                           '{"templateID":"base","metadata":{"tag":"never"}}',
                           {"X-API-Key": self.client.key,
                            "Content-Type": "application/json"})
        while not self.created("never"):
            pass
        connection.sock.settimeout(0.2)
        self.assertRaises(TimeoutError, connection.getresponse)
        connection.close()

    def test_a_started_process_whose_stream_is_cut(self):
        sandbox = self.client.create()
        self.client.control("POST", "faults", {"path": "/process.Process/Start",
                                               "withhold": "close"})
        self.assertRaises(http.client.RemoteDisconnected, sandbox.start, "sleep", "99")
        self.assertEqual(len(sandbox.unary("List", {})[1]["processes"]), 1)

    def test_delays(self):
        for key in ("delay", "delay_answer"):
            self.client.control("POST", "faults", {"path": "/health", key: 0.2})
            before = time.monotonic()
            self.assertEqual(self.client.request("GET", "/health")[0], 200)
            self.assertGreaterEqual(time.monotonic() - before, 0.2)

    def test_other_answers_and_counts(self):
        self.client.control("DELETE", "requests")
        self.client.control("POST", "faults", {
            "path": "/v2/sand*", "skip": 1, "count": 2,
            "answer": {"status": 429, "body": {"code": 429, "message": "slow"},
                       "headers": {"Content-Type": "application/json",
                                   "Retry-After": "1"}}})
        statuses = [self.client.api("GET", "/v2/sandboxes")[0] for _ in range(4)]
        self.assertEqual(statuses, [200, 429, 429, 200])
        self.assertEqual(self.client.control("GET", "requests")["GET /v2/sandboxes"], 4)

    def test_a_rule_with_a_slip_is_refused(self):
        status, _, value = self.client.request("POST", "/_local/faults", {"widthold": 1})
        self.assertEqual((status, value), (400, {"error": "unknown key: widthold"}))


class Lifetime(unittest.TestCase):
    def test_nothing_stays_behind(self):
        service = Service()
        sandbox = Client(service).create()
        stream = sandbox.start("sleep", "1000").wait_start()
        self.assertEqual(service.stop(), 0)
        self.assertRaises(Cut, stream.finish)
        self.assertFalse(os.path.exists(service.ready))

    def test_it_ends_with_its_parent(self):
        script = ("import sys, time; sys.path.insert(0, sys.argv[1]); "
                  "from replay import Service; s = Service(); "
                  "print(s.process.pid, flush=True); time.sleep(1000)")
        parent = subprocess.Popen([sys.executable, "-c", script, os.path.dirname(
            os.path.abspath(__file__))], stdout=subprocess.PIPE)
        pid = int(parent.stdout.readline())
        service = os.pidfd_open(pid)
        parent.kill()
        parent.wait()
        parent.stdout.close()
        # The descriptor becomes readable when the process has ended.
        self.assertEqual(select.select([service], [], [], 60)[0], [service])
        os.close(service)


if __name__ == "__main__":
    unittest.main()
