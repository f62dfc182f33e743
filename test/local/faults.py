"""What tests ask of the service beyond the E2B routes, under /_local/: delays,
answers withheld after the work is done, counts, a clock that can be moved."""

import asyncio
import fnmatch
import json
import socket
import struct

from http_server import Reply

WITHHOLD = ("never", "close", "reset")
KEYS = {"method", "path", "count", "skip", "delay", "delay_answer", "withhold",
        "answer"}


class Fault:
    """One rule. It applies to count requests after the first skip."""

    def __init__(self, rule):
        unknown = set(rule) - KEYS
        if unknown:
            raise ValueError(f"unknown key: {', '.join(sorted(unknown))}")
        if rule.get("withhold") not in (None, *WITHHOLD):
            raise ValueError(f"withhold is one of {', '.join(WITHHOLD)}")
        self.method = rule.get("method", "*")
        self.path = rule.get("path", "*")
        self.count = rule.get("count", 1)
        self.skip = rule.get("skip", 0)
        self.delay = rule.get("delay", 0)
        self.delay_answer = rule.get("delay_answer", 0)
        self.withhold = rule.get("withhold")
        self.answer = rule.get("answer")

    def takes(self, method, path):
        if not (fnmatch.fnmatchcase(method, self.method)
                and fnmatch.fnmatchcase(path, self.path)):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.count == 0:
            return False
        if self.count > 0:
            self.count -= 1
        return True

    def prepared_answer(self):
        body = self.answer.get("body", "")
        if not isinstance(body, str):
            body = json.dumps(body)
        return Reply(self.answer.get("status", 500), dict(self.answer.get("headers", {})),
                     body.encode())

    async def take_reply(self, request):
        """Called when the work is done. True where the answer is not to be sent."""
        if self.delay_answer:
            await asyncio.sleep(self.delay_answer)
        if self.withhold is None:
            return False
        transport = request.transport
        if transport is None:
            return True
        if self.withhold == "never":
            gone = asyncio.get_running_loop().create_future()
            request.protocol.watcher = Waiter(gone)
            if request.transport is not None:
                await gone
        else:
            self.cut(request)
        return True

    def cut(self, request):
        """Ends the connection, if that is what the rule says."""
        transport = request.transport
        if transport is None or self.withhold not in ("close", "reset"):
            return
        if self.withhold == "reset":
            # Lingering for no time at all turns the close into a reset.
            transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()


class Waiter:
    """Watches a connection until the client leaves it."""

    def __init__(self, gone):
        self._gone = gone

    def client_half_closed(self):
        self.client_gone()

    def client_gone(self):
        if not self._gone.done():
            self._gone.set_result(None)


class Control:
    """The /_local/ routes and what they set."""

    def __init__(self, service):
        self._service = service
        self._rules = []
        self._counts = {}

    def count(self, method, path):
        key = f"{method} {path}"
        self._counts[key] = self._counts.get(key, 0) + 1

    def fault_for(self, method, path):
        return next((rule for rule in self._rules if rule.takes(method, path)), None)

    async def handle(self, request, path):
        name = path[len("/_local/"):]
        handler = getattr(self, f"_{request.method.lower()}_{name}", None)
        if handler is None:
            return answer(404, {"error": "no such control; see test/local/README.md"})
        try:
            body = await request.content.read()
            value = json.loads(body) if body else {}
            result = await handler(value)
            return answer(200, {} if result is None else result)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return answer(400, {"error": str(error)})

    async def _get_isolation(self, _value):
        return {"confined": self._service.isolation.confined}

    async def _get_requests(self, _value):
        return self._counts

    async def _delete_requests(self, _value):
        self._counts.clear()

    async def _get_sandboxes(self, _value):
        return [{"sandboxID": one.id, "state": one.state,
                 "processes": list(one.processes),
                 "metadata": one.options.get("metadata", {})}
                for one in self._service.sandboxes.values()]

    async def _post_faults(self, value):
        rules = value if isinstance(value, list) else [value]
        self._rules += [Fault(rule) for rule in rules]

    async def _delete_faults(self, _value):
        self._rules.clear()

    async def _post_clock(self, value):
        self._service.clock.offset += int(value["advance"] * 1e9)
        self._service.expire()
        await asyncio.sleep(0)

    async def _post_limits(self, value):
        if "max_sandboxes" in value:
            self._service.max_sandboxes = int(value["max_sandboxes"])
        if "max_hours" in value:
            self._service.max_hours = int(value["max_hours"])


def answer(status, value):
    return Reply(status, {"Content-Type": "application/json"},
                 json.dumps(value).encode() + b"\n")
