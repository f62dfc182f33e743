"""The e2b command beside an e2b-local of its own, for tests: start both, look
into the service, count results, and keep an eye on secrets."""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
E2B = os.path.abspath(os.environ.get("E2B_BIN") or os.environ.get("E2B") or
                      os.path.join(ROOT, "out", "e2b"))
SETTINGS = ("E2B_API_KEY", "E2B_API_URL", "E2B_SANDBOX_URL", "E2B_DOMAIN",
            "E2B_DEBUG", "E2B_VALIDATE_API_KEY")


class Service:
    """An e2b-local that ends with this program."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            ["/usr/bin/python3", os.path.join(ROOT, "test", "local"), "--port", "0",
             "--exit-with-parent", *options],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        atexit.register(self.close)
        self.settings = {}
        for line in self.process.stdout:
            export = re.match(r"export (\w+)=(\S+)", line)
            if export:
                self.settings[export[1]] = export[2]
            elif " is ready " in line:
                break
        self.url = self.settings["E2B_API_URL"]
        self.key = self.settings["E2B_API_KEY"]

    def close(self):
        self.process.terminate()
        self.process.wait()

    def ask(self, method, path, value=None, headers=None):
        body = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(self.url + path, body, headers or {}, method=method)
        with urllib.request.urlopen(request) as reply:
            return json.loads(reply.read() or b"null")

    def token(self, sandbox_id):
        info = self.ask("GET", f"/sandboxes/{sandbox_id}", headers={"X-API-KEY": self.key})
        return info["envdAccessToken"]

    def sandboxes(self):
        return self.ask("GET", "/_local/sandboxes")

    def requests(self, text):
        return sum(count for key, count in self.ask("GET", "/_local/requests").items()
                   if text in key)

    def fault(self, **rule):
        self.ask("POST", "/_local/faults", rule)

    def no_faults(self):
        self.ask("DELETE", "/_local/faults")


class Command:
    """Runs e2b against a service and remembers everything it wrote to
    standard error, where no secret may appear."""

    def __init__(self, service):
        self.service = service
        self.secrets = {service.key}
        self.errors = []

    def environment(self, changes):
        values = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        values.update(self.service.settings)
        values.update(changes)
        return {name: value for name, value in values.items() if value is not None}

    def __call__(self, *words, stdin=b"", settings=None):
        done = subprocess.run([E2B, *words], input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self.environment(settings or {}))
        self.errors.append((words, done.stderr))
        done.text = done.stdout.decode("utf-8", "replace")
        done.said = done.stderr.decode("utf-8", "replace")
        return done

    def start(self, *words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
              stderr=subprocess.PIPE):
        return subprocess.Popen([E2B, *words], stdin=stdin, stdout=stdout, stderr=stderr,
                                env=self.environment({}))

    def finish(self, process):
        """Exit code, the rest of standard output, and standard error as text."""
        out, errors = process.communicate()
        self.errors.append((process.args, errors or b""))
        return process.returncode, out, (errors or b"").decode("utf-8", "replace")

    def create(self, *options):
        done = self("create", *options)
        assert done.returncode == 0, done.said
        sandbox_id = done.text.strip()
        try:
            self.secrets.add(self.service.token(sandbox_id))
        except KeyError:
            assert "--open" in options
        return sandbox_id

    def leaks(self):
        return [words for words, text in self.errors
                for secret in self.secrets if secret.encode() in text]


def equal(found, wanted, about=""):
    assert found == wanted, f"{about} {found!r}, not {wanted!r}"


def one_line(done, *parts, code=125):
    """Failed as it should: nothing on standard output, one line that names
    what failed and what to do."""
    equal(done.returncode, code, done.said)
    equal(done.stdout, b"")
    assert re.fullmatch(r"e2b: [^\n]+\n", done.said), repr(done.said)
    for part in parts:
        assert part in done.said, f"{part!r} is not in {done.said!r}"


scratch = tempfile.mkdtemp(prefix="e2b-test-")
atexit.register(shutil.rmtree, scratch, True)


def run_tests(tests):
    """Runs functions named test_*, prints a line for each and the count."""
    only = sys.argv[1:]
    passed = failed = 0
    for name, test in list(tests.items()):
        if not name.startswith("test_") or (only and name not in only):
            continue
        try:
            test()
            passed += 1
            print(f"ok - {name[5:].replace('_', ' ')}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok - {name[5:].replace('_', ' ')}", flush=True)
            print("  " + traceback.format_exc().replace("\n", "\n  "), flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)
