#!/usr/bin/python3
"""Writes the inputs that fuzzing starts from.

    seeds.py RECORDINGS OUT

They come from the recorded replies in RECORDINGS; OUT gets a folder for each
target. What each target's input looks like stands in its source file.
"""

import base64
import json
import os
import sys

recordings, out = sys.argv[1:]
sys.path.insert(0, recordings)
import framing  # noqa: E402

LARGEST = 6000

counts = {}


def seed(target, data):
    if len(data) > LARGEST:
        return
    folder = os.path.join(out, target)
    os.makedirs(folder, exist_ok=True)
    counts[target] = counts.get(target, 0) + 1
    with open(os.path.join(folder, f"{counts[target]:04}"), "wb") as file:
        file.write(data)


def number(value):
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])


# ---- Steps of port/memory/memory_script.h -------------------------------------

ACCEPT, DATA, REQUEST, END, ADVANCE = b"\x00", b"\x03", b"\x0b", b"\x08", b"\x07"


def answer(data):
    return REQUEST + DATA + number(len(data)) + data


# ---- Of fuzz_client.c: four bytes of settings, an action a pair, the script ----

(ASSUME, CREATE, REFER, ATTACH, CONNECT, RESUME, INFO, LIST_OPEN, LIST_NEXT, LIST_CLOSE, START, START_INPUT, SHELL, JOIN, NEXT,
 WAIT, SEND, END_INPUT, SIGNAL, CLOSE, PROCESSES_OPEN, PROCESSES_NEXT, PROCESSES_CLOSE, RUN, HEALTH, TIMEOUT, PAUSE,
 SETTLE, KILL) = range(29)


def client(settings, actions, script):
    pairs = b"".join(bytes(pair) for pair in actions)
    seed("fuzz_client", bytes(settings) + bytes([len(actions)]) + pairs + script)


CREATED = (b'HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n', b'{"sandboxID":"i0123456789abcdefghij","envdVersion":"0.6.13",'
           b'"envdAccessToken":"' + b"0123456789abcdef" * 4 + b'","domain":null,"clientID":"x","templateID":"base"}')
CREATED = CREATED[0] % len(CREATED[1]) + CREATED[1]
GONE = b"HTTP/1.1 204 No Content\r\n\r\n"
PROCESS_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


def control_plane(request, reply):
    route = request.split(b" HTTP/")[0]
    calls = [(HEALTH, 0)]
    if b"POST /sandboxes " in request or b"POST /v2/sandboxes " in request:
        calls = [(CREATE, 0), (KILL, 0)]
    elif b"GET /v2/sandboxes" in route:
        calls = [(LIST_OPEN, 7)] + [(LIST_NEXT, 0)] * 3
    elif route.startswith(b"GET /sandboxes/"):
        calls = [(ATTACH, 0), (INFO, 9)]
    elif route.startswith(b"DELETE"):
        calls = [(REFER, 0), (KILL, 0)]
    elif b"/connect" in route:
        calls = [(CONNECT, 0), (RESUME, 0)]
    elif b"/timeout" in route:
        calls = [(REFER, 0), (TIMEOUT, 9)]
    elif b"/pause" in route:
        calls = [(REFER, 0), (PAUSE, 1)]
    client([1, 0, 0], calls, ACCEPT + answer(reply) + answer(reply))
    client([2, 9, 1], calls + [(KILL, 0)], ACCEPT + answer(reply) + END + ACCEPT + answer(reply) + ACCEPT + answer(GONE))


def daemon(request, reply):
    binary = b"proto" in request.split(b"\r\n\r\n")[0]
    codec = 8 if binary else 0
    if b"/Start " in request or b"/Connect " in request:
        calls = [(START, 0)] + [(NEXT, 5)] * 6 + [(CLOSE, 0)]
        client([1 | codec, 0, 0], [(ASSUME, 0)] + calls, ACCEPT + answer(reply))
        client([3 | codec, 9, 2], [(ASSUME, 0), (START_INPUT, 0), (SEND, 40), (NEXT, 3), (SEND, 200), (WAIT, 5), (END_INPUT, 0),
                                   (NEXT, 200), (NEXT, 200), (SIGNAL, 0), (RUN, 3), (KILL, 0)],
               ACCEPT + answer(reply) + ACCEPT + answer(PROCESS_OK) + answer(PROCESS_OK) + answer(PROCESS_OK) + ACCEPT + answer(reply))
        reply_body = framing.Reply(reply).body
        seed("fuzz_stream", bytes([binary, 1]) + reply_body)
        payloads = [payload for flags, payload, _, whole in framing.messages(framing.Reply(reply)) if whole and not flags]
        seed("fuzz_process_reader", bytes([binary, 5]) + b"".join(len(p).to_bytes(2, "big") + p for p in payloads if len(p) < 65536))
    elif b"/List " in request:
        client([1, 0, 0], [(ASSUME, 0), (PROCESSES_OPEN, 3)] + [(PROCESSES_NEXT, 0)] * 4, ACCEPT + answer(reply))
    elif b"/SendSignal " in request:
        client([1, 0, 0], [(ASSUME, 0), (SIGNAL, 1)], ACCEPT + answer(reply))
    else:
        client([1, 0, 0], [(ASSUME, 0), (HEALTH, 0)], ACCEPT + answer(reply))


def read(name, use):
    with open(os.path.join(recordings, name), encoding="utf-8") as lines:
        for line in lines:
            exchange = json.loads(line)
            request = b"".join(base64.b64decode(part) for _, part in exchange["sent"])
            reply = b"".join(base64.b64decode(part) for _, part in exchange["received"])
            if b"\r\n\r\n" not in request or b"\r\n\r\n" not in reply:
                continue
            seed("fuzz_http", b"\x06" + reply)
            body = framing.Reply(reply).body
            if body[:1] in (b"{", b"["):
                seed("fuzz_json", b"\x03" + body)
            use(request, reply)


read("control-plane-recordings.jsonl", control_plane)
read("envd-recordings.jsonl", daemon)

# Answers lost, and looked for.
TAG = b"[]"
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"
client([2, 0, 0], [(CREATE, 0), (SETTLE, 50), (KILL, 0)], ACCEPT + REQUEST + b"\x0a" + ACCEPT + answer(EMPTY) * 4 + ACCEPT + answer(EMPTY) * 4)
client([3, 0, 4], [(CREATE, 0), (START_INPUT, 0), (SEND, 90), (NEXT, 0), (RESUME, 0), (NEXT, 5), (KILL, 0)],
       ACCEPT + answer(CREATED) + answer(GONE))

for text in (b"http://localhost:3000", b"https://api.e2b.app/base/", b"http://[::1]:8080/x", b"http://a.b:0", b"fe80::1%eth0"):
    seed("fuzz_url", text)
    for which in (1, 2, 4, 8, 16, 32, 255):
        seed("fuzz_url", bytes([250, which]) + text)
for text in (b"2026-03-04T05:06:07Z", b"2026-12-31T23:59:60.123456789+00:00", b"1h30m", b"2d", b"250ms", b"90", b"5.36870912e9",
             b"-0.0", b"-9223372036854775808", b"1e18"):
    seed("fuzz_date", text)
for text in (b"YWJj", b"YQ==", b"YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=", b"YW Jj\nZGU="):
    seed("fuzz_base64", b"\x00" + text)
    seed("fuzz_base64", b"\x0b" + text)
seed("fuzz_marker", b"\x14\x04\x09aabaaabaabaaabaabaxx")
seed("fuzz_marker", b"\x03\x08\x00--mark--noise --mar --mark--payload")
for text in (b'{"a":"b","c\\u0041":"\\n\\ud83d\\ude00"}', b'["a","\\"",""]', b'{ "x" : "y" , "z" : "" }', b'{"a":1}', b"[]"):
    seed("fuzz_pairs", text)
