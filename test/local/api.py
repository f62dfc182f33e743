"""The control plane's routes."""

from urllib.parse import unquote

import api_list
import api_sandboxes as sandboxes
from api_errors import ApiError, check_key, no_method, no_route
from http_server import Reply


async def health(_service, _request):
    return Reply(200, {"Content-Type": "text/plain; charset=utf-8"},
                 b"Health check successful")


def older(function):
    return lambda *arguments: function(*arguments, newer=False)


def newer(function):
    return lambda *arguments: function(*arguments, newer=True)


OPEN_ROUTES = {"/health": {"GET": health}}

# "{id}" stands for one segment, handed to the function still encoded once less.
ROUTES = {
    "/sandboxes": {"GET": api_list.list_older, "POST": older(sandboxes.create)},
    "/v2/sandboxes": {"GET": api_list.list_newer, "POST": newer(sandboxes.create)},
    "/sandboxes/{id}": {"GET": sandboxes.info, "DELETE": sandboxes.kill},
    "/sandboxes/{id}/connect": {"POST": older(sandboxes.connect)},
    "/v2/sandboxes/{id}/connect": {"POST": newer(sandboxes.connect)},
    "/sandboxes/{id}/resume": {"POST": sandboxes.resume},
    "/sandboxes/{id}/pause": {"POST": sandboxes.pause},
    "/sandboxes/{id}/timeout": {"POST": sandboxes.set_timeout},
    "/sandboxes/{id}/refreshes": {"POST": sandboxes.refresh},
    "/sandboxes/{id}/network": {"PUT": sandboxes.update_network},
}
NEWER_ONLY = {("POST", "/v2/sandboxes"), ("POST", "/v2/sandboxes/{id}/connect")}


def match(path, older_only):
    """(pattern, methods, id) of a path; the path is routed while encoded."""
    segments = path.split("/")
    for pattern, methods in ROUTES.items():
        parts = pattern.split("/")
        if len(parts) != len(segments) or not all(
                part in ("{id}", segment) for part, segment in zip(parts, segments)):
            continue
        if older_only:
            methods = {method: function for method, function in methods.items()
                       if (method, pattern) not in NEWER_ONLY}
        if not methods:
            continue
        raw_id = segments[parts.index("{id}")] if "{id}" in parts else None
        return pattern, methods, raw_id
    raise no_route()


async def handle(service, request, path, query):
    try:
        return await answer(service, request, path, query)
    except ApiError as error:
        return error.reply()


async def answer(service, request, path, query):
    if path in OPEN_ROUTES:
        function = OPEN_ROUTES[path].get(request.method)
        if function is None:
            raise no_method()
        return await function(service, request)
    pattern, methods, raw_id = match(path, service.older_routes_only)
    function = methods.get(request.method)
    if function is None:
        raise no_method()
    check_key(request, service.api_key)
    if raw_id is not None:
        return await function(service, request, unquote(raw_id))
    if request.method == "GET":
        return await function(service, request, query)
    return await function(service, request)
