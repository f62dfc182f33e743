#!/usr/bin/python3
"""Turns a vector file into lines that test/support/vectors.c can read.

    convert.py IN.json OUT.txt

One line is one vector. Its fields are name=hex, separated by single spaces. A
name is the path of keys joined by dots; a list gives its name once for each
item, lists inside lists as one. Texts are hex of their UTF-8, numbers and
booleans hex of their JSON form. null is left out.
"""

import json
import os
import sys


def flatten(name, value):
    if isinstance(value, dict):
        for key, member in value.items():
            if not key or set(key) & set(" =\n"):
                raise ValueError(f"{name}: the key {key!r} can't be part of a name")
            yield from flatten(f"{name}.{key}" if name else key, member)
    elif isinstance(value, list):
        for item in value:
            yield from flatten(name, item)
    elif isinstance(value, str):
        yield name, value.encode("utf-8", "surrogatepass")
    elif value is not None:
        yield name, json.dumps(value).encode()


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        vectors = json.load(file)["vectors"]
    part = f"{target}.{os.getpid()}"
    with open(part, "w", encoding="ascii") as file:
        for vector in vectors:
            fields = (f"{name}={value.hex()}" for name, value in flatten("", vector))
            file.write(" ".join(fields) + "\n")
    os.replace(part, target)


main()
