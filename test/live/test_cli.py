"""The e2b command: every verb, its JSON, its exit codes, and what it says to
bad input. Streams and signals are in test_cli_stream.py."""

import json
import re
import socket
import subprocess
import threading

from e2b_command import E2B, Command, Service, equal, one_line, run_tests

service = Service("--template", "other", "--max-hours", "1")
e2b = Command(service)
VERBS = ("run exec create connect resume list info ps kill-process timeout pause kill "
         "health version help").split()
NOBODY = "i" + "0" * 20


def succeed(*words, **more):
    done = e2b(*words, **more)
    equal((done.returncode, done.said), (0, ""), words)
    return done.text


def parse(*words):
    return json.loads(succeed(*words))


# ---- verbs -------------------------------------------------------------------


def test_version():
    text = succeed("version")
    assert re.fullmatch(r"e2b \d+\.\d+\.\d+\n", text), text
    equal(parse("version", "--json"), {"version": text.split()[1]})
    equal(succeed("--version"), text)


def test_help_fits_a_screen():
    for words in [("help",), ("--help",), ("-h",)] + \
            [("help", verb) for verb in VERBS] + [(verb, "--help") for verb in VERBS]:
        lines = succeed(*words).split("\n")
        assert lines.pop() == "" and 0 < len(lines) <= 24, words
        assert max(map(len, lines)) < 80, words
    overview = succeed("help")
    for verb in VERBS:
        assert re.search(rf"\b{verb}\b", overview), verb
        assert succeed("help", verb) == succeed(verb, "--help")


def test_create_prints_the_id_only():
    assert re.fullmatch(r"i[a-z0-9]{20}\n", succeed("create"))


def test_create_json():
    value = parse("create", "--json")
    assert re.fullmatch(r"i[a-z0-9]{20}", value["sandboxID"]), value
    assert value["envdVersion"] and "domain" in value
    assert not [name for name in value if "oken" in name]


def test_create_options_arrive():
    sandbox = e2b.create("--template", "other", "--timeout=30m", "-m", "job=42",
                         "--meta", "note=a b&c=d/é", "--env", "COLOUR=green",
                         "--no-internet", "--auto-pause")
    info = parse("info", sandbox, "--json")
    equal(info["metadata"]["job"], "42")
    equal(info["metadata"]["note"], "a b&c=d/é")
    equal(info["allowInternetAccess"], False)
    equal(info["lifecycle"]["onTimeout"], "pause")
    equal(info["templateID"] != parse("info", e2b.create(), "--json")["templateID"], True)
    equal(succeed("exec", sandbox, "-c", "echo $COLOUR").split()[-1], "green")


def test_open_sandbox_has_no_token():
    sandbox = e2b.create("--open")
    listed = service.ask("GET", f"/sandboxes/{sandbox}", headers={"X-API-KEY": service.key})
    assert "envdAccessToken" not in listed
    equal(succeed("exec", sandbox, "--", "echo", "hi"), "hi\n")


def test_info():
    sandbox = e2b.create("--meta", "colour=blue")
    info = parse("info", sandbox, "--json")
    equal((info["sandboxID"], info["state"]), (sandbox, "running"))
    for name in ("templateID", "startedAt", "endAt", "cpuCount", "memoryMB", "diskSizeMB",
                 "envdVersion"):
        assert name in info, name
    real = service.ask("GET", f"/sandboxes/{sandbox}", headers={"X-API-KEY": service.key})
    for name in ("startedAt", "endAt"):
        equal(re.sub(r"\.\d+", "", info[name]), re.sub(r"\.\d+", "", real[name]), name)
    text = succeed("info", sandbox)
    for part in (sandbox, "running", "colour=blue", info["templateID"]):
        assert part in text, text


def test_list():
    made = {e2b.create("--meta", "set=list") for _ in range(3)}
    succeed("pause", min(made))
    equal({one["sandboxID"] for one in parse("list", "--meta", "set=list", "--json")}, made)
    paused = parse("list", "--meta", "set=list", "--state", "paused", "--json")
    equal([(one["sandboxID"], one["state"]) for one in paused], [(min(made), "paused")])
    equal(len(parse("list", "--json", "-m", "set=list", "--state", "running,paused")), 3)
    text = succeed("list", "--meta", "set=list")
    equal(text.count("\n"), 4)
    assert all(sandbox in text for sandbox in made)
    equal(parse("list", "--meta", "set=nothing", "--json"), [])


def test_list_of_many_pages():
    for _ in range(120):
        service.ask("POST", "/sandboxes", {"templateID": "base", "metadata": {"set": "many"}},
                    {"X-API-KEY": service.key, "Content-Type": "application/json"})
    many = parse("list", "--json", "--meta", "set=many")
    equal(len({one["sandboxID"] for one in many}), 120)
    succeed("kill", *(one["sandboxID"] for one in many))


def test_cut_list_is_no_list():
    e2b.create("--meta", "set=cut")
    service.fault(path="/v2/sandboxes", answer={
        "status": 200, "body": '[{"sandboxID":"i1","templateID":"t"'})
    done = e2b("list", "--json")
    equal(done.returncode, 125)
    try:
        json.loads(done.text)
    except ValueError:
        return
    raise AssertionError(done.text)


def test_exec_and_ps():
    sandbox = e2b.create()
    process = e2b.start("exec", "--tag", "the \"worker\"\n", "--cwd", "/tmp", "-e", "SECRET=e2b_hush",
                        sandbox, "--", "sh", "-c", "echo up; exec sleep 1000", "a \"b\"\n")
    equal(process.stdout.readline(), b"up\n")
    one, = parse("ps", sandbox, "--json")
    equal((one["args"][-1], one["cwd"], one["tag"]), ('a "b"\n', "/tmp", 'the "worker"\n'))
    assert one["pid"] > 0 and "hush" not in json.dumps(one)
    text = succeed("ps", sandbox)
    assert str(one["pid"]) in text and 'the "worker"?' in text and 'a "b"?' in text, text
    assert "hush" not in text
    equal(succeed("kill-process", sandbox, str(one["pid"])), "")
    equal(e2b.finish(process)[0], 137)
    equal(parse("ps", sandbox, "--json"), [])
    one_line(e2b("kill-process", sandbox, str(one["pid"])), "cannot signal process", "e2b ps")


def test_kill_process_by_tag():
    sandbox = e2b.create()
    process = e2b.start("exec", sandbox, "--tag", "t1", "--", "sh", "-c", "echo up; exec sleep 1000")
    equal(process.stdout.readline(), b"up\n")
    succeed("kill-process", sandbox, "--tag", "t1", "--signal", "TERM")
    equal(e2b.finish(process)[0], 143)


def test_timeout():
    sandbox = e2b.create()
    before = parse("info", sandbox, "--json")["endAt"]
    equal(succeed("timeout", sandbox, "50m"), "")
    assert parse("info", sandbox, "--json")["endAt"] > before
    succeed("timeout", sandbox, "90")
    assert parse("info", sandbox, "--json")["endAt"] < before


def test_pause_resume_connect_health():
    sandbox = e2b.create()
    equal(succeed("health", sandbox), "running\n")
    equal(parse("health", sandbox, "--json"), {"sandboxID": sandbox, "running": True})
    equal(succeed("pause", sandbox), "")
    equal(succeed("pause", sandbox), "")
    equal(parse("info", sandbox, "--json")["state"], "paused")
    done = e2b("health", sandbox)
    equal((done.returncode, done.text, done.said), (1, "not running\n", ""))
    equal(json.loads(e2b("health", sandbox, "--json").text)["running"], False)
    one_line(e2b("exec", sandbox, "--", "true"), "paused", "e2b resume")
    equal(parse("info", sandbox, "--json")["state"], "paused")
    equal(succeed("resume", sandbox, "--timeout", "2m"), "")
    equal(parse("info", sandbox, "--json")["state"], "running")
    succeed("pause", sandbox)
    equal(succeed("connect", sandbox), sandbox + "\n")
    equal(parse("connect", sandbox, "--json", "--timeout", "20m")["sandboxID"], sandbox)
    equal(succeed("exec", sandbox, "--", "echo", "back"), "back\n")


def test_kill_is_safe_to_repeat():
    one, two = e2b.create(), e2b.create()
    equal(succeed("kill", one, two), "")
    equal(succeed("kill", one), "")
    assert one not in {each["sandboxID"] for each in service.sandboxes()}
    one_line(e2b("info", one), one, "e2b list")
    equal(e2b("health", one).returncode, 1)


def test_looking_changes_nothing():
    sandbox = e2b.create()
    end = parse("info", sandbox, "--json")["endAt"]
    succeed("exec", sandbox, "--", "true")
    succeed("ps", sandbox)
    succeed("health", sandbox)
    equal(parse("info", sandbox, "--json")["endAt"], end)
    equal(service.requests(f"POST /sandboxes/{sandbox}"), 0)
    equal(service.requests(f"POST /v2/sandboxes/{sandbox}"), 0)


def test_older_service():
    older = Command(Service("--routes", "older"))
    done = older("run", "--", "echo", "hi")
    equal((done.returncode, done.text, done.said), (0, "hi\n", ""))
    sandbox = older.create()
    equal(older("connect", sandbox).text, sandbox + "\n")
    equal(older("kill", sandbox).returncode, 0)


def test_verbose_shows_requests():
    sandbox = e2b.create()
    done = e2b("info", sandbox, "--verbose")
    equal(done.returncode, 0)
    assert "GET" in done.said, done.said
    e2b("exec", sandbox, "-v", "--", "true")
    e2b("run", "-v", "--", "true")


# ---- bad input ---------------------------------------------------------------


def test_usage():
    one_line(e2b(), "no verb", "e2b help")
    one_line(e2b("crate"), "crate", "did you mean e2b create?")
    one_line(e2b("frobnicate"), "frobnicate", "e2b help")
    one_line(e2b("help", "lsit"), "did you mean e2b list?")
    one_line(e2b("list", "--metta", "a=b"), "--metta", "did you mean --meta?")
    one_line(e2b("info", "--frobnicate"), "--frobnicate", "e2b help info")
    one_line(e2b("info", "-x"), "-x", "e2b help info")
    one_line(e2b("version", "--template", "x"), "--template", "e2b help version")
    one_line(e2b("info"), "needs more words", "e2b info ID")
    one_line(e2b("info", "a", "b"), "fewer words", "e2b info ID")
    one_line(e2b("timeout", "i1"), "e2b timeout ID 10m")
    one_line(e2b("run"), "e2b run --")
    one_line(e2b("exec", NOBODY), "e2b exec ID --")
    one_line(e2b("run", "-c", "true", "true"), "e2b run --")
    one_line(e2b("create", "--timeout"), "--timeout", "needs a value")
    one_line(e2b("create", "--json=yes"), "--json", "takes no value")
    one_line(e2b("create", "--timeout", "soon"), "soon", "10m")
    one_line(e2b("create", "--timeout", "0"), "above zero")
    one_line(e2b("create", "--timeout", "10m2h"), "1h30m")
    one_line(e2b("exec", "x", "--limit", "5000d", "--", "true"), "--limit")
    one_line(e2b("create", "--meta", "job"), "--meta", "name=value")
    one_line(e2b("create", *["--meta", "a=b"] * 33), "at most 32")
    one_line(e2b("create", *["--env", "a=b"] * 65), "at most", "64")
    one_line(e2b("list", "--state", "running,dead"), "running,dead", "paused")
    one_line(e2b("run", "--codec", "xml", "--", "true"), "xml", "proto")
    one_line(e2b("kill-process", NOBODY, "1", "--signal", "HUP"), "HUP", "TERM or KILL")
    one_line(e2b("kill-process", NOBODY), "--tag")
    one_line(e2b("kill-process", NOBODY, "seven"), "e2b ps")


def test_env_value_is_not_shown():
    done = e2b("create", "--env", "hushhush")
    one_line(done, "--env", "name=value")
    assert "hushhush" not in done.said


def test_keys():
    one_line(e2b("list", settings={"E2B_API_KEY": None}), "no API key", "E2B_API_KEY", "--api-key")
    one_line(e2b("list", settings={"E2B_API_KEY": "hello"}), "E2B_API_KEY")
    wrong = "e2b_" + "0123456789abcdef" * 2
    done = e2b("create", settings={"E2B_API_KEY": wrong})
    one_line(done, "cannot create a sandbox", "401", "check E2B_API_KEY or --api-key")
    assert wrong not in done.said
    done = e2b("list", "--api-key", wrong)
    one_line(done, "401", "--api-key")
    equal(e2b("list", "--api-key", service.key, settings={"E2B_API_KEY": wrong}).returncode, 0)
    equal(e2b("list", "--api-key", "", settings={}).returncode, 0)


def test_hosts():
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
    one_line(e2b("list", settings={"E2B_API_URL": nowhere}), "could not be reached", "E2B_API_URL")
    one_line(e2b("list", "--api-url", nowhere), "could not be reached", "E2B_API_URL")
    one_line(e2b("list", "--api-url", "http://nowhere.invalid"),
             "could not be resolved", "nowhere.invalid", "E2B_API_URL")
    for more in ({"E2B_API_URL": "https://127.0.0.1:1"}, {"E2B_API_URL": None},
                 {"E2B_API_URL": None, "E2B_DOMAIN": "example.com"}):
        one_line(e2b("list", settings=more), "E2B_API_URL", "http")
    one_line(e2b("list", "--api-url", "ftp://x"), "E2B_API_URL", "ftp://x")
    one_line(e2b("list", "--domain", "a b", settings={"E2B_API_URL": None}), "domain", "a b")
    equal(e2b("list", "--api-url", service.url + "/").returncode, 0)


def test_strange_answers():
    service.fault(path="/v2/sandboxes", answer={
        "status": 200, "headers": {"Content-Type": "text/html"}, "body": "<html><body>Welcome"})
    one_line(e2b("list", "--json"), "cannot list sandboxes", "E2B_API_URL")
    service.fault(path="/v2/sandboxes", answer={
        "status": 502, "headers": {"Content-Type": "text/html"}, "body": "<html>Bad Gateway"})
    one_line(e2b("list", "--json"), "502", "E2B_API_URL", "try again later")
    service.fault(path="/v2/sandboxes", answer={
        "status": 302, "headers": {"Location": "https://example.com/"}})
    one_line(e2b("list", "--json"), "302", "redirect", "E2B_API_URL")
    service.fault(path="/v2/sandboxes", answer={
        "status": 429, "body": {"code": 429, "message": "Rate limit exceeded"}})
    one_line(e2b("list", "--json"), "429", "Rate limit exceeded", "try again later")
    service.fault(path="/v2/sandboxes", answer={
        "status": 403, "body": {"code": 403, "message": "team is \x1b[2Jbanned\r\nX: y"}})
    done = e2b("list", "--json")
    one_line(done, "403", "E2B_API_KEY")
    assert "\x1b" not in done.said


class Server(threading.Thread):
    """Answers every connection with `pieces`, the last one for ever if `endless`."""

    def __init__(self, *pieces, endless=False):
        super().__init__(daemon=True)
        self.pieces, self.endless = pieces, endless
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.start()

    def run(self):
        while True:
            link, _ = self.socket.accept()
            try:
                link.recv(65536)
                for piece in self.pieces:
                    link.sendall(piece)
                while self.endless:
                    link.sendall(self.pieces[-1])
                link.shutdown(socket.SHUT_WR)
                link.recv(65536)
            except OSError:
                pass
            link.close()


def test_hostile_answers():
    cut = ("nothing", "half an answer")
    ok = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    for about, server in (
            ("a TLS alert", Server(b"\x15\x03\x01\x00\x02\x02\x46")),
            ("a header of a megabyte", Server(ok + b"X: " + b"a" * 1000000 + b"\r\n\r\n[]")),
            ("headers without end", Server(ok, b"X: y\r\n", endless=True)),
            ("gzip", Server(ok + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n[]")),
            ("nothing", Server()),
            ("half an answer", Server(ok + b"Content-Length: 99\r\n\r\n{\"a\""))):
        done = e2b("info", NOBODY, "--json", settings={"E2B_API_URL": server.url})
        one_line(done, "cannot get sandbox", NOBODY, "e2b list" if about in cut else "E2B_API_URL")


def test_sandbox_ids():
    for verb in ("info", "kill", "pause", "ps", "health", "connect", "resume"):
        for bad in ("a/b", "../x", "a\r\nb", "", "i1?x=y"):
            done = e2b(verb, bad)
            equal(done.returncode, 125, (verb, bad))
            equal(done.said.count("\n"), 1, (verb, bad))
            assert done.said.startswith("e2b: "), done.said
    one_line(e2b("timeout", "a/b", "10m"), "a/b")
    one_line(e2b("exec", "a/b", "--", "true"), "a/b")
    one_line(e2b("exec", NOBODY, "--", "true"), NOBODY, "e2b list")
    one_line(e2b("timeout", NOBODY, "10m"), NOBODY, "e2b list")
    one_line(e2b("timeout", NOBODY, "0"), "lifetime of zero", "e2b kill")


def test_line_breaks_in_strings():
    one_line(e2b("list", "--api-key", "e2b_00\r\nX: y"), "API key")
    one_line(e2b("list", "--api-url", "http://127.0.0.1\r\nX: y"), "E2B_API_URL")
    one_line(e2b("list", "--domain", "a\r\nb", settings={"E2B_API_URL": None}), "domain")
    sandbox = e2b.create("--meta", "note=a\r\nb")
    equal(parse("info", sandbox, "--json")["metadata"]["note"], "a\r\nb")
    assert "note=a??b" in succeed("info", sandbox)
    equal(succeed("exec", sandbox, "--", "printf", "%s", "a\r\nb"), "a\r\nb")
    done = e2b("exec", sandbox, "--user", "a\r\nb", "--", "true")
    one_line(done, "cannot start the command")


def test_refusals_of_the_service():
    before = len(service.sandboxes())
    one_line(e2b("create", "--template", "nobody/nothing"), "404", "--template")
    one_line(e2b("create", "--timeout", "48h"), "400", "hours")
    one_line(e2b("run", "--template", "nothing", "--", "true"), "404", "--template")
    equal(len(service.sandboxes()), before)


def test_results_that_cannot_be_written():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([E2B, "version"], stdout=full, stderr=subprocess.PIPE)
    equal(done.returncode, 125)
    assert done.stderr.startswith(b"e2b: cannot write to standard output: "), done.stderr
    closed = subprocess.run(["sh", "-c", f"{E2B} version >&-"], stderr=subprocess.PIPE)
    equal(closed.returncode, 125)


def test_zz_no_secret_was_shown():
    assert e2b.errors and len(e2b.secrets) > 5
    equal(e2b.leaks(), [])
    for words, text in e2b.errors:
        assert b"hush" not in text or "hush" not in " ".join(words), (words, text)


run_tests(globals())
