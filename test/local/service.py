"""What is common to all sandboxes of one e2b-local: keys, templates, limits,
the clock and the expiry of sandboxes."""

import asyncio
import secrets

from sandbox import Clock, Sandbox


class Template:
    def __init__(self, name, template_id):
        self.name = name
        self.id = template_id


# The id under which the recorded server knew its template "base".
BASE_ID = "2j6ly824owf4awgai1xo"


class Service:
    def __init__(self, options, isolation):
        self.base = isolation.base
        self.isolation = isolation
        self.api_key = options.api_key
        self.default_user = options.default_user
        self.older_routes_only = options.routes == "older"
        self.max_hours = options.max_hours
        self.max_sandboxes = options.max_sandboxes
        self.envd_version = options.envd_version
        self.clock = Clock()
        self.token_seed = secrets.token_hex(16)
        self.templates = [Template("base", BASE_ID)]
        for name in options.template:
            self.templates.append(Template(name, secrets.token_hex(10)))
        self.sandboxes = {}
        self._expiry = None
        self._endings = set()

    def template(self, name):
        return next((one for one in self.templates if name in (one.name, one.id)), None)

    def create(self, template, timeout, options):
        sandbox = Sandbox(self, template, timeout, options)
        self.sandboxes[sandbox.id] = sandbox
        self.schedule_expiry()
        return sandbox

    async def kill(self, sandbox):
        if self.sandboxes.pop(sandbox.id, None) is not None:
            await sandbox.end()

    def running(self):
        return [one for one in self.sandboxes.values() if one.state == "running"]

    def schedule_expiry(self):
        """One timer, for the sandbox that ends first."""
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        ends = [one.ends for one in self.running()]
        if ends:
            seconds = (min(ends) - self.clock.now()) / 1e9
            self._expiry = asyncio.get_running_loop().call_later(
                max(seconds, 0) + 0.001, self.expire)

    def expire(self):
        now = self.clock.now()
        loop = asyncio.get_running_loop()
        for sandbox in self.running():
            if sandbox.ends > now:
                continue
            if sandbox.auto_pause:
                work = sandbox.pause()
            else:
                work = self.kill(sandbox)
            task = loop.create_task(work)
            self._endings.add(task)
            task.add_done_callback(self._endings.discard)
        self.schedule_expiry_later()

    def schedule_expiry_later(self):
        asyncio.get_running_loop().call_soon(self.schedule_expiry)

    def find(self, sandbox_id):
        """The sandbox of this id, expired ones excluded."""
        sandbox = self.sandboxes.get(sandbox_id)
        if sandbox is None:
            return None
        if (sandbox.state == "running" and not sandbox.auto_pause
                and sandbox.ends <= self.clock.now()):
            self.expire()
            return None
        return sandbox

    async def close(self):
        await asyncio.gather(*(self.kill(one) for one in list(self.sandboxes.values())))
