"""Where a request on the one port belongs: the API, or which sandbox."""

import html
import ipaddress
import re

from connect_rpc import go_json
from http_server import Reply

ENVD_PORT = 49983
RESERVED = {"/init", "/freeze", "/unfreeze", "/collapse", "/fsfreeze", "/fsthaw",
            "/upgrade"}
BROWSER = re.compile("mozilla|chrome|safari|firefox|edge|opera|msie", re.I)
SANDBOX_LABEL = re.compile(r"(\d+)-([a-z0-9]+)(-[^.]*)?$")


class BadRouting(Exception):
    """The text of a 400 from the proxy."""


def host_name(host):
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def honours_headers(name):
    # Without a host (HTTP/1.0) the address is loopback, the only one served.
    if name in ("", "localhost") or name.startswith("sandbox."):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def target(request):
    """(sandbox id, port) of a sandbox request, None for one to the API."""
    name = host_name(request.headers.get("Host", ""))
    if honours_headers(name):
        sandbox_id = request.headers.get("E2b-Sandbox-Id")
        port = request.headers.get("E2b-Sandbox-Port")
        if sandbox_id is None and port is None:
            return None
        if not sandbox_id or not port:
            raise BadRouting("missing header")
    else:
        match = SANDBOX_LABEL.match(name.partition(".")[0])
        if match is None:
            return None
        port, sandbox_id = match.group(1), match.group(2)
    if not re.fullmatch("[a-z0-9]+", sandbox_id):
        raise BadRouting("Invalid sandbox ID")
    if not re.fullmatch("[0-9]{1,9}", port) or not 0 < int(port) < 65536:
        raise BadRouting("Invalid sandbox port")
    return sandbox_id, int(port)


def bad_routing(error):
    return Reply(400, {"Content-Type": "text/plain; charset=utf-8",
                       "X-Content-Type-Options": "nosniff"},
                 f"{error}\n".encode())


def proxy_error(request, status, value):
    """The proxy's own answers: JSON, or a page for what looks like a browser."""
    accept = request.headers.get("Accept", "")
    wants_json = "application/json" in accept and "text/html" not in accept
    if BROWSER.search(request.headers.get("User-Agent", "")) and not wants_json:
        page = ("<!DOCTYPE html><html><head><title>e2b-local</title></head><body>"
                f"<h1>{status}</h1><p>{html.escape(value['message'])}</p></body></html>")
        return Reply(status, {"Content-Type": "text/html; charset=utf-8"}, page.encode())
    return Reply(status, {"Content-Type": "application/json; charset=utf-8"},
                 go_json(value))


def sandbox_not_found(request, sandbox_id):
    return proxy_error(request, 502, {
        "sandboxId": sandbox_id, "message": "The sandbox was not found", "code": 502})


def closed_port(request, sandbox_id, port):
    return proxy_error(request, 502, {
        "sandboxId": sandbox_id,
        "message": "The sandbox is running but port is not open",
        "port": port, "code": 502})


def reserved(request, path):
    return proxy_error(request, 404, {
        "message": "This endpoint is reserved for the E2B control plane and is not "
                   "reachable through the sandbox URL", "path": path, "code": 404})
