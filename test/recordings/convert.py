#!/usr/bin/python3
"""Joins recorded replies with the call that each of them answers.

    convert.py RECORDINGS.jsonl CALLS.txt OUT.txt

OUT.txt has a line for each line of CALLS.txt, in the form that
test/support/vectors.c reads: name=hex, lists by repeating the name. What the
call must give is worked out here, from the reply, with Python's own JSON.

CALLS.txt says: the recording (NAME#2: the second answer on that connection),
the call, the error that the documents name for it, and perhaps then=NAME, the
reply to a second request of the same call. After a line "left out:" stand the
recordings that have no call, each with a reason; NAME* stands for many. Every
recording must be on one of the two lists, and none whose request is one of
ours may be left out.
"""

import base64
import datetime
import fnmatch
import json
import os
import re
import sys

from framing import CODES, Reply, stream

# What a user may ask of us today.
IN_SCOPE = (
    r"(GET|POST|DELETE) /sandboxes(/[^/ ]+(/(connect|timeout|pause|resume))?)?(\?\S*)? HTTP/1.1",
    r"GET /v2/sandboxes(\?\S*)? HTTP/1.1",
    r"\S+ /process\.Process/(?!StreamInput|Update|Nope)\S+ HTTP/1.1",
    r"(GET|DELETE) /health HTTP/1.[01]",
)
STATES = {"running": 1, "paused": 2}


def member_texts(text):
    """The members of a JSON object as they stand there."""
    decoder, found = json.JSONDecoder(), {}
    at = text.index("{") + 1
    while True:
        while text[at] in " ,\n":
            at += 1
        if text[at] == "}":
            return found
        key, at = decoder.raw_decode(text, at)
        at = text.index(":", at) + 1
        while text[at] == " ":
            at += 1
        _, end = decoder.raw_decode(text, at)
        found[key] = text[at:end]
        at = end


def elements(text):
    """The elements of a JSON array as they stand there."""
    decoder, at = json.JSONDecoder(), text.index("[") + 1
    while True:
        while text[at] in " ,\n":
            at += 1
        if text[at] == "]":
            return
        _, end = decoder.raw_decode(text, at)
        yield text[at:end]
        at = end


def milliseconds(date):
    whole, fraction = re.fullmatch(r"(.*?)(?:\.(\d+))?Z", date).groups()
    moment = datetime.datetime.fromisoformat(whole + "+00:00")
    return int(moment.timestamp()) * 1000 + int((fraction or "0").ljust(3, "0")[:3])


def three_valued(value):
    return 0 if value is None else 1 if value else 2


def sandbox_line(text):
    said = json.loads(text)
    return "id={} token={} traffic={} domain={} version={}".format(
        said["sandboxID"], said.get("envdAccessToken") or "", said.get("trafficAccessToken") or "",
        said.get("domain") or "e2b.app", said["envdVersion"])


def info_line(text):
    said, texts = json.loads(text), member_texts(text)
    life = said.get("lifecycle") or {}
    return ("id={} template={} alias={} version={} state={} started={} end={} cpu={} memory={} disk={} internet={}"
            " pause={} resume={} metadata={} network={}").format(
        said["sandboxID"], said["templateID"], said.get("alias", ""), said["envdVersion"], STATES[said["state"]],
        milliseconds(said["startedAt"]), milliseconds(said["endAt"]), said["cpuCount"], said["memoryMB"],
        said["diskSizeMB"], three_valued(said.get("allowInternetAccess")),
        three_valued(life["onTimeout"] == "pause" if "onTimeout" in life else None),
        three_valued(life.get("autoResume")), texts.get("metadata", ""), texts.get("network", ""))


def process_line(text):
    said = json.loads(text)
    config = member_texts(member_texts(text)["config"])
    return "pid={} cmd={} cwd={} tag={} args={} env={}".format(
        said["pid"], said["config"]["cmd"], said["config"].get("cwd", ""), said.get("tag", ""),
        config.get("args", ""), config.get("envs", ""))


def lines(call, reply):
    """What a call that succeeds gives, a line for each result."""
    if call not in ("create", "connect", "resume", "info", "list", "processes"):
        return []
    text = reply.body.decode()
    if call in ("create", "connect", "resume"):
        return [sandbox_line(text)]
    if call == "info":
        return [info_line(text)]
    if call == "list":
        return [info_line(item) for item in elements(text)]
    return [process_line(item) for item in elements(member_texts(text).get("processes", "[]"))]


def spoken(reply, error):
    """The words of a refusal, and the code of Connect."""
    if error is None and reply.status >= 300:
        try:
            error = json.loads(reply.body)
        except ValueError:
            return reply.body.decode("latin-1"), 0
    if not isinstance(error, dict):
        return "", 0
    code = error.get("code")
    return error.get("message", ""), CODES.index(code) + 1 if isinstance(code, str) else 0


def recognisable(message):
    """A part of the message that no cleaning of the text changes."""
    return max(re.findall(r"[ -~]*", message[:60]), key=len).rstrip()


class Recordings:
    def __init__(self, path):
        self.by_name = {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                said = json.loads(line)
                said["sent"] = b"".join(base64.b64decode(piece) for _, piece in said["sent"])
                said["received"] = b"".join(base64.b64decode(piece) for _, piece in said["received"])
                self.by_name.setdefault(said["name"], []).append(said)

    def reply(self, name):
        """The request line, the bytes of the reply and its framing."""
        name, _, number = name.partition("#")
        said = self.by_name[name][0]
        requests = re.findall(rb"(?:GET|POST|PUT|DELETE|HEAD) \S+ HTTP/1\.[01]\r\n", said["sent"])
        data = said["received"]
        for _ in range(int(number or 1) - 1):
            data = data[Reply(data).complete:]
        request = requests[int(number or 1) - 1].decode().strip()
        reply = Reply(data, request.split(" ")[0])
        if number and reply.complete is not None:
            data = data[:reply.complete]
        return request, data, reply

    def check(self, calls, left_out):
        for name, many in self.by_name.items():
            mapped = [call for call in calls if call.partition("#")[0] == name]
            reasons = [pattern for pattern in left_out if fnmatch.fnmatchcase(name, pattern)]
            request = many[0]["sent"].split(b"\r\n", 1)[0].decode("latin-1")
            if len(many) != 1:
                raise SystemExit(f"{name}: recorded more than once")
            if not mapped and not reasons:
                raise SystemExit(f"{name}: neither answers a call nor is left out with a reason ({request})")
            if mapped and reasons:
                raise SystemExit(f"{name}: answers a call and is left out at once")
            if reasons and any(re.fullmatch(pattern, request) for pattern in IN_SCOPE):
                raise SystemExit(f"{name}: is one of our calls and can't be left out ({request})")
        for pattern in left_out:
            if not fnmatch.filter(self.by_name, pattern):
                raise SystemExit(f"{pattern}: left out, but there is no such recording")


def read_calls(path):
    calls, left_out, current = {}, {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.split("#!")[0].strip()
            if line == "left out:":
                current = left_out
            elif line and not line.startswith("# "):
                name, *rest = line.split(None, 1 if current is not None else -1)
                if current is not None:
                    left_out[name] = rest[0]
                else:
                    if name in calls:
                        raise SystemExit(f"{name}: twice in {path}")
                    calls[name] = rest
    return calls, left_out


def row(recordings, name, call, result, *more):
    request, data, reply = recordings.reply(name)
    options = dict(option.split("=") for option in more)
    yield "name", name
    yield "request", request
    yield "call", call
    yield "result", result
    yield "bytes", data
    yield "status", reply.status
    yield "head", reply.head
    yield "retry_after", reply.headers.get("retry-after", 0)
    if reply.complete is not None:
        yield "complete", reply.complete
    if reply.close:
        yield "close", 1
    error = None
    binary = reply.headers.get("content-type", "").endswith("proto")
    yield "binary", int(binary)
    if call in ("start", "process-connect") and reply.status == 200:
        said = stream(reply, binary)
        error = said["error"]
        yield "stream", 1
        for key in ("started", "ended", "finished", "compressed", "pid", "stdout", "stderr", "pty"):
            if key in said:
                yield key, said[key]
        for mark in said["marks"]:
            yield "mark", " ".join(map(str, mark))
        if said["end"]:
            end = said["end"]
            yield "exit_code", end.get("exitCode", 0)
            yield "exited", int(end.get("exited", False))
            yield "exit_status", end.get("status", "")
    if call in ("create", "connect", "resume") and result == "E2B_OK":
        at = reply.body.find(b'"sandboxID":"')
        if at >= 0:
            yield "id_at", reply.position(reply.body.index(b'"', at + 13) + 1)
    message, rpc = spoken(reply, error)
    yield "message", recognisable(message)
    yield "rpc", rpc
    last = reply
    if "then" in options:
        _, then, last = recordings.reply(options["then"])
        yield "then", then
        if call == "list":
            last = reply
    elif call == "list" and "x-next-token" in reply.headers:
        raise SystemExit(f"{name}: the next page is asked for: then=... is missing")
    if result == "E2B_OK":
        for line in lines(call, last):
            yield "line", line


def as_bytes(value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def main():
    source, table, target = sys.argv[1:]
    recordings = Recordings(source)
    calls, left_out = read_calls(table)
    recordings.check(calls, left_out)
    part = f"{target}.{os.getpid()}"
    with open(part, "w", encoding="ascii") as file:
        for name, rest in calls.items():
            cells = (f"{key}={as_bytes(value).hex()}" for key, value in row(recordings, name, *rest))
            file.write(" ".join(cells) + "\n")
    os.replace(part, target)


main()
