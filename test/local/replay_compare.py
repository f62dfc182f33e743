"""What "the same answer" means: ids, tokens, dates, times and process ids may
differ but have to keep their shape and be used alike."""

import gzip
import json
import re

import process_messages
import protobuf
from recorded import envelopes

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
TOKEN = re.compile("[0-9a-f]{64}")
SANDBOX_ID = re.compile("i[a-z0-9]{20}")
VOLATILE_HEADERS = {"date", "content-length", "x-next-token"}


class Different(Exception):
    pass


class Names:
    """Which actual id or token stands for which recorded one."""

    def __init__(self):
        self.actual = {}
        self.pids = {}

    def learn(self, recorded, actual):
        if recorded not in self.actual and actual not in self.actual.values():
            self.actual[recorded] = actual

    def translate(self, data):
        for recorded, actual in self.actual.items():
            data = data.replace(recorded.encode(), actual.encode())
        return data


def expect(what, recorded, actual):
    if recorded != actual:
        raise Different(f"{what}: recorded {shorten(recorded)}, got {shorten(actual)}")


def shorten(value):
    text = repr(value)
    return text if len(text) < 400 else text[:200] + " ... " + text[-200:]


def compare_heads(recorded, actual):
    expect("version", recorded.version, actual.version)
    expect("status", recorded.status, actual.status)
    expect("header names", sorted(recorded.headers), sorted(actual.headers))
    for name, value in recorded.headers.items():
        if name not in VOLATILE_HEADERS:
            expect(name, value, actual.headers[name])
    if "content-length" in actual.headers and actual.body:
        expect("content-length", int(actual.headers["content-length"]),
               len(actual.body))


def compare_api(recorded, actual, names):
    compare_heads(recorded, actual)
    if not recorded.body.startswith((b"{", b"[")):
        expect("body", recorded.body, actual.body)
        return
    learn_names(json.loads(recorded.body), json.loads(actual.body), names)
    recorded_text = names.translate(recorded.body).decode()
    actual_text = actual.body.decode()
    same_value(json.loads(recorded_text), json.loads(actual_text), "body")
    # The order of keys and the escapes are the server's too.
    expect("body text", TIME.sub("TIME", recorded_text), TIME.sub("TIME", actual_text))


def learn_names(recorded, actual, names):
    if isinstance(recorded, list) and isinstance(actual, list):
        for pair in zip(recorded, actual):
            learn_names(*pair, names)
    elif isinstance(recorded, dict) and isinstance(actual, dict):
        for key, shape in (("sandboxID", SANDBOX_ID), ("envdAccessToken", TOKEN),
                           ("trafficAccessToken", TOKEN)):
            if key in recorded and shape.fullmatch(str(actual.get(key))):
                names.learn(recorded[key], actual[key])


def same_value(recorded, actual, where):
    if isinstance(recorded, dict) and isinstance(actual, dict):
        expect(where + " keys", list(recorded), list(actual))
        for key in recorded:
            same_value(recorded[key], actual[key], f"{where}.{key}")
    elif isinstance(recorded, list) and isinstance(actual, list):
        expect(where + " length", len(recorded), len(actual))
        for index, pair in enumerate(zip(recorded, actual)):
            same_value(*pair, f"{where}[{index}]")
    elif isinstance(recorded, str) and TIME.fullmatch(recorded):
        if not isinstance(actual, str) or not TIME.fullmatch(actual):
            raise Different(f"{where}: {actual!r} is not a time")
    else:
        expect(where, recorded, actual)


def compare_envd(recorded, actual, names):
    compare_heads(recorded, actual)
    content_type = recorded.headers.get("content-type", "")
    if content_type.startswith("application/connect+"):
        compare_streams(recorded, actual, content_type, names)
        return
    bodies = []
    for answer in (recorded, actual):
        body = answer.body
        if answer.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        bodies.append(body)
    if content_type == "application/proto":
        bodies = [protobuf.decode_binary(process_messages.LIST_RESPONSE, body)
                  for body in bodies]
        for process, other in zip(*(body.get("processes", []) for body in bodies)):
            same_pid(process.pop("pid"), other.pop("pid"), names)
        expect("message", *bodies)
    else:
        expect("body", *(without_pids(body) for body in bodies))


def without_pids(body):
    """The order of processes in a list is not defined."""
    text = re.sub(rb'"pid":\d+', b'"pid":0', body)
    if not text.startswith(b'{"processes":['):
        return text
    return sorted(re.split(rb'(?<=\}), (?=\{"config")',
                           text[len(b'{"processes":['):-len(b"]}")]))


def same_pid(recorded, actual, names):
    if names.pids.setdefault(recorded, actual) != actual:
        raise Different(f"pid {recorded} was {names.pids[recorded]}, is {actual}")


def compare_streams(recorded, actual, content_type, names):
    check_chunks(actual)
    expect("events", normal_events(recorded, content_type, None),
           normal_events(actual, content_type, None))
    pids = [normal_events(answer, content_type, "pids") for answer in (recorded, actual)]
    for pair in zip(*pids):
        same_pid(*pair, names)


def check_chunks(answer):
    """Each envelope starts a chunk, one of more than 2048 bytes takes two."""
    if answer.chunks is None:
        return
    at = 0
    sizes = []
    while at < len(answer.body):
        length = 5 + int.from_bytes(answer.body[at + 1:at + 5], "big")
        sizes += [length] if length <= 2048 else [2048, length - 2048]
        at += length
    expect("chunks", sizes, [len(chunk) for chunk in answer.chunks])


def normal_events(answer, content_type, what):
    """Data joined for each stream, with the other events in their order."""
    joined, others, pids = {}, [], []
    for flags, payload in envelopes(answer.body):
        if flags & 2:
            others.append((flags, payload))
            continue
        if content_type.endswith("proto"):
            message = protobuf.decode_binary(process_messages.EVENT_RESPONSE, payload)
        else:
            message = protobuf.decode_json(process_messages.EVENT_RESPONSE, payload)
        event = message.get("event", {})
        if "data" in event:
            for name, piece in event["data"].items():
                joined[name] = joined.get(name, b"") + piece
        elif "keepalive" in event:
            # How many there are depends on the machine's load.
            if ("keepalive", payload) not in others:
                others.append(("keepalive", payload))
        elif "start" in event:
            pids.append(event["start"].pop("pid"))
            others.append((flags, "start", message))
        else:
            others.append((flags, payload))
    return pids if what == "pids" else (others, joined)
