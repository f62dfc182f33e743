"""The two lists of sandboxes: filters, order and pages."""

import base64
import binascii
import datetime
import re

from api_errors import ApiError, ok, query_error
from api_values import listed, time_text
from connect_rpc import go_json

PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}")
STATES = ("running", "paused")
LONGEST_PAGE = 100


class BadEscape(ValueError):
    pass


def unescape(text):
    """Go's url.QueryUnescape."""
    data = text.encode().replace(b"+", b" ")
    if b"%" in PERCENT.sub(b"", data):
        raise BadEscape(text)
    return PERCENT.sub(lambda m: bytes([int(m.group()[1:], 16)]), data).decode(
        "utf-8", "replace")


def parse_query(query):
    values = {}
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        try:
            values.setdefault(unescape(name), unescape(value))
        except BadEscape:
            continue
    return values


def metadata_filter(query):
    """The value was decoded once as a query; the server decodes the whole once
    more, and then each key and each value."""
    text = query.get("metadata")
    if text is None:
        return {}
    try:
        wanted = {}
        for pair in unescape(text).split("&"):
            key, equals, value = pair.partition("=")
            if not equals:
                raise BadEscape(pair)
            wanted[unescape(key)] = unescape(value)
        return wanted
    except BadEscape:
        raise ApiError(400, "Error parsing metadata") from None


def matches(sandbox, wanted):
    metadata = sandbox.options.get("metadata", {})
    return all(metadata.get(key) == value for key, value in wanted.items())


def wanted_states(query):
    if not query.get("state"):
        return STATES
    states = query["state"].split(",")
    for index, state in enumerate(states):
        if state not in STATES:
            raise query_error("state", f'Error at "/{index}": value is not one of the '
                              "allowed values " + go_json(list(STATES)).decode())
    return states


def page_length(query):
    if "limit" not in query:
        return LONGEST_PAGE
    try:
        limit = int(query["limit"])
    except ValueError:
        raise query_error("limit", f"value {query['limit']}: an invalid integer: "
                          "invalid syntax") from None
    if limit < 1:
        raise query_error("limit", "number must be at least 1")
    if limit > LONGEST_PAGE:
        raise query_error("limit", f"number must be at most {LONGEST_PAGE}")
    return limit


def order_of(query):
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise query_error("order", "value is not one of the allowed values "
                          '["asc","desc"]')
    return order


def parse_time(text):
    """Microseconds since 1970 of an RFC 3339 time."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?"
                         r"(Z|[+-]\d\d:\d\d)", text)
    if match is None:
        raise ValueError(text)
    moment = datetime.datetime.fromisoformat(
        match.group(1) + match.group(3).replace("Z", "+00:00"))
    fraction = int((match.group(2) or "0").ljust(9, "0")) // 1000
    return int(moment.timestamp()) * 10**6 + fraction


def next_token(sandbox, order):
    text = f"{time_text(sandbox.started // 1000 * 1000)}__{sandbox.id}"
    if order == "asc":
        text += "__asc"
    return base64.urlsafe_b64encode(text.encode()).decode()


def after_token(query, order):
    """The position that the token names, as a key of the order; None without."""
    token = query.get("nextToken")
    if not token:
        return None
    try:
        parts = base64.urlsafe_b64decode(token.encode()).decode().split("__")
        if parts[2:] != (["asc"] if order == "asc" else []):
            raise ValueError
        return position(parse_time(parts[0]), parts[1], order)
    except (ValueError, IndexError, binascii.Error):
        raise ApiError(400, "Invalid next token") from None


def position(microseconds, sandbox_id, order):
    """Newest first, ties by id ascending; "asc" turns both round."""
    if order == "asc":
        return (microseconds, [-ord(character) for character in sandbox_id])
    return (-microseconds, [ord(character) for character in sandbox_id])


def key_of(sandbox, order):
    return position(sandbox.started // 1000, sandbox.id, order)


async def list_newer(service, _request, raw_query):
    query = parse_query(raw_query)
    limit = page_length(query)
    states = wanted_states(query)
    order = order_of(query)
    wanted = metadata_filter(query)
    found = select(service, query, [
        one for one in live(service)
        if one.state in states and matches(one, wanted)])
    found.sort(key=lambda one: key_of(one, order))
    headers = {}
    if "running" in states:
        headers["X-Total-Running"] = str(sum(one.state == "running" for one in found))
    after = after_token(query, order)
    if after is not None:
        found = [one for one in found if key_of(one, order) > after]
    page = found[:limit]
    if len(found) > limit:
        headers["X-Next-Token"] = next_token(page[-1], order)
    return ok(200, [listed(one) for one in page], headers)


def live(service):
    return [one for one in list(service.sandboxes.values())
            if service.find(one.id) is not None]


def select(service, query, found):
    if query.get("startedAfter"):
        try:
            earliest = parse_time(query["startedAfter"])
        except ValueError:
            raise query_error("startedAfter", "value is not a date-time") from None
        found = [one for one in found if one.started // 1000 >= earliest]
    if query.get("template"):
        if ":" in query["template"]:
            raise ApiError(400, f"Invalid template: {query['template']}")
        template = service.template(query["template"])
        found = [one for one in found if one.template is template]
    return found


async def list_older(service, _request, raw_query):
    wanted = metadata_filter(parse_query(raw_query))
    found = [one for one in live(service)
             if one.state == "running" and matches(one, wanted)]
    found.sort(key=lambda one: key_of(one, "desc"))
    return ok(200, [listed(one) for one in found])
