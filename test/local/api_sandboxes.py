"""The control plane's sandbox calls."""

import re

import api_schema
import egress
from api_errors import ApiError, no_content, no_sandbox, ok
from api_values import detail, sandbox_value
from connect_rpc import read_body

REFERENCE = re.compile(r"(?:([a-z0-9_-]+)/)?([a-z0-9_-]+)(?::([a-z0-9_.-]+))?")
OLDER_DEFAULT_TIMEOUT = 15
NEWER_DEFAULT_TIMEOUT = 300
SHORTEST_REFRESH = 15
KEPT = ("secure", "autoPause", "autoResume", "allow_internet_access", "network",
        "metadata", "envVars")


def find_template(service, reference):
    match = REFERENCE.fullmatch(reference.strip().lower())
    if match is None:
        raise ApiError(400, "Invalid template reference: invalid template ID: "
                       + reference)
    namespace, name, tag = match.groups()
    template = service.template(name)
    if namespace is not None or template is None:
        raise ApiError(404, f"template '{reference}' not found")
    if tag not in (None, "default"):
        raise ApiError(404, f"tag '{tag}' does not exist for template '{name}'")
    return template


def check_timeout(service, timeout):
    if timeout > service.max_hours * 3600:
        raise ApiError(400, f"Timeout cannot be greater than {service.max_hours} hours")


async def create(service, request, newer):
    value = api_schema.parse(request, await read_body(request), api_schema.NEW_SANDBOX)
    template = find_template(service, value["templateID"])
    timeout = int(value.get(
        "timeout", NEWER_DEFAULT_TIMEOUT if newer else OLDER_DEFAULT_TIMEOUT))
    if timeout == 0:
        raise ApiError(400, "Timeout must be greater than 0")
    check_timeout(service, timeout)
    check_options(value, newer)
    if len(service.running()) >= service.max_sandboxes:
        raise ApiError(429, "you have reached the maximum number of concurrent E2B "
                       f"sandboxes ({service.max_sandboxes}). If you need more, please "
                       "visit 'https://e2b.dev/docs/billing'")
    options = {name: value[name] for name in KEPT if name in value}
    if newer:
        options["secure"] = True
    sandbox = service.create(template, timeout, options)
    return ok(201, sandbox_value(sandbox))


def check_options(value, newer):
    if value.get("autoPauseMemory") is False and not value.get("autoPause"):
        raise ApiError(400, "autoPauseMemory=false requires autoPause=true")
    network = value.get("network", {})
    egress.check(network)
    if network.get("allowPublicTraffic") is False and not (newer or value.get("secure")):
        raise ApiError(400, "You cannot create a sandbox without public access unless "
                       "you enable secure envd access via 'secure' flag.")
    mounts = [f"\n\t- volume mount #{index}: volume '{one.get('name', '')}' not found"
              for index, one in enumerate(value.get("volumeMounts", []))]
    if mounts:
        raise ApiError(400, "invalid mounts:" + "".join(mounts))


def find(service, raw_id):
    """The id may carry the old "-<client>" part."""
    match = re.fullmatch("([a-z0-9]+)(-[a-z0-9]+)?", raw_id)
    if match is None:
        raise ApiError(400, "Invalid sandbox ID")
    return service.find(match.group(1)), match.group(1)


def existing(service, raw_id, running=False):
    sandbox, sandbox_id = find(service, raw_id)
    if sandbox is None or (running and sandbox.state != "running"):
        raise no_sandbox(sandbox_id)
    return sandbox


async def connect(service, request, raw_id, newer):
    schema = api_schema.CONNECT_NEWER if newer else api_schema.CONNECT
    value = api_schema.parse(request, await read_body(request), schema, not newer)
    timeout = int(value.get("timeout", NEWER_DEFAULT_TIMEOUT))
    check_timeout(service, timeout)
    sandbox = existing(service, raw_id)
    if sandbox.state == "paused":
        await sandbox.resume(timeout)
        return ok(201, sandbox_value(sandbox))
    if service.clock.now() + timeout * 10**9 > sandbox.ends:
        sandbox.set_end(timeout)
    return ok(200, sandbox_value(sandbox))


async def resume(service, request, raw_id):
    value = api_schema.parse(request, await read_body(request), api_schema.RESUME, False)
    timeout = int(value.get("timeout", OLDER_DEFAULT_TIMEOUT))
    check_timeout(service, timeout)
    sandbox = existing(service, raw_id)
    if sandbox.state != "paused":
        raise ApiError(409, f"Sandbox {sandbox.id} is already running")
    if "autoPause" in value:
        sandbox.options["autoPause"] = value["autoPause"]
    await sandbox.resume(timeout)
    return ok(201, sandbox_value(sandbox))


async def info(service, _request, raw_id):
    return ok(200, detail(existing(service, raw_id)))


async def kill(service, _request, raw_id):
    await service.kill(existing(service, raw_id))
    return no_content()


async def set_timeout(service, request, raw_id):
    value = api_schema.parse(request, await read_body(request), api_schema.TIMEOUT)
    sandbox = existing(service, raw_id, running=True)
    age = (service.clock.now() - sandbox.started) // 10**9
    allowance = service.max_hours * 3600 - age
    if allowance <= 0:
        raise ApiError(400, "Max instance length exceeded")
    sandbox.set_end(min(int(value["timeout"]), allowance))
    return no_content()


async def refresh(service, request, raw_id):
    value = api_schema.parse(request, await read_body(request), api_schema.REFRESH, False)
    sandbox = existing(service, raw_id, running=True)
    seconds = max(int(value.get("duration", 0)), SHORTEST_REFRESH)
    if service.clock.now() + seconds * 10**9 > sandbox.ends:
        sandbox.set_end(seconds)
    return no_content()


async def pause(service, request, raw_id):
    api_schema.parse(request, await read_body(request), api_schema.PAUSE, False)
    sandbox = existing(service, raw_id)
    if sandbox.state == "paused":
        raise ApiError(409, f"Error pausing sandbox - sandbox '{sandbox.id}' is "
                       "already paused")
    await sandbox.pause()
    return no_content()


async def update_network(service, request, raw_id):
    value = api_schema.parse(request, await read_body(request),
                             api_schema.UPDATE_NETWORK)
    egress.check(value)
    sandbox = existing(service, raw_id, running=True)
    network = {name: item for name, item in sandbox.options.get("network", {}).items()
               if name in ("allowPublicTraffic", "maskRequestHost")}
    for name in ("allowOut", "denyOut"):
        if value.get(name):
            network[name] = value[name]
    sandbox.options["network"] = network
    if "allow_internet_access" in value:
        sandbox.options["allow_internet_access"] = value["allow_internet_access"]
        if not value["allow_internet_access"]:
            network["denyOut"] = [egress.ALL]
    return no_content()
