#!/usr/bin/python3
"""The fault proxy in front of a server that answers each request line."""
import os
import socket
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWER = b"0123456789" * 10
passed = failed = 0


def check(name, condition, detail=""):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print(f"failed: {name} {detail}")


def equal(name, got, wanted):
    check(name, got == wanted, f"got {got!r}, wanted {wanted!r}")


class Server:
    """Reads to the newline, answers, and ends when its peer does. Keeps what it saw."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.seen = []
        self.accepted = threading.Condition()
        threading.Thread(target=self.run, daemon=True).start()

    def address(self):
        return "127.0.0.1:%d" % self.socket.getsockname()[1]

    def run(self):
        while True:
            peer, _ = self.socket.accept()
            seen = {"bytes": b"", "end": None, "done": threading.Event()}
            with self.accepted:
                self.seen.append(seen)
                self.accepted.notify_all()
            threading.Thread(target=self.serve, args=(peer, seen), daemon=True).start()

    def latest(self, before):
        """What happened on the one connection since there were `before`."""
        with self.accepted:
            self.accepted.wait_for(lambda: len(self.seen) > before)
        seen = self.seen[before]
        seen["done"].wait()
        return seen

    def serve(self, peer, seen):
        try:
            while data := peer.recv(65536):
                seen["bytes"] += data
                for _ in range(data.count(b"\n")):
                    peer.sendall(ANSWER)
            seen["end"] = "end"
        except ConnectionError:
            seen["end"] = "reset"
        peer.close()
        seen["done"].set()


class Proxy:
    def __init__(self, target, *arguments):
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "proxy.py"), target, "--hold", *arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        words = self.process.stdout.readline().split()
        self.port = int(words[1])
        self.control = socket.create_connection(("127.0.0.1", int(words[3]))).makefile("rw")

    def ask(self, line):
        self.control.write(line + "\n")
        self.control.flush()
        return self.control.readline().strip()

    def open(self):
        return int(self.ask("open").split()[1])

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def read_all(client):
    data = b""
    try:
        while piece := client.recv(65536):
            data += piece
        return data, "end"
    except ConnectionResetError:
        return data, "reset"


def read_answer(client):
    data = b""
    while len(data) < len(ANSWER) and (piece := client.recv(65536)):
        data += piece
    return data


def test_plain(proxy, server):
    before = len(server.seen)
    client = socket.create_connection(("127.0.0.1", proxy.port))
    client.sendall(b"hello\n")
    equal("the answer passes", read_answer(client), ANSWER)
    equal("count while open", proxy.ask(f"count {proxy.port}"), "ok 6 100 open")
    client.shutdown(socket.SHUT_WR)
    equal("an end passes", read_all(client), (b"", "end"))
    equal("to the server too", server.latest(before)["end"], "end")


def test_ends(proxy, server):
    """cut and reset, in both directions, at the first byte, within, and beyond."""
    for kind, ending in (("cut", "end"), ("reset", "reset")):
        for at in (0, 1, 50, 99):
            port, before = proxy.open(), len(server.seen)
            equal("next", proxy.ask(f"next {port} {kind} down {at}"), "ok")
            client = socket.create_connection(("127.0.0.1", port))
            client.sendall(b"request\n")
            equal(f"{kind} down {at}", read_all(client), (ANSWER[:at], ending))
            client.close()
            seen = server.latest(before)
            equal(f"{kind} down {at} at the server", (seen["bytes"], seen["end"]), (b"request\n", ending))
            equal(f"{kind} down {at} counted", proxy.ask(f"count {port}").split()[1:3], ["8", str(at)])
        for at in (0, 1, 7):
            port, before = proxy.open(), len(server.seen)
            proxy.ask(f"next {port} {kind} up {at}")
            client = socket.create_connection(("127.0.0.1", port))
            client.sendall(b"request\n")
            equal(f"{kind} up {at}", read_all(client), (b"", ending))
            client.close()
            seen = server.latest(before)
            equal(f"{kind} up {at} at the server", (seen["bytes"], seen["end"]), (b"request\n"[:at], ending))
        for fault in (f"{kind} up 8", f"{kind} down 100"):
            port, before = proxy.open(), len(server.seen)
            proxy.ask(f"next {port} {fault}")
            client = socket.create_connection(("127.0.0.1", port))
            client.sendall(b"request\n")
            equal(f"{fault} does not happen", read_answer(client), ANSWER)
            client.close()
            server.latest(before)


def test_stall(proxy, server):
    for fault, up, down in (("stall up 3", 3, 0), ("stall down 40", 8, 40)):
        port, before = proxy.open(), len(server.seen)
        proxy.ask(f"next {port} {fault}")
        client = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"request\n")
        got = b""
        while len(got) < down:
            got += client.recv(down - len(got))
        while proxy.ask(f"count {port}") != f"ok {up} {down} open":
            pass
        client.setblocking(False)
        try:
            equal(f"{fault}: nothing more", client.recv(1), None)
        except BlockingIOError:
            check(fault, got == ANSWER[:down])
        client.close()
        equal(f"{fault}: the server saw", server.latest(before)["bytes"], b"request\n"[:up])
        while proxy.ask(f"count {port}") != f"ok {up} {down} closed":
            pass


def test_split(proxy, server):
    for fault in ("split down 0", "split down 10 7", "split up 0", "split up 3 2"):
        port, before = proxy.open(), len(server.seen)
        proxy.ask(f"next {port} {fault}")
        client = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"request\n")
        equal(fault, read_answer(client), ANSWER)
        equal(f"{fault}: counted", proxy.ask(f"count {port}"), "ok 8 100 open")
        client.close()
        equal(f"{fault}: the server saw", server.latest(before)["bytes"], b"request\n")


def test_order(proxy):
    port = proxy.open()
    for line in (f"next {port} none", f"next {port} reset up 0", f"always {port} cut down 5"):
        equal(line, proxy.ask(line), "ok")
    results = []
    for _ in range(4):
        client = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"x\n")
        results.append(read_answer(client) if not results else read_all(client))
        client.close()
    equal("next in order, then always", results,
          [ANSWER, (b"", "reset"), (ANSWER[:5], "end"), (ANSWER[:5], "end")])
    equal("close", proxy.ask(f"close {port}"), "ok")
    check("a closed port is not counted", proxy.ask(f"count {port}").startswith("error"))
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        check("a closed port refuses", False)
    except ConnectionRefusedError:
        check("a closed port refuses", True)


def test_parallel(proxy):
    """A hundred connections at once, each with a fault of its own on one port."""
    port = proxy.open()
    clients = []
    for at in range(100):
        proxy.ask(f"next {port} cut down {at}")
        clients.append(socket.create_connection(("127.0.0.1", port)))
    for client in clients:
        client.sendall(b"x\n")
    equal("a hundred at once", [len(read_all(client)[0]) for client in clients], list(range(100)))


def test_much(proxy):
    """More than the buffers on the way hold, both ways at once."""
    port = proxy.open()
    proxy.ask(f"next {port} split down 1000000 4093")
    client = socket.create_connection(("127.0.0.1", port))
    lines, size = 60000, 0
    sender = threading.Thread(target=lambda: (client.sendall(b"12345678901\n" * lines), client.shutdown(socket.SHUT_WR)))
    sender.start()
    while piece := client.recv(1 << 20):
        size += len(piece)
    sender.join()
    equal("6 MB come back", size, lines * len(ANSWER))


def test_mistakes(proxy, server):
    for line in ("", "open 1", "next", "next 1 cut up 0", f"next {proxy.port} cut", f"next {proxy.port} cut up x",
                 f"next {proxy.port} cut up -1", f"next {proxy.port} split up 0 0", f"next {proxy.port} tear up 0"):
        check(f"refused: {line}", proxy.ask(line).startswith("error"))
    spare = socket.create_server(("127.0.0.1", 0))
    nobody = "127.0.0.1:%d" % spare.getsockname()[1]
    spare.close()
    lost = Proxy(nobody, "--fault", "reset down 0")
    equal("no server: reset", read_all(socket.create_connection(("127.0.0.1", lost.port))), (b"", "reset"))
    equal("ends with its standard input", lost.end(), 0)
    given = Proxy(server.address(), "--fault", "cut down 3", "--fault", "none")
    results = []
    for _ in range(2):
        client = socket.create_connection(("127.0.0.1", given.port))
        client.sendall(b"x\n")
        results.append(read_answer(client))
        client.close()
    equal("faults of the command line", results, [ANSWER[:3], ANSWER])
    given.end()


def main():
    server = Server()
    proxy = Proxy(server.address())
    test_plain(proxy, server)
    test_ends(proxy, server)
    test_stall(proxy, server)
    test_split(proxy, server)
    test_order(proxy)
    test_parallel(proxy)
    test_much(proxy)
    test_mistakes(proxy, server)
    equal("ends with its standard input", proxy.end(), 0)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
