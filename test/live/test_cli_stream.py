"""e2b run and exec: live output, bytes, input, exit codes, signals, cleanup."""

import array
import fcntl
import filecmp
import os
import signal
import subprocess
import termios
import threading

from e2b_command import E2B, Command, Service, equal, one_line, run_tests, scratch

service = Service()
e2b = Command(service)
sandbox = e2b.create("--timeout", "1h")
EVERY_BYTE = bytes(range(256))
SENTINEL = "while [ ! -e {0} ]; do sleep 0.02; done"


def execute(*words, **more):
    return e2b("exec", sandbox, *words, **more)


def processes():
    return sum(len(one["processes"]) for one in service.sandboxes()
               if one["sandboxID"] == sandbox)


def wait_until(condition):
    pause = threading.Event()
    while not condition():
        pause.wait(0.02)


def waiting_in(pipe):
    return array.array("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def left_behind(*metadata):
    return [one for one in service.sandboxes()
            if one["sandboxID"] != sandbox and one["metadata"].get("set") in metadata]


# ---- output and exit codes -----------------------------------------------------


def test_run():
    before = len(service.sandboxes())
    done = e2b("run", "--", "uname", "-s")
    equal((done.returncode, done.text, done.said), (0, "Linux\n", ""))
    equal(len(service.sandboxes()), before)


def test_exit_codes():
    for code in (0, 1, 2, 124, 255):
        equal(execute("--", "sh", "-c", f"exit {code}").returncode, code)
    equal(e2b("run", "--", "sh", "-c", "exit 7").returncode, 7)
    equal(execute("--", "sh", "-c", "kill -9 $$").returncode, 137)
    equal(execute("--", "sh", "-c", "kill -SEGV $$").returncode, 139)
    equal(execute("--", "/does/not/exist").returncode, 127)


def test_words_are_argv():
    done = execute("printf", "%s|", "a b", "$HOME", "--json", "-n", "")
    equal(done.text, "a b|$HOME|--json|-n||")
    equal(execute("--", "printf", "%s|", "--").text, "--|")
    equal(e2b("exec", "--cwd", "/tmp", sandbox, "--user=root", "--", "pwd").text, "/tmp\n")


def test_shell_line():
    equal(execute("-c", "echo a | tr a b; exit 3").text.split()[-1], "b")
    equal(execute("-c", "exit 3").returncode, 3)
    equal(e2b("run", "-c", "echo $((6*7))").text.split()[-1], "42")


def test_environment():
    equal(execute("-e", "A=1=2", "--env", "B=", "--", "sh", "-c", "echo $A-$B-").text, "1=2--\n")


def test_both_streams_and_every_byte():
    for codec in ("json", "proto"):
        done = execute("--codec", codec, "--", "cat", stdin=EVERY_BYTE)
        equal((done.stdout, done.stderr), (EVERY_BYTE, b""))
        done = execute("--codec", codec, "--", "sh", "-c", "cat >&2", stdin=EVERY_BYTE)
        equal((done.stdout, done.stderr), (b"", EVERY_BYTE))


def test_output_is_live():
    process = e2b.start("exec", sandbox, "--", "sh", "-c",
                        "echo first; " + SENTINEL.format("/tmp/go-live") + "; echo second")
    equal(process.stdout.readline(), b"first\n")
    execute("--", "touch", "/tmp/go-live")
    equal(e2b.finish(process), (0, b"second\n", ""))


def test_limit():
    one_line(execute("--limit", "300ms", "--", "sleep", "1000"), "time limit", "--limit")


def test_slow_reader_gets_all():
    process = e2b.start("exec", sandbox, "--", "sh", "-c", "yes | head -c 3000000; echo end >&2")
    wait_until(lambda: waiting_in(process.stdout) > 0)
    code, out, said = e2b.finish(process)
    equal((code, len(out), said), (0, 3000000, "end\n"))


# ---- input ---------------------------------------------------------------------


def test_64_mib_through_cat():
    source, target = os.path.join(scratch, "source"), os.path.join(scratch, "target")
    with open(source, "wb") as file:
        for _ in range(64):
            file.write(os.urandom(1 << 20))
    for codec in ("json", "proto"):
        with open(source, "rb") as stdin, open(target, "wb") as stdout:
            process = e2b.start("exec", "--codec", codec, sandbox, "--", "cat",
                                stdin=stdin, stdout=stdout)
            code, _, said = e2b.finish(process)
        equal((code, said), (0, ""))
        assert filecmp.cmp(source, target, shallow=False)


def test_endless_input_that_is_not_read():
    yes = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
    process = e2b.start("exec", sandbox, "--", "head", "-1", stdin=yes.stdout)
    yes.stdout.close()
    equal(e2b.finish(process), (0, b"y\n", ""))
    equal(yes.wait(), -signal.SIGPIPE)


def test_input_that_is_read_late():
    data = os.urandom(1 << 20)
    process = e2b.start("exec", sandbox, "--", "sh", "-c",
                        "echo ready; " + SENTINEL.format("/tmp/go-late") + "; cat",
                        stdin=subprocess.PIPE)
    feeder = threading.Thread(target=lambda: (process.stdin.write(data), process.stdin.close()))
    equal(process.stdout.readline(), b"ready\n")
    feeder.start()
    wait_until(lambda: service.requests("/process.Process/SendInput") > 0)
    execute("--", "touch", "/tmp/go-late")
    out = process.stdout.read()
    feeder.join()
    process.stdin = None
    equal(e2b.finish(process)[0], 0)
    assert out == data


def test_output_goes_on_while_input_is_silent():
    process = e2b.start("exec", sandbox, "--", "sh", "-c", "echo one; read line; echo got $line",
                        stdin=subprocess.PIPE)
    equal(process.stdout.readline(), b"one\n")
    process.stdin.write(b"hello\n")
    process.stdin.flush()
    equal(process.stdout.readline(), b"got hello\n")
    equal(process.wait(), 0)
    process.stdin.close()
    process.stdin = None
    e2b.finish(process)


def test_no_input():
    process = e2b.start("exec", "-n", sandbox, "--", "cat", stdin=subprocess.PIPE)
    equal(process.wait(), 0)
    process.communicate()
    before = service.requests("/process.Process/CloseStdin")
    process = e2b.start("exec", sandbox, "--", "cat")
    equal(e2b.finish(process), (0, b"", ""))
    equal(service.requests("/process.Process/CloseStdin"), before)
    equal(execute("--", "cat", stdin=b"").returncode, 0)


def test_closed_input():
    done = subprocess.run(["sh", "-c", '"$0" exec "$1" -- cat <&-', E2B, sandbox],
                          env=e2b.environment({}), stdout=subprocess.PIPE)
    equal((done.returncode, done.stdout), (0, b""))


# ---- readers that leave, signals -----------------------------------------------


def test_reader_that_leaves():
    wait_until(lambda: processes() == 0)
    process = e2b.start("exec", sandbox, "--", "yes")
    equal(process.stdout.readline(), b"y\n")
    process.stdout.close()
    process.stdout = None
    equal(e2b.finish(process)[0], 128 + signal.SIGPIPE)
    wait_until(lambda: processes() == 0)


def test_full_device():
    with open("/dev/full", "wb") as full:
        process = e2b.start("exec", sandbox, "--", "yes", stdout=full)
        code, _, said = e2b.finish(process)
    equal(code, 125)
    assert said.startswith("e2b: cannot write to standard output: "), said
    wait_until(lambda: processes() == 0)


def test_first_signal_goes_to_the_command():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = e2b.start("exec", sandbox, "--", "sh", "-c",
                            "trap 'echo got; exit 7' TERM; echo ready; while :; do sleep 0.02; done")
        equal(process.stdout.readline(), b"ready\n")
        process.send_signal(number)
        equal(e2b.finish(process), (7, b"got\n", ""))
    process = e2b.start("exec", sandbox, "--", "sh", "-c", "echo ready; exec sleep 1000")
    equal(process.stdout.readline(), b"ready\n")
    process.send_signal(signal.SIGINT)
    equal(e2b.finish(process), (143, b"", ""))


STUBBORN = ("sh", "-c", "trap 'echo got' TERM; echo ready; while :; do sleep 0.02; done")


def interrupt_twice(process):
    equal(process.stdout.readline(), b"ready\n")
    process.send_signal(signal.SIGINT)
    equal(process.stdout.readline(), b"got\n")
    process.send_signal(signal.SIGINT)


def test_second_signal_leaves():
    wait_until(lambda: processes() == 0)
    process = e2b.start("exec", sandbox, "--", *STUBBORN)
    interrupt_twice(process)
    code, _, said = e2b.finish(process)
    equal(code, 130)
    equal(processes(), 1)
    words = said.strip().partition("e2b kill-process ")[2].split()
    equal(words[0], sandbox)
    equal(e2b("kill-process", *words).returncode, 0)
    wait_until(lambda: processes() == 0)


def test_second_signal_while_nobody_reads():
    wait_until(lambda: processes() == 0)
    process = e2b.start("exec", sandbox, "--", "/usr/bin/python3", "-c", """
import os, signal
signal.signal(signal.SIGTERM, lambda *_: open("/tmp/termed", "w").close())
print("ready", flush=True)
while True:
    os.write(1, bytes(1 << 20))
""")
    # The pipe holds a page and what comes is longer: e2b hangs in the middle of a write.
    fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
    equal(process.stdout.readline(), b"ready\n")
    wait_until(lambda: waiting_in(process.stdout) > 0)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: execute("--", "test", "-e", "/tmp/termed").returncode == 0)
    process.send_signal(signal.SIGINT)
    equal(process.wait(), 130)
    process.stdout.close()
    process.stdout = None
    said = e2b.finish(process)[2]
    equal(e2b("kill-process", *said.strip().partition("e2b kill-process ")[2].split()).returncode, 0)
    wait_until(lambda: processes() == 0)


def test_run_kills_after_the_second_signal():
    process = e2b.start("run", "--meta", "set=two", "--", *STUBBORN)
    interrupt_twice(process)
    equal(e2b.finish(process)[0::2], (130, ""))
    equal(left_behind("two"), [])


def test_third_signal_gives_up_and_prints_the_id():
    process = e2b.start("run", "--meta", "set=three", "--", *STUBBORN)
    equal(process.stdout.readline(), b"ready\n")
    doomed, = left_behind("three")
    service.fault(method="DELETE", path="*" + doomed["sandboxID"], withhold="never", count=9)
    process.send_signal(signal.SIGINT)
    equal(process.stdout.readline(), b"got\n")
    process.send_signal(signal.SIGINT)
    wait_until(lambda: service.requests("DELETE /sandboxes/" + doomed["sandboxID"]) > 0)
    process.send_signal(signal.SIGINT)
    code, _, said = e2b.finish(process)
    service.no_faults()
    equal(code, 130)
    assert doomed["sandboxID"] in said and said.count("\n") == 1, said


def test_signal_during_creation():
    for verb in (("create",), ("run", "--", "true")):
        service.ask("DELETE", "/_local/requests")
        service.fault(method="POST", path="*/sandboxes", withhold="never")
        process = e2b.start(verb[0], "--meta", "set=early", *verb[1:])
        wait_until(lambda: left_behind("early"))
        process.send_signal(signal.SIGINT)
        code, out, said = e2b.finish(process)
        service.no_faults()
        equal((code, out), (130, b""))
        assert "interrupted" in said, said
        equal(left_behind("early"), [])


def test_lost_answer_of_creation():
    service.fault(method="POST", path="*/sandboxes", withhold="reset")
    done = e2b("run", "--meta", "set=lost", "--", "true")
    equal((done.returncode, done.stdout), (125, b""))
    assert "cannot create a sandbox" in done.said, done.said
    equal(left_behind("lost"), [])


def test_sandbox_that_cannot_be_killed():
    service.fault(method="DELETE", count=9, answer={
        "status": 500, "body": {"code": 500, "message": "Error killing sandbox: no"}})
    done = e2b("run", "--meta", "set=stuck", "--", "echo", "hi")
    service.no_faults()
    stuck, = left_behind("stuck")
    equal((done.returncode, done.text), (125, "hi\n"))
    assert stuck["sandboxID"] in done.said and "Error killing sandbox" in done.said, done.said
    equal(e2b("kill", stuck["sandboxID"]).returncode, 0)


def test_run_kills_when_the_command_cannot_start():
    done = e2b("run", "--meta", "set=nouser", "--user", "nobody-of-this-name", "--", "true")
    one_line(done, "cannot start the command in sandbox", "check --user")
    equal(left_behind("nouser"), [])


def test_sandbox_that_dies_meanwhile():
    process = e2b.start("run", "--meta", "set=dies", "--", "sh", "-c", "echo ready; exec sleep 1000")
    equal(process.stdout.readline(), b"ready\n")
    doomed, = left_behind("dies")
    equal(e2b("kill", doomed["sandboxID"]).returncode, 0)
    code, _, said = e2b.finish(process)
    equal((code, said.count("\n")), (125, 1), said)
    assert doomed["sandboxID"] in said, said


def test_zz_no_secret_was_shown():
    assert e2b.errors
    equal(e2b.leaks(), [])


run_tests(globals())
