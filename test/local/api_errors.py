"""Answers of the API that are not about one kind of thing."""

from connect_rpc import go_json
from http_server import Reply

JSON_TYPE = {"Content-Type": "application/json; charset=utf-8"}
SCHEMA = "validation error: error in openapi3filter.RequestError: "
KEY_HELP = ("Invalid API key, please visit https://e2b.dev/docs/api-key for more "
            "information.\n")


class ApiError(Exception):
    def __init__(self, status, message, *, content_type=None):
        super().__init__(message)
        self.status = status
        self.message = message
        self.content_type = content_type

    def reply(self):
        headers = dict(JSON_TYPE)
        if self.content_type:
            headers["Content-Type"] = self.content_type
        return Reply(self.status, headers,
                     go_json({"code": self.status, "message": self.message}))


def ok(status, value, headers=None):
    return Reply(status, {**JSON_TYPE, **(headers or {})}, go_json(value))


def no_content():
    return Reply(204)


def no_route():
    return ApiError(404, "validation error: no matching operation was found")


def no_method():
    return ApiError(404, "validation error: method not allowed")


def schema_error(text):
    return ApiError(400, SCHEMA + text)


def body_error(text):
    return schema_error("request body has an error: " + text)


def query_error(name, text):
    return schema_error(f'parameter "{name}" in query has an error: {text}')


def no_sandbox(sandbox_id):
    return ApiError(404, f"Sandbox \"{sandbox_id}\" doesn't exist or you don't have "
                    "access to it")


def check_key(request, key):
    sent = request.headers.get("X-API-Key", "")
    if not sent:
        scheme, _, _ = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            raise ApiError(401, "Invalid auth provider token.\n"
                           "Backend authentication failed")
        raise ApiError(401, "authorization header is missing")
    if not sent.startswith("e2b_"):
        raise ApiError(401, "authorization header is malformed")
    try:
        bytes.fromhex(sent[4:])
    except ValueError:
        raise ApiError(401, KEY_HELP + "Invalid API key format") from None
    if sent != key:
        raise ApiError(401, KEY_HELP + "Cannot get the team for the given API key")
