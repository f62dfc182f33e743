"""e2b-local: options, start and end."""

import argparse
import asyncio
import contextlib
import os
import re
import resource
import secrets
import shutil
import signal
import sys
import tempfile

import api
import envd
import faults
import routing
from connect_rpc import read_body
from http_server import Reply, make_server
from isolation import Isolation
from service import Service


def parse_options():
    parser = argparse.ArgumentParser(
        prog="e2b-local",
        description="An E2B-compatible control plane and envd on loopback that runs "
                    "real processes.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--ready-file", metavar="PATH",
                        help="also write the export lines there, once ready")
    parser.add_argument("--api-key", help="e2b_ and hex digits; generated if left out")
    parser.add_argument("--routes", choices=("both", "older"), default="both",
                        help="older: a server without the newer POST routes")
    parser.add_argument("--template", action="append", default=[], metavar="NAME",
                        help="a template that exists beside base; repeatable")
    parser.add_argument("--default-user", choices=("user", "root"), default="user",
                        help="the user of calls that name none")
    parser.add_argument("--envd-version", default="0.6.13")
    parser.add_argument("--max-hours", type=int, default=24,
                        help="longest life of a sandbox")
    parser.add_argument("--max-sandboxes", type=int, default=100000,
                        help="sandboxes at once")
    parser.add_argument("--no-bwrap", action="store_true",
                        help="do not isolate sandboxes even where it works")
    parser.add_argument("--exit-with-parent", action="store_true",
                        help="end when the process that started this one ends")
    parser.add_argument("--quiet", action="store_true",
                        help="print nothing but errors")
    options = parser.parse_args()
    if options.api_key is None:
        options.api_key = "e2b_" + secrets.token_hex(20)
    elif not re.fullmatch("e2b_[0-9a-f]+", options.api_key):
        parser.error("--api-key must be e2b_ followed by lower-case hex digits")
    return options


def exit_with_parent():
    import ctypes
    pr_set_pdeathsig = 1
    parent = os.getppid()
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent or parent == 1:
        sys.exit(0)


def allow_many_descriptors():
    """A stream takes four, and hundreds may be open at once."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Front:
    """Takes every request of the one port to where it belongs."""

    def __init__(self, service):
        self.service = service
        self.control = faults.Control(service)

    async def handle(self, request):
        path, _, query = request.raw_path.partition("?")
        if path.startswith("/_local/"):
            return await self.control.handle(request, path)
        if request.headers.get("Expect", "").lower() == "100-continue":
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.control.count(request.method, path)
        fault = self.control.fault_for(request.method, path)
        if fault is not None:
            if fault.delay:
                # Who leaves meanwhile takes back nothing that has arrived.
                if request.content_type == "application/json":
                    request["body"] = await read_body(request)
                await asyncio.sleep(fault.delay)
            if fault.answer is not None:
                return fault.prepared_answer()
        withholding = fault if fault is not None and fault.withhold else None
        reply = await self.route(request, path, query, withholding)
        if isinstance(reply, Reply):
            reply.fault = fault
        return reply

    async def route(self, request, path, query, fault):
        try:
            target = routing.target(request)
        except routing.BadRouting as error:
            return routing.bad_routing(error)
        if target is None:
            return await api.handle(self.service, request, path, query)
        sandbox_id, port = target
        sandbox = self.service.find(sandbox_id)
        if sandbox is not None and sandbox.state == "paused" and sandbox.auto_resume:
            await sandbox.resume(sandbox.timeout)
        if sandbox is None or sandbox.state != "running":
            return routing.sandbox_not_found(request, sandbox_id)
        if port != routing.ENVD_PORT:
            return routing.closed_port(request, sandbox_id, port)
        if path in routing.RESERVED:
            return routing.reserved(request, path)
        connection = request.protocol
        sandbox.connections.add(connection)
        try:
            return await envd.handle(request, sandbox, path, fault)
        finally:
            sandbox.connections.discard(connection)


def announce(options, port):
    lines = [f"export E2B_API_URL=http://127.0.0.1:{port}",
             f"export E2B_SANDBOX_URL=http://127.0.0.1:{port}",
             f"export E2B_API_KEY={options.api_key}"]
    text = "\n".join(lines) + "\n"
    if options.ready_file:
        # Written beside and renamed, so that a reader sees all of it or nothing.
        partial = options.ready_file + ".partial"
        with open(partial, "w", encoding="ascii",
                  opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)
        os.rename(partial, options.ready_file)
    if not options.quiet:
        print(text + f"e2b-local is ready on http://127.0.0.1:{port}; "
              "Ctrl-C ends it and every sandbox", flush=True)


async def run(options, base):
    isolation = Isolation(base, allow_bwrap=not options.no_bwrap)
    isolation.warn()
    service = Service(options, isolation)
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    try:
        listener = await loop.create_server(
            make_server(Front(service).handle), "127.0.0.1", options.port, backlog=1024)
    except OSError as error:
        print(f"e2b-local: cannot listen on 127.0.0.1:{options.port}: "
              f"{os.strerror(error.errno)}; choose another --port", file=sys.stderr)
        return 1
    announce(options, listener.sockets[0].getsockname()[1])
    await ended.wait()
    listener.close()
    await service.close()
    return 0


def main():
    options = parse_options()
    if options.exit_with_parent:
        exit_with_parent()
    allow_many_descriptors()
    base = tempfile.mkdtemp(prefix="e2b-local-")
    os.chmod(base, 0o755)
    try:
        return asyncio.run(run(options, base))
    finally:
        shutil.rmtree(base, ignore_errors=True)
        if options.ready_file:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(options.ready_file)


if __name__ == "__main__":
    sys.exit(main())
