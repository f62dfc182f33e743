#!/usr/bin/env python3
"""Measures speeds as ratios inside one run.

Each row sets the library beside something else that does the same work: a
bare loop, a raw client, curl, the official JavaScript SDK. The two run in
turn, PAIRS times, against one server that answers from prepared bytes; what
is compared is the CPU time of the client process (its wall time for the cold
start). A row shows the median of the ratios, and says whether it holds its
bar. Wall times swing with whatever else a machine does; ratios of CPU time of
neighbours in time hardly do. Nothing here fails a build.

    bench.py OUT [PAIRS]        OUT: the directory with test/bench/*, e2b
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SDK_VERSION = '2.51.0'


def cpu_of(command, env):
    """User and system time of a process that must succeed."""
    child = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f'bench: {" ".join(command)} failed')
    return usage.ru_utime + usage.ru_stime


def said_cpu_of(command, env):
    """The time that the process says its own work took, without its start."""
    return float(subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True).stdout)


def first_byte_of(command, env):
    """Wall time from the start of a process to its first byte of output."""
    begin = time.monotonic()
    child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE)
    child.stdout.read(1)
    took = time.monotonic() - begin
    child.stdout.read()
    if child.wait():
        raise SystemExit(f'bench: {" ".join(command)} failed')
    return took


def compare(name, ours, other, bar, at_most=False):
    """ours and other: functions giving seconds. The ratio is how many times as fast we are."""
    ours(), other()  # both warm
    pairs = [(other(), ours()) for _ in range(PAIRS)]
    ratio = statistics.median(theirs / mine for theirs, mine in pairs)
    low, high = min(theirs / mine for theirs, mine in pairs), max(theirs / mine for theirs, mine in pairs)
    held = 'holds' if ratio >= bar else 'MISSED'
    print(f'{name:<58} {ratio:8.2f}  ({low:.2f} to {high:.2f})  bar {bar:<5g} {held}', flush=True)


def install_sdk(folder):
    """The official SDK, pinned, in a folder of its own; None where there is no npm."""
    if not shutil.which('node') or not shutil.which('npm'):
        print('skipped: the rows of the JavaScript SDK, since there is no node or npm here')
        return None
    if not os.path.isdir(os.path.join(folder, 'node_modules', 'e2b')):
        os.makedirs(folder, exist_ok=True)
        subprocess.run(['npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefix', folder,
                        f'e2b@{SDK_VERSION}'], check=True)
    script = os.path.join(folder, 'sdk.mjs')
    shutil.copyfile(os.path.join(HERE, 'sdk.mjs'), script)
    return script


def main():
    programs = os.path.join(OUT, 'test', 'bench')
    e2b = os.path.join(OUT, 'e2b')
    script = install_sdk(os.path.join(OUT, 'sdk'))
    with tempfile.TemporaryDirectory() as folder:
        port_file = os.path.join(folder, 'port')
        server = subprocess.Popen([os.path.join(programs, 'generator'), port_file])
        try:
            while not os.path.exists(port_file) or not open(port_file).read().endswith('\n'):
                if server.poll() is not None:
                    raise SystemExit('bench: the generator did not start')
            rows(programs, e2b, script, open(port_file).read().strip())
        finally:
            server.kill()
            server.wait()


def rows(programs, e2b, script, port):
    url = f'http://127.0.0.1:{port}'
    env = dict(os.environ, E2B_API_KEY='e2b_00', E2B_API_URL=url, E2B_SANDBOX_URL=url)

    def run(*words):
        command = [os.path.join(programs, words[0]), words[1], port, *words[2:]]
        return lambda: cpu_of(command, env)

    print(f'times as fast as the other, CPU time of the client, median of {PAIRS} pairs')
    compare('output, JSON, 16 KiB slot, beside a bare loop', run('ours', 'stream', '512', 'json', '16384'),
            run('bare', 'stream', '512', 'json', '16384'), 0.9)
    compare('output, protobuf, 16 KiB slot, beside a bare loop', run('ours', 'stream', '2048', 'proto', '16384'),
            run('bare', 'stream', '2048', 'proto', '16384'), 0.9)
    if shutil.which('curl'):
        curl = ['curl', '-s', '-o', '/dev/null', '-H', 'Content-Type: application/connect+json', '--data', 'STREAM 512',
                url + '/process.Process/Start']
        compare('output, JSON, 16 KiB slot, beside curl to /dev/null', run('ours', 'stream', '512', 'json', '16384'),
                lambda: cpu_of(curl, env), 0.4)
    compare('small commands beside a raw keep-alive client', run('ours', 'commands', '20000', 'json'),
            run('bare', 'commands', '20000', 'json'), 0.9)
    if script:
        sdk = lambda *words: (lambda: said_cpu_of(['node', script, *words], env))
        compare('output, JSON, beside npm e2b', run('ours', 'stream', '64', 'json', '16384'), sdk('stream', '64'), 10)
        compare('output, protobuf, beside npm e2b (which has JSON)', run('ours', 'stream', '64', 'proto', '16384'),
                sdk('stream', '64'), 10)
        compare('small commands beside npm e2b', run('ours', 'commands', '1000', 'json'), sdk('commands', '1000'), 5)
        print('the same, wall time')
        compare('cold start to the first byte, beside npm e2b', lambda: first_byte_of([e2b, 'run', '-n', '--', 'echo'], env),
                lambda: first_byte_of(['node', script, 'cold'], env), 20)


if __name__ == '__main__':
    OUT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'out')
    PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    main()
