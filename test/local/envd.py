"""The daemon's front: access token, user, then the route."""

import asyncio

import process_service
from connect_rpc import (RpcError, VARY, basic_user, content_type_of, go_json, is_stream_type, serve,
                         stream_error_alone, unary_error)
from http_server import Reply
from isolation import UID

SERVICES = {"/process.Process/": process_service.METHODS}

# Exact methods and paths that no token guards here: /files has signatures of
# its own, /health is for everyone.
OPEN = {("GET", "/health"), ("GET", "/files"), ("POST", "/files"), ("POST", "/init")}


class Context:
    """What a call knows beside its message."""

    def __init__(self, sandbox, request, user, fault):
        self.sandbox = sandbox
        self.request = request
        self.user = user
        self.fault = fault
        self.loop = asyncio.get_running_loop()


async def handle(request, sandbox, path, fault):
    if (sandbox.token is not None and (request.method, path) not in OPEN
            and request.headers.get("X-Access-Token") != sandbox.token):
        return unauthorized()
    user = basic_user(request)
    if user is not None and user not in UID:
        error = RpcError("unauthenticated", f"invalid username: '{user}'")
        content_type = content_type_of(request)
        if is_stream_type(content_type):
            return stream_error_alone(content_type, error)
        return unary_error(error)
    for prefix, methods in SERVICES.items():
        if path.startswith(prefix):
            method = methods.get(path[len(prefix):])
            if method is None:
                return not_found()
            return await serve(request, method,
                               Context(sandbox, request, user, fault))
    if path == "/health":
        return health(request)
    return not_found()


def health(request):
    if request.method != "GET":
        return Reply(405, {"Allow": "GET", **VARY})
    # The daemon sets the type to nothing, which writes the line all the same.
    return Reply(204, {"Cache-Control": "no-store", "Content-Type": "", **VARY})


def not_found():
    return Reply(404, {"Content-Type": "text/plain; charset=utf-8",
                       "X-Content-Type-Options": "nosniff", **VARY},
                 b"404 page not found\n")


def unauthorized():
    body = go_json({"code": 401, "message": "unauthorized access, please provide a "
                    "valid access token or method signing if supported"})
    return Reply(401, {"Content-Type": "application/json; charset=utf-8",
                       "X-Content-Type-Options": "nosniff", **VARY}, body + b"\n")
