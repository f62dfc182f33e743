#!/usr/bin/python3
"""Turns recorded requests of the official SDK into lines for test/support/vectors.c.

    convert.py REQUESTS.jsonl LEFT_OUT.txt OUT.txt

One line is one request (for its form see test/vectors/convert.py): call, sdk,
envd, seq, target, method, path, header.NAME for the headers that are compared,
enveloped for a Connect envelope, and the body as canonical JSON: names sorted,
no blanks, nothing escaped that need not be. left_out holds the reason why a
request is not compared. A pattern that fits no request is an error.
"""

import fnmatch
import json
import os
import sys

COMPARED = {
    "x-api-key", "x-access-token", "authorization", "content-type", "content-encoding",
    "connect-protocol-version", "connect-timeout-ms", "keepalive-ping-interval",
    "e2b-sandbox-id", "e2b-sandbox-port",
}


def canonical(text):
    return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def message(request):
    """The JSON of the one envelope that a streaming call sends."""
    (only,) = request["messages"]
    raw = bytes.fromhex(request["body"])
    if only["flags"] != 0 or raw[:5] != bytes([0]) + len(raw[5:]).to_bytes(4, "big") or raw[5:] != only["json"].encode():
        raise ValueError(f"{request['call']}: not one plain envelope")
    return canonical(only["json"])


def fields(request, reason):
    for name in ("call", "sdk", "envd", "target", "method", "path"):
        yield name, request[name]
    yield "seq", str(request["seq"])
    for name, value in request["headers"].items():
        if name.lower() in COMPARED or name.lower().startswith("x-metadata-"):
            yield "header." + name.lower(), value
    if reason:
        yield "left_out", reason
    elif "messages" in request:
        yield "enveloped", "true"
        yield "body", message(request)
    elif request["body_encoding"] != "none":
        yield "body", canonical(request["body"])


def read_patterns(name):
    with open(name, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                pattern, _, reason = line.strip().partition(": ")
                yield pattern, reason


def main():
    source, left_out, target = sys.argv[1:]
    patterns = dict(read_patterns(left_out))
    unused = set(patterns)
    part = f"{target}.{os.getpid()}"
    with open(source, encoding="utf-8") as requests, open(part, "w", encoding="ascii") as out:
        for line in requests:
            request = json.loads(line)
            name = f"{request['sdk']} {request['envd']} {request['call']}"
            fitting = [pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)]
            unused.difference_update(fitting)
            if len(fitting) > 1:
                raise ValueError(f"{name}: left out twice")
            reason = patterns[fitting[0]] if fitting else ""
            out.write(" ".join(f"{key}={value.encode().hex()}" for key, value in fields(request, reason)) + "\n")
    if unused:
        raise ValueError(f"{left_out}: no request fits {sorted(unused)}")
    os.replace(part, target)


main()
