#include "base/text.h"

#include "base/base64.h"

#include <string.h>

e2b_str e2b_str_of(const char *string)
{
    e2b_str str = {string, string != NULL ? strlen(string) : 0};
    return str;
}

size_t e2b_text_stored(const e2b_text *text)
{
    if (text->total <= text->skip) {
        return 0;
    }
    uint64_t past = text->total - text->skip;
    return past < text->size ? (size_t)past : text->size;
}

bool e2b_text_fits(const e2b_text *text)
{
    return text->total == 0 || (text->skip == 0 && text->total <= text->size);
}

void e2b_text_terminate(e2b_text *text)
{
    size_t stored = e2b_text_stored(text);
    text->out[stored < text->size ? stored : text->size - 1] = '\0';
}

/* Which part of the next `count` bytes lies in the window: bytes `from` to
 * `from + length`, to be written at `out`. */
typedef struct part {
    char *out;
    uint64_t from;
    size_t length;
} part;

/* Counts `count` bytes as appended and says which of them to store. */
static part advance(e2b_text *text, uint64_t count)
{
    part seen = {NULL, 0, 0};
    uint64_t start = text->total;
    text->total += count;
    if (text->skip > start) {
        seen.from = text->skip - start;
    }
    if (seen.from >= count) {
        return seen;
    }
    uint64_t at = start + seen.from - text->skip;
    if (at >= text->size) {
        return seen;
    }
    uint64_t left = count - seen.from;
    size_t room = text->size - (size_t)at;
    seen.out = text->out + at;
    seen.length = left < room ? (size_t)left : room;
    return seen;
}

void e2b_text_bytes(e2b_text *text, const void *bytes, size_t count)
{
    part seen = advance(text, count);
    if (seen.length > 0) {
        /* May overlap: a text that does not grow is rewritten in its own place. */
        memmove(seen.out, (const char *)bytes + seen.from, seen.length);
    }
}

void e2b_text_string(e2b_text *text, const char *string)
{
    e2b_text_bytes(text, string, strlen(string));
}

void e2b_text_str(e2b_text *text, e2b_str str)
{
    e2b_text_bytes(text, str.ptr, str.len);
}

void e2b_text_char(e2b_text *text, char c)
{
    e2b_text_bytes(text, &c, 1);
}

void e2b_text_u64(e2b_text *text, uint64_t value)
{
    char digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    e2b_text_bytes(text, digits + first, sizeof digits - first);
}

void e2b_text_i64(e2b_text *text, int64_t value)
{
    if (value < 0) {
        e2b_text_char(text, '-');
        e2b_text_u64(text, 0 - (uint64_t)value);
    } else {
        e2b_text_u64(text, (uint64_t)value);
    }
}

void e2b_text_hex(e2b_text *text, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        e2b_text_bytes(text, pair, sizeof pair);
    }
}

void e2b_text_base64(e2b_text *text, const void *bytes, size_t count)
{
    const uint8_t *in = bytes;
    part seen = advance(text, ((uint64_t)count + 2) / 3 * 4);
    while (seen.length > 0) {
        size_t source = (size_t)(seen.from / 4 * 3);
        size_t inside = (size_t)(seen.from % 4);
        size_t left = count - source;
        size_t done;
        if (inside == 0 && seen.length >= 4) {
            size_t whole = seen.length / 4 * 3;
            whole = whole < left ? whole : left;
            e2b_base64_encode(in + source, whole, seen.out);
            done = e2b_base64_length(whole);
        } else {
            /* The window cuts through this group of four. */
            char group[4];
            e2b_base64_encode(in + source, left < 3 ? left : 3, group);
            done = 4 - inside < seen.length ? 4 - inside : seen.length;
            memcpy(seen.out, group + inside, done);
        }
        seen.from += done;
        seen.out += done;
        seen.length -= done;
    }
}

static bool unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

void e2b_text_percent(e2b_text *text, e2b_str str, const char *prefix)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < str.len; i++) {
        uint8_t byte = (uint8_t)str.ptr[i];
        if (unreserved(str.ptr[i])) {
            e2b_text_char(text, str.ptr[i]);
        } else {
            char pair[2] = {digits[byte >> 4], digits[byte & 15]};
            e2b_text_string(text, prefix);
            e2b_text_bytes(text, pair, sizeof pair);
        }
    }
}
