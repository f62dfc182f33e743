#include "proto_request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct part {
    const uint8_t *at, *end;
} part;

typedef struct field {
    uint64_t number, value; /* value: of a varint */
    bool is_varint;
    part bytes;
} field;

typedef struct sink {
    char *at, *end;
    bool good;
} sink;

/* ---- Protobuf --------------------------------------------------------------- */

static bool varint(part *in, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->at == in->end) return false;
        uint8_t byte = *in->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* False at the end, and with sink->good false where the bytes are no field. */
static bool next(part *in, field *f, sink *out)
{
    uint64_t tag;
    if (in->at == in->end || !out->good) return false;
    out->good = false;
    if (!varint(in, &tag)) return false;
    f->number = tag >> 3;
    f->is_varint = (tag & 7) == 0;
    if ((tag & 7) != 0 && (tag & 7) != 2) return false;
    if (!varint(in, &f->value)) return false;
    if (!f->is_varint) {
        if (f->value > (uint64_t)(in->end - in->at)) return false;
        f->bytes = (part){in->at, in->at + f->value};
        in->at += f->value;
    }
    return out->good = true;
}

static bool is(const field *f, uint64_t number, bool is_varint)
{
    return f->number == number && f->is_varint == is_varint;
}

/* ---- JSON --------------------------------------------------------------------- */

static void put(sink *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out->at, (size_t)(out->end - out->at), format, arguments);
    va_end(arguments);
    if (length < 0 || length >= out->end - out->at) out->good = false;
    else out->at += length;
}

static void put_string(sink *out, part bytes)
{
    put(out, "\"");
    for (; bytes.at < bytes.end; bytes.at++) {
        if (*bytes.at < 0x20 || *bytes.at == '"' || *bytes.at == '\\') put(out, "\\u%04x", *bytes.at);
        else put(out, "%c", *bytes.at);
    }
    put(out, "\"");
}

static void put_base64(sink *out, part bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    put(out, "\"");
    while (bytes.at < bytes.end) {
        size_t left = (size_t)(bytes.end - bytes.at), count = left < 3 ? left : 3;
        unsigned long group = 0;
        for (size_t i = 0; i < 3; i++) group = group << 8 | (i < count ? bytes.at[i] : 0u);
        for (size_t i = 0; i < 4; i++) put(out, "%c", i <= count ? digits[group >> (18 - 6 * i) & 63] : '=');
        bytes.at += count;
    }
    put(out, "\"");
}

/* ---- Messages ------------------------------------------------------------------- */

/* All occurrences of a repeated field, as a JSON list or object. */
static void repeated(part in, uint64_t number, bool pairs, sink *out)
{
    field f, entry;
    const char *comma = "";
    put(out, pairs ? "{" : "[");
    while (next(&in, &f, out)) {
        if (f.number != number || f.is_varint) continue;
        put(out, "%s", comma);
        comma = ",";
        if (!pairs) {
            put_string(out, f.bytes);
            continue;
        }
        for (uint64_t expected = 1; expected <= 2; expected++) {
            if (!next(&f.bytes, &entry, out) || !is(&entry, expected, false)) out->good = false;
            else put_string(out, entry.bytes);
            if (expected == 1) put(out, ":");
        }
        if (f.bytes.at != f.bytes.end) out->good = false;
    }
    put(out, pairs ? "}" : "]");
}

static void config(part in, sink *out)
{
    static const char *const names[] = {"", "cmd", "args", "envs", "cwd"};
    part whole = in;
    field f;
    unsigned seen = 0;
    put(out, "{");
    while (next(&in, &f, out)) {
        if (f.is_varint || f.number < 1 || f.number > 4) out->good = false;
        if (!out->good || (seen & 1u << f.number && (f.number == 2 || f.number == 3))) continue;
        if (seen & 1u << f.number) out->good = false;
        put(out, "%s\"%s\":", seen ? "," : "", names[f.number]);
        seen |= 1u << f.number;
        if (f.number == 1 || f.number == 4) put_string(out, f.bytes);
        else repeated(whole, f.number, f.number == 3, out);
    }
    put(out, "}");
}

static void selector(part in, sink *out)
{
    field f;
    if (!next(&in, &f, out)) out->good = false;
    else if (is(&f, 1, true)) put(out, "{\"pid\":%llu}", (unsigned long long)f.value);
    else if (is(&f, 2, false)) put(out, "{\"tag\":"), put_string(out, f.bytes), put(out, "}");
    else out->good = false;
    if (in.at != in.end) out->good = false;
}

static void input(part in, sink *out)
{
    field f;
    if (!next(&in, &f, out) || f.is_varint || f.number < 1 || f.number > 2 || in.at != in.end) {
        out->good = false;
        return;
    }
    put(out, "{\"%s\":", f.number == 1 ? "stdin" : "pty");
    put_base64(out, f.bytes);
    put(out, "}");
}

static void member(const char *method, const field *f, sink *out)
{
    bool start = strcmp(method, "Start") == 0;
    if (is(f, 1, false)) {
        put(out, "\"process\":");
        if (start) config(f->bytes, out);
        else selector(f->bytes, out);
    } else if (start && is(f, 3, false)) {
        put(out, "\"tag\":");
        put_string(out, f->bytes);
    } else if (start && is(f, 4, true) && f->value <= 1) {
        put(out, "\"stdin\":%s", f->value ? "true" : "false");
    } else if (strcmp(method, "SendInput") == 0 && is(f, 2, false)) {
        put(out, "\"input\":");
        input(f->bytes, out);
    } else if (strcmp(method, "SendSignal") == 0 && is(f, 2, true) && (f->value == 9 || f->value == 15)) {
        put(out, "\"signal\":\"%s\"", f->value == 9 ? "SIGNAL_SIGKILL" : "SIGNAL_SIGTERM");
    } else {
        out->good = false;
    }
}

bool proto_request(const char *method, const uint8_t *bytes, size_t len, char *json, size_t size)
{
    part in = {bytes, bytes + len};
    sink out = {json, json + size, true};
    field f;
    const char *comma = "{";
    while (next(&in, &f, &out)) {
        put(&out, "%s", comma);
        comma = ",";
        member(method, &f, &out);
    }
    put(&out, "%s", len ? "}" : "{}");
    return out.good;
}
