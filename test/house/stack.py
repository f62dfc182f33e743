"""Reads the call graph that gcc wrote beside the objects and prints what breaks
the stack rules of lib/: a function over 1 KiB, recursion, a chain over 4 KiB.

    stack.py OBJECTS [--deepest]    with --deepest: print the deepest chain

A call through a pointer ends a chain, with one exception: llhttp calls back
into lib/wire, so its indirect calls are taken to reach each function there
whose address is all that anyone uses (no direct call leads to it).
"""

import pathlib
import re
import sys

FUNCTION_LIMIT = 1024
CHAIN_LIMIT = 4096
INDIRECT = "__indirect_call"

NODE = re.compile(r'node: \{ title: "([^"]+)" label: "([^"]*)"')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')
SIZE = re.compile(r"(\d+) bytes \((\w+(?:,\w+)?)\)")


def load(objects):
    """Stack by function, callees by function, and where each one is from."""
    stack, calls, origin, dynamic = {}, {}, {}, set()
    for folder in ("lib", "llhttp"):
        for path in sorted((objects / folder).rglob("*.ci")):
            text = path.read_text()
            for title, label in NODE.findall(text):
                size = SIZE.search(label)
                if size:
                    stack[title] = int(size.group(1))
                    origin[title] = f"{folder}/{path.relative_to(objects / folder)}"
                    if size.group(2) == "dynamic":
                        dynamic.add(title)
            for source, target in EDGE.findall(text):
                calls.setdefault(source, set()).add(target)
    return stack, calls, origin, dynamic


def short(title):
    return title.rsplit(":", 1)[-1]


def connect_callbacks(stack, calls, origin):
    called = {target for targets in calls.values() for target in targets}
    callbacks = {f for f in stack if f not in called and ":" in f and origin[f].startswith("lib/wire/")}
    for function, targets in calls.items():
        if INDIRECT in targets and origin.get(function, "").startswith("llhttp/"):
            targets |= callbacks


def deepest(stack, calls):
    """The deepest chain from each function on, and the cycles that were met."""
    best, cycles = {}, []
    for root in stack:
        path, pending = [], [(root, False)]
        while pending:
            function, leaving = pending.pop()
            if leaving:
                path.pop()
                below = [best[c] for c in calls.get(function, ()) if c in best and c != function]
                tail = max(below, default=(0, ()))
                best[function] = (stack[function] + tail[0], (function,) + tail[1])
                continue
            if function in best:
                continue
            if function in path:
                cycle = path[path.index(function):] + [function]
                cycles.append(" -> ".join(short(f) for f in cycle))
                continue
            path.append(function)
            pending.append((function, True))
            pending.extend((c, False) for c in calls.get(function, ()) if c in stack)
    return best, cycles


def main():
    objects = pathlib.Path(sys.argv[1])
    stack, calls, origin, dynamic = load(objects)
    if not any(place.startswith("lib/") for place in origin.values()):
        print(f"no call graph of lib/ under {objects}")
        return
    connect_callbacks(stack, calls, origin)
    best, cycles = deepest(stack, calls)
    depth, chain = max(best.values())
    if "--deepest" in sys.argv:
        print(f"{depth} bytes: " + " -> ".join(f"{short(f)} {stack[f]}" for f in chain))
        return
    for function in sorted(stack):
        if not origin[function].startswith("lib/"):
            continue
        if stack[function] > FUNCTION_LIMIT:
            print(f"{origin[function]}: {short(function)} takes {stack[function]} bytes of stack")
        if function in dynamic:
            print(f"{origin[function]}: {short(function)} takes stack whose size is not fixed")
    for cycle in sorted(set(cycles)):
        print(f"recursion: {cycle}")
    if depth > CHAIN_LIMIT:
        print(f"a chain takes {depth} bytes: " + " -> ".join(f"{short(f)} {stack[f]}" for f in chain))


main()
