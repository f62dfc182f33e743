"""Protobuf messages as dictionaries, in the binary and the JSON encoding.

A dictionary holds only the fields that are set, under their proto names. Reading
follows protojson: both spellings of a name, null is absent, unknown fields are
skipped, numbers may be text. Writing leaves out defaults.
"""

import binascii
import json
import re

NBSP = "\u00a0"  # Go's protobuf library puts it after "proto:" in error text


class DecodeError(Exception):
    """text is what the Go library says, without the leading "proto:"."""


class Field:
    def __init__(self, number, name, kind, *, repeated=False, optional=False,
                 values=None):
        """kind is a scalar type, "map" (of strings), "enum" (values given) or a
        Message; optional fields and oneof members are written when set."""
        self.number = number
        self.name = name
        self.kind = kind
        self.repeated = repeated
        self.optional = optional
        self.values = values
        self.json_name = re.sub("_(.)", lambda m: m.group(1).upper(), name)


class Message:
    def __init__(self, name, *fields):
        self.name = name
        self.fields = fields
        self.by_number = {field.number: field for field in fields}
        self.by_json_name = {}
        for field in fields:
            self.by_json_name[field.name] = field
            self.by_json_name[field.json_name] = field


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise DecodeError("cannot parse invalid wire-format data")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def length_delimited(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def encode_binary(message, value):
    out = []
    for field in message.fields:
        item = value.get(field.name)
        if item is None:
            continue
        if field.kind == "map":
            for key, text in item.items():
                entry = (length_delimited(1, key.encode()) +
                         length_delimited(2, text.encode()))
                out.append(length_delimited(field.number, entry))
        elif field.repeated:
            out += [_encode_field(field, one) for one in item]
        elif item or field.optional or isinstance(field.kind, Message):
            out.append(_encode_field(field, item))
    return b"".join(out)


def _encode_field(field, item):
    kind = field.kind
    if isinstance(kind, Message):
        return length_delimited(field.number, encode_binary(kind, item))
    if kind == "string":
        return length_delimited(field.number, item.encode())
    if kind == "bytes":
        return length_delimited(field.number, item)
    number = int(item)
    if kind == "sint32":
        number = (number << 1) ^ (number >> 31)
    return varint(field.number << 3) + varint(number & 0xFFFFFFFFFFFFFFFF)


def decode_binary(message, data):
    value = {}
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            raw, at = read_varint(data, at)
        elif wire in (1, 2, 5):
            size = {1: 8, 5: 4}.get(wire)
            if size is None:
                size, at = read_varint(data, at)
            raw = data[at:at + size]
            at += size
            if at > len(data):
                raise DecodeError("cannot parse invalid wire-format data")
        else:
            raise DecodeError("cannot parse invalid wire-format data")
        field = message.by_number.get(number)
        if number == 0:
            raise DecodeError("cannot parse invalid wire-format data")
        if field is not None and wire == (0 if _is_varint(field.kind) else 2):
            _store(value, field, raw)
    return value


def _is_varint(kind):
    return kind in ("uint32", "sint32", "int64", "bool", "enum")


def _store(value, field, raw):
    kind = field.kind
    if kind == "map":
        entry = decode_binary(MAP_ENTRY, raw)
        value.setdefault(field.name, {})[entry.get("key", "")] = entry.get("value", "")
        return
    item = _from_wire(field, raw)
    if field.repeated:
        value.setdefault(field.name, []).append(item)
    elif isinstance(kind, Message) and field.name in value:
        value[field.name].update(item)
    else:
        value[field.name] = item


def _from_wire(field, raw):
    kind = field.kind
    if isinstance(kind, Message):
        return decode_binary(kind, raw)
    if kind == "string":
        try:
            return str(raw, "utf-8")
        except UnicodeDecodeError:
            raise DecodeError("string field contains invalid UTF-8") from None
    if kind == "bytes":
        return bytes(raw)
    if kind == "bool":
        return raw != 0
    if kind == "sint32":
        raw &= 0xFFFFFFFF
        return (raw >> 1) ^ -(raw & 1)
    if kind == "int64":
        return raw - (1 << 64) if raw >> 63 else raw
    return raw & 0xFFFFFFFF


MAP_ENTRY = Message("MapEntry", Field(1, "key", "string"), Field(2, "value", "string"))


def encode_json(message, value):
    # This daemon's build puts one space after each comma and none after a colon.
    return json.dumps(_to_json(message, value), separators=(", ", ":"),
                      ensure_ascii=False).encode()


def _to_json(message, value):
    out = {}
    for field in message.fields:
        item = value.get(field.name)
        if item is None:
            continue
        if field.repeated:
            if item:
                out[field.json_name] = [_json_item(field, one) for one in item]
        elif item or field.optional or isinstance(field.kind, Message):
            out[field.json_name] = _json_item(field, item)
    return out


def _json_item(field, item):
    kind = field.kind
    if isinstance(kind, Message):
        return _to_json(kind, item)
    if kind == "bytes":
        return binascii.b2a_base64(item, newline=False).decode()
    if kind == "int64":
        return str(item)
    if kind == "enum":
        return field.values.get(item, item)
    return item


def decode_json(message, data):
    if not data:
        # The one text here that does not come from the protobuf library.
        raise ValueError("zero-length payload is not a valid JSON object")
    try:
        text = str(data, "utf-8")
    except UnicodeDecodeError:
        raise DecodeError("syntax error (line 1:1): invalid UTF-8") from None
    try:
        value = json.loads(text, parse_constant=_no_constant,
                           object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            raise DecodeError("unexpected EOF") from None
        raise DecodeError(f"syntax error (line {error.lineno}:{error.colno}): "
                          f"unexpected token {text[error.pos:error.pos + 8]}") from None
    except RecursionError:
        raise DecodeError("exceeded max recursion depth") from None
    return _from_json(message, value, text)


def _no_constant(name):
    raise DecodeError(f"syntax error (line 1:1): invalid value {name}")


def _object(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        seen = set()
        for name, _ in pairs:
            if name in seen:
                raise DecodeError(f"(line 1:1): duplicate field \"{name}\"")
            seen.add(name)
    return value


def _from_json(message, value, text):
    if not isinstance(value, dict):
        raise DecodeError(f"syntax error (line 1:1): unexpected token {json.dumps(value)}")
    out = {}
    for name, item in value.items():
        field = message.by_json_name.get(name)
        if field is None or item is None:
            continue
        if field.name in out:
            raise DecodeError(f"(line 1:1): duplicate field \"{name}\"")
        if field.kind == "map":
            if not isinstance(item, dict) or not all(
                    isinstance(one, str) for one in item.values()):
                raise _invalid(field, item, text)
            out[field.name] = item
        elif field.repeated:
            if not isinstance(item, list):
                raise _invalid(field, item, text)
            out[field.name] = [_scalar(field, one, text) for one in item]
        else:
            out[field.name] = _scalar(field, item, text)
    return out


def _scalar(field, item, text):
    kind = field.kind
    if isinstance(kind, Message):
        return _from_json(kind, item, text)
    if kind == "string" and isinstance(item, str):
        return item
    if kind == "bool" and isinstance(item, bool):
        return item
    if kind == "bytes" and isinstance(item, str):
        return _base64(field, item, text)
    if kind == "enum":
        if isinstance(item, str):
            numbers = {name: number for number, name in field.values.items()}
            return numbers.get(item, 0)
        if isinstance(item, int) and not isinstance(item, bool):
            return item
    if kind in ("uint32", "sint32", "int64"):
        return _integer(field, item, text)
    raise _invalid(field, item, text)


def _base64(field, item, text):
    try:
        plain = item.translate(URL_SAFE)
        if len(plain) % 4:
            plain = plain.rstrip("=")
            plain += "=" * (-len(plain) % 4)
        return binascii.a2b_base64(plain, strict_mode=True)
    except (binascii.Error, ValueError):
        raise _invalid(field, item, text) from None


URL_SAFE = str.maketrans("-_", "+/")
RANGES = {"uint32": (0, 2**32 - 1), "sint32": (-2**31, 2**31 - 1),
          "int64": (-2**63, 2**63 - 1)}


def _integer(field, item, text):
    number = item
    try:
        if isinstance(item, str):
            number = int(item, 10)
        elif isinstance(item, float):
            number = int(item)
            if number != item:
                raise ValueError
        elif isinstance(item, bool) or not isinstance(item, int):
            raise ValueError
    except (ValueError, OverflowError):
        raise _invalid(field, item, text) from None
    low, high = RANGES[field.kind]
    if not low <= number <= high:
        raise _invalid(field, item, text)
    return number


def _invalid(field, item, text):
    written = json.dumps(item, ensure_ascii=False)
    match = re.search(rf'"({field.json_name}|{field.name})"\s*:\s*', text)
    line, column = 1, 1
    if match:
        before = text[:match.end()]
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
    label = "bytes" if field.kind == "bytes" else str(
        field.kind.name if isinstance(field.kind, Message) else field.kind)
    return DecodeError(f"(line {line}:{column}): invalid value for {label} "
                       f"field {field.json_name}: {written}")
