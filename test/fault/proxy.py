#!/usr/bin/python3
"""A TCP proxy on loopback that does to connections what networks do.

    proxy.py HOST:PORT [--fault FAULT]... [--hold]

It prints one line, `port P control C`, and forwards connections to P. The
first connection gets the first --fault, the second the second, the rest none.
With --hold it ends when its standard input does, else when it is killed.

A FAULT is `KIND DIRECTION N [SIZE]`:
    KIND       cut    both sides see an orderly end
               reset  both sides see a reset
               stall  nothing more passes in this direction, all stays open
               split  the rest passes in pieces of SIZE bytes (1 if not given)
               none   nothing happens
    DIRECTION  up (to HOST:PORT) or down
    N          so many bytes pass, and the fault happens when the next one
               comes: `cut down 0` lets the whole request through and drops
               the answer. A fault beyond the last byte does not happen.

The control port takes lines and answers each with one line, `ok ...` or
`error ...`. Any number of programs may be connected to it.
    open               a port of its own, for whoever needs one undisturbed: `ok P`
    next P FAULT       for the next connection to P that has none assigned;
                       several are kept in order: `ok`
    always P FAULT     for every connection to P for which no `next` is left: `ok`
    count P            of each connection to P in order: `ok UP DOWN STATE ...`, the
                       bytes that passed, and open or closed
    close P            ends P and its connections: `ok`
"""
import argparse
import asyncio
import collections
import contextlib
import select
import socket
import struct
import sys

PIECE = 65536
KINDS = ("cut", "reset", "stall", "split", "none")
Fault = collections.namedtuple("Fault", "kind direction at size")
NO_FAULT = Fault("none", "up", 0, 0)


def parse_fault(words):
    kind, rest = words[0] if words else "", words[1:]
    if kind == "none" and not rest:
        return NO_FAULT
    if kind not in KINDS or len(rest) not in (2, 3) or rest[0] not in ("up", "down"):
        raise ValueError("a fault is: cut|reset|stall|split|none up|down N [SIZE]")
    at, size = int(rest[1]), int(rest[2]) if len(rest) == 3 else 1
    if at < 0 or size < 1:
        raise ValueError("N is at least 0, SIZE at least 1")
    return Fault(kind, rest[0], at, size)


class Ends:
    """Notices that a peer is gone although nothing is read from it any more."""

    def __init__(self, loop):
        self.epoll = select.epoll()
        self.waiting = {}
        loop.add_reader(self.epoll.fileno(), self._look)

    def _look(self):
        for fd, _ in self.epoll.poll(0):
            self.epoll.unregister(fd)
            self.waiting.pop(fd).set()

    async def wait(self, sock):
        fd, gone = sock.fileno(), asyncio.Event()
        self.waiting[fd] = gone
        self.epoll.register(fd, select.EPOLLRDHUP)
        try:
            await gone.wait()
        finally:
            if self.waiting.pop(fd, None):
                self.epoll.unregister(fd)


class Connection:
    def __init__(self, proxy, client, fault):
        self.proxy, self.client, self.fault = proxy, client, fault
        self.server = None
        self.passed = {"up": 0, "down": 0}
        self.open = True

    async def run(self, target):
        loop = asyncio.get_running_loop()
        self.server = socket.socket()
        for sock in (self.client, self.server):
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await loop.sock_connect(self.server, target)
            pumps = {asyncio.ensure_future(self.pump("up", self.client, self.server)),
                     asyncio.ensure_future(self.pump("down", self.server, self.client))}
            try:
                ending = await self.supervise(pumps)
            finally:
                # Nobody may still read from a socket that is about to be closed.
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
            if ending == "cut":
                await asyncio.gather(self.drain(self.client), self.drain(self.server))
            elif ending == "reset":
                self.abort()
        except OSError:
            self.abort()
        finally:
            self.open = False
            self.client.close()
            self.server.close()

    async def supervise(self, pumps):
        """Until both directions have ended, or one of them says how all is over."""
        while pumps:
            done, pumps = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in done:
                if pump.result():
                    return pump.result()
        return "end"

    async def pump(self, direction, source, sink):
        """Forwards; returns how the connection has to end, or None if only this direction has."""
        loop = asyncio.get_running_loop()
        fault = self.fault if self.fault.direction == direction else NO_FAULT
        while True:
            left = fault.at - self.passed[direction] if fault.kind != "none" else PIECE
            if left <= 0 and fault.kind == "stall":
                # Not read any more: the sender's buffers fill, as they would.
                await self.proxy.ends.wait(self.client)
                return "end"
            data = await loop.sock_recv(source, min(left, PIECE) if left > 0 else PIECE)
            if not data:
                with contextlib.suppress(OSError):
                    sink.shutdown(socket.SHUT_WR)
                return None
            if left > 0:
                await self.forward(direction, sink, data)
            elif fault.kind in ("cut", "reset"):
                return fault.kind
            else:
                for start in range(0, len(data), fault.size):
                    await self.forward(direction, sink, data[start:start + fault.size])
                    await asyncio.sleep(0)

    async def forward(self, direction, sink, data):
        await asyncio.get_running_loop().sock_sendall(sink, data)
        self.passed[direction] += len(data)

    async def drain(self, sock):
        """An orderly end: closing with bytes unread would be a reset."""
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_WR)
            while await asyncio.get_running_loop().sock_recv(sock, PIECE):
                pass

    def abort(self):
        for sock in (self.client, self.server):
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()


class Port:
    """A listening port with the faults that its connections will get."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.next = collections.deque()
        self.always = NO_FAULT
        self.connections = []
        self.tasks = set()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.socket.setblocking(False)
        self.number = self.socket.getsockname()[1]
        self.keep(asyncio.ensure_future(self.accept()))

    def keep(self, task):
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def accept(self):
        while True:
            client, _ = await asyncio.get_running_loop().sock_accept(self.socket)
            fault = self.next.popleft() if self.next else self.always
            connection = Connection(self.proxy, client, fault)
            self.connections.append(connection)
            self.keep(asyncio.ensure_future(connection.run(self.proxy.target)))

    async def close(self):
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.socket.close()


class Proxy:
    def __init__(self, target):
        self.target = target
        self.ends = Ends(asyncio.get_running_loop())
        self.ports = {}

    def open(self):
        port = Port(self)
        self.ports[port.number] = port
        return port

    async def command(self, words):
        verb, arguments = words[0] if words else "", words[1:]
        if verb == "open" and not arguments:
            return f"ok {self.open().number}"
        if verb not in ("next", "always", "count", "close") or not arguments:
            raise ValueError("commands: open, next P FAULT, always P FAULT, count P, close P")
        port = self.ports.get(int(arguments[0]))
        if port is None:
            raise ValueError(f"port {arguments[0]} is not open here")
        if verb == "next":
            port.next.append(parse_fault(arguments[1:]))
        elif verb == "always":
            port.always = parse_fault(arguments[1:])
        elif verb == "close":
            del self.ports[port.number]
            await port.close()
        else:
            return " ".join(["ok"] + [f"{c.passed['up']} {c.passed['down']} {'open' if c.open else 'closed'}"
                                      for c in port.connections])
        return "ok"

    async def control(self, reader, writer):
        try:
            while line := await reader.readline():
                try:
                    answer = await self.command(line.decode().split())
                except ValueError as error:
                    answer = f"error {error}"
                writer.write(answer.encode() + b"\n")
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


async def run(options):
    host, _, number = options.target.rpartition(":")
    proxy = Proxy((host, int(number)))
    port = proxy.open()
    port.next.extend(options.fault)
    control = await asyncio.start_server(proxy.control, "127.0.0.1", 0)
    print(f"port {port.number} control {control.sockets[0].getsockname()[1]}", flush=True)
    if options.hold:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    else:
        await asyncio.Event().wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", metavar="HOST:PORT")
    parser.add_argument("--fault", action="append", default=[], type=lambda text: parse_fault(text.split()))
    parser.add_argument("--hold", action="store_true", help="end when standard input ends")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
