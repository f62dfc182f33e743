#include "json_canonical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
    const char *at, *end;
} source;

typedef struct sink {
    char *at, *end;
} sink;

static bool value(source *in, sink *out);

static bool put(sink *out, const char *bytes, size_t count)
{
    if ((size_t)(out->end - out->at) < count) return false;
    memcpy(out->at, bytes, count);
    out->at += count;
    return true;
}

static void blanks(source *in)
{
    while (in->at < in->end && strchr(" \t\r\n", *in->at) && *in->at) in->at++;
}

static bool take(source *in, char byte)
{
    blanks(in);
    if (in->at == in->end || *in->at != byte) return false;
    in->at++;
    return true;
}

/* ---- Strings ---------------------------------------------------------------- */

static bool hex4(source *in, unsigned *unit)
{
    char digits[5] = "", *end;
    if (in->end - in->at < 4) return false;
    memcpy(digits, in->at, 4);
    in->at += 4;
    *unit = (unsigned)strtoul(digits, &end, 16);
    return end == digits + 4 && strspn(digits, "0123456789abcdefABCDEF") == 4;
}

static bool put_code(sink *out, unsigned code)
{
    static const char names[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
    char bytes[8];
    const char *named = code > 0 && code < 0x80 ? strchr(names, (int)code) : NULL;
    if (named) {
        bytes[0] = '\\';
        bytes[1] = letters[named - names];
        return put(out, bytes, 2);
    }
    if (code < 0x20) {
        snprintf(bytes, sizeof bytes, "\\u%04x", code);
        return put(out, bytes, 6);
    }
    size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = count; i-- > 1; code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(leads[count] | code);
    return put(out, bytes, count);
}

static bool escape(source *in, sink *out)
{
    static const char letters[] = "bfnrt\"\\/", codes[] = "\b\f\n\r\t\"\\/";
    unsigned unit, low;
    if (in->at == in->end) return false;
    char letter = *in->at++;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found) return put_code(out, (unsigned)codes[found - letters]);
    if (letter != 'u' || !hex4(in, &unit) || (unit >= 0xdc00 && unit <= 0xdfff)) return false;
    if (unit < 0xd800 || unit > 0xdbff) return put_code(out, unit);
    if (in->end - in->at < 6 || memcmp(in->at, "\\u", 2) != 0) return false;
    in->at += 2;
    if (!hex4(in, &low) || low < 0xdc00 || low > 0xdfff) return false;
    return put_code(out, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
}

static bool string(source *in, sink *out)
{
    if (!take(in, '"') || !put(out, "\"", 1)) return false;
    while (in->at < in->end && *in->at != '"') {
        unsigned char byte = (unsigned char)*in->at++;
        if (byte < 0x20) return false;
        if (byte == '\\' ? !escape(in, out) : !put(out, (const char *)&byte, 1)) return false;
    }
    return take(in, '"') && put(out, "\"", 1);
}

/* ---- Objects ------------------------------------------------------------------ */

#define MEMBERS 64

typedef struct member {
    char *name, *end; /* the name with its quotes, up to the whole member's end */
    size_t name_len;
} member;

static int by_name(const void *left, const void *right)
{
    const member *a = left, *b = right;
    size_t shorter = a->name_len < b->name_len ? a->name_len : b->name_len;
    /* Without the quotes, so that a name comes before those it begins. */
    int order = memcmp(a->name + 1, b->name + 1, shorter - 2);
    return order ? order : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

/* The members lie one behind another from `start` on: puts them in order. */
static bool sort(member *members, size_t count, char *start, sink *out)
{
    size_t length = (size_t)(out->at - start);
    char *copy = malloc(length + 1), *at = copy;
    bool unique = true;
    if (!copy) return false;
    qsort(members, count, sizeof *members, by_name);
    for (size_t i = 0; i < count; i++) {
        size_t part = (size_t)(members[i].end - members[i].name);
        if (i > 0 && by_name(&members[i - 1], &members[i]) == 0) unique = false;
        if (i > 0) *at++ = ',';
        memcpy(at, members[i].name, part);
        at += part;
    }
    memcpy(start, copy, length);
    free(copy);
    return unique;
}

static bool object(source *in, sink *out)
{
    member members[MEMBERS];
    size_t count = 0;
    if (!put(out, "{", 1)) return false;
    char *start = out->at;
    if (take(in, '}')) return put(out, "}", 1);
    do {
        if (count == MEMBERS || (count > 0 && !put(out, ",", 1))) return false;
        blanks(in);
        members[count].name = out->at;
        if (!string(in, out)) return false;
        members[count].name_len = (size_t)(out->at - members[count].name);
        if (!take(in, ':') || !put(out, ":", 1) || !value(in, out)) return false;
        members[count++].end = out->at;
    } while (take(in, ','));
    return take(in, '}') && sort(members, count, start, out) && put(out, "}", 1);
}

static bool array(source *in, sink *out)
{
    if (!put(out, "[", 1)) return false;
    if (take(in, ']')) return put(out, "]", 1);
    for (bool first = true; first || take(in, ','); first = false)
        if ((!first && !put(out, ",", 1)) || !value(in, out)) return false;
    return take(in, ']') && put(out, "]", 1);
}

/* Numbers and literals stay as they are written. */
static bool word(source *in, sink *out)
{
    size_t length = 0;
    while (in->at + length < in->end && strchr("+-.0123456789Eaeflnrstu", in->at[length]) && in->at[length]) length++;
    bool fits = length > 0 && put(out, in->at, length);
    in->at += length;
    return fits;
}

static bool value(source *in, sink *out)
{
    blanks(in);
    if (in->at < in->end && *in->at == '"') return string(in, out);
    if (take(in, '{')) return object(in, out);
    if (take(in, '[')) return array(in, out);
    return word(in, out);
}

bool json_canonical(const char *text, size_t len, char *out, size_t size)
{
    source in = {text, text + len};
    sink to = {out, out + size - 1};
    bool good = value(&in, &to);
    blanks(&in);
    *to.at = '\0';
    return good && in.at == in.end;
}
