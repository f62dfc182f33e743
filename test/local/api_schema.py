"""Request bodies checked as the server's schema library checks them."""

import json

from api_errors import ApiError, body_error

INT32 = "integer doesn't match the format \"int32\": value should be between " \
        "-2147483648 and 2147483647"

STRINGS = {"type": "object", "values": {"type": "string"}}
STRING_LIST = {"type": "array", "items": {"type": "string"}}
NETWORK = {
    "allowPublicTraffic": {"type": "boolean"},
    "allowOut": STRING_LIST,
    "denyOut": STRING_LIST,
    "egressProxy": {"type": "object", "nullable": True},
    "maskRequestHost": {"type": "string"},
    "rules": {"type": "object"},
}
NEW_SANDBOX = {"name": "NewSandbox", "required": ["templateID"], "properties": {
    "templateID": {"type": "string"},
    "timeout": {"type": "integer", "minimum": 0},
    "autoPause": {"type": "boolean"},
    "autoPauseMemory": {"type": "boolean"},
    "autoResume": {"type": "object", "properties": {"enabled": {"type": "boolean"}}},
    "secure": {"type": "boolean"},
    "allow_internet_access": {"type": "boolean"},
    "network": {"type": "object", "properties": NETWORK},
    "metadata": STRINGS,
    "envVars": STRINGS,
    "mcp": {"type": "object", "nullable": True},
    "iam": {"type": "object"},
    "volumeMounts": {"type": "array", "items": {"type": "object"}},
}}
CONNECT = {"name": "ConnectSandbox", "required": ["timeout"], "properties": {
    "timeout": {"type": "integer", "minimum": 0}, "memory": {"type": "boolean"}}}
CONNECT_NEWER = {**CONNECT, "required": []}
RESUME = {"name": "ResumedSandbox", "required": [], "properties": {
    "timeout": {"type": "integer", "minimum": 0},
    "autoPause": {"type": "boolean"}, "memory": {"type": "boolean"}}}
TIMEOUT = {"name": "SandboxTimeoutRequest", "required": ["timeout"], "properties": {
    "timeout": {"type": "integer", "minimum": 0}}}
REFRESH = {"name": "SandboxRefreshRequest", "required": [], "properties": {
    "duration": {"type": "integer", "minimum": 0, "maximum": 3600}}}
PAUSE = {"name": "SandboxPauseRequest", "required": [], "properties": {
    "memory": {"type": "boolean"}}}
UPDATE_NETWORK = {"name": "SandboxNetworkUpdateConfig", "required": [], "properties": {
    "allowOut": STRING_LIST, "denyOut": STRING_LIST, "rules": {"type": "object"},
    "egressProxy": {"type": "object", "nullable": True},
    "allow_internet_access": {"type": "boolean"}}}

TYPES = {"string": str, "boolean": bool, "object": dict, "array": list}
ARTICLE = {"string": "a string", "boolean": "a boolean", "object": "an object",
           "array": "an array", "integer": "an integer"}


def parse(request, data, schema, required=True):
    """The body as a dictionary."""
    if not data and not required:
        return {}
    content_type = request.headers.get("Content-Type", "")
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise body_error(f'header Content-Type has unexpected value "{content_type}"')
    if not data:
        raise body_error("value is required but missing")
    try:
        value = json.loads(data)
    except UnicodeDecodeError:
        raise body_error("failed to decode request body: invalid UTF-8") from None
    except RecursionError:
        raise body_error("failed to decode request body: exceeded max depth") from None
    except json.JSONDecodeError as error:
        text = "unexpected EOF"
        if error.pos < len(data.rstrip()) and not error.msg.startswith("Unterminated"):
            text = f"invalid character {chr(data[error.pos])!r} looking for value" \
                if error.pos < len(data) else text
        raise body_error(f"failed to decode request body: {text}") from None
    if not isinstance(value, dict):
        kind = {list: "array", str: "string", bool: "bool"}.get(type(value), "number")
        raise ApiError(400, "Error when parsing request: error when parsing request: "
                       f"json: cannot unmarshal {kind} into Go value of type "
                       f"api.{schema['name']}",
                       content_type="text/plain; charset=utf-8")
    for name in sorted(value):
        if name in schema["properties"]:
            check(schema, schema["properties"][name], value[name], "/" + name)
    for name in schema["required"]:
        if name not in value:
            raise mismatch(schema, "/" + name, f'property "{name}" is missing')
    return value


def mismatch(schema, where, text):
    return body_error(f"doesn't match schema #/components/schemas/{schema['name']}: "
                      f'Error at "{where}": {text}')


def check(schema, rule, value, where):
    kind = rule["type"]
    if value is None:
        if not rule.get("nullable"):
            raise mismatch(schema, where, "Value is not nullable")
        return
    if kind == "integer":
        check_integer(schema, rule, value, where)
        return
    if not isinstance(value, TYPES[kind]):
        raise mismatch(schema, where, f"value must be {ARTICLE[kind]}")
    if kind == "array":
        for index, item in enumerate(value):
            check(schema, rule["items"], item, f"{where}/{index}")
    elif kind == "object":
        for name in sorted(value):
            inner = rule.get("properties", {}).get(name, rule.get("values"))
            if inner is not None:
                check(schema, inner, value[name], f"{where}/{name}")


def check_integer(schema, rule, value, where):
    if isinstance(value, bool) or not isinstance(value, (int, float)) \
            or value != int(value):
        raise mismatch(schema, where, "value must be an integer")
    if not -2**31 <= value < 2**31:
        raise mismatch(schema, where, INT32)
    if value < rule["minimum"]:
        raise mismatch(schema, where, f"number must be at least {rule['minimum']}")
    if value > rule.get("maximum", value):
        raise mismatch(schema, where, f"number must be at most {rule['maximum']}")
