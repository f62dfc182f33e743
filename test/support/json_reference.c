#include "json_reference.h"

#include <string.h>

typedef struct source {
    const char *at, *end;
    bool loose;
} source;

static bool value(source *s, int depth);

size_t utf8_reference(const char *text, size_t len, unsigned long *code)
{
    static const unsigned long smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (len == 0) {
        return 0;
    }
    unsigned char first = (unsigned char)text[0];
    size_t count = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (count == 0 || count > len) {
        return 0;
    }
    *code = count == 1 ? first : first & (0xffu >> (count + 1));
    for (size_t i = 1; i < count; i++) {
        unsigned char next = (unsigned char)text[i];
        if (next >> 6 != 2) {
            return 0;
        }
        *code = *code * 64 + (next & 63u);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < smallest[count] || *code > 0x10ffff || surrogate ? 0 : count;
}

static bool take(source *s, char byte)
{
    if (s->at < s->end && *s->at == byte) {
        s->at++;
        return true;
    }
    return false;
}

static bool take_word(source *s, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len) != 0) {
        return false;
    }
    s->at += len;
    return true;
}

static void white_space(source *s)
{
    while (take(s, ' ') || take(s, '\t') || take(s, '\n') || take(s, '\r')) {
    }
}

static bool digits(source *s)
{
    const char *start = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        s->at++;
    }
    return s->at > start;
}

static bool number(source *s)
{
    take(s, '-');
    if (!take(s, '0') && !digits(s)) {
        return false;
    }
    if (take(s, '.') && !digits(s)) {
        return false;
    }
    if (take(s, 'e') || take(s, 'E')) {
        if (!take(s, '+')) {
            take(s, '-');
        }
        return digits(s);
    }
    return true;
}

/* uXXXX, the backslash taken. */
static bool unit(source *s, unsigned long *code)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    *code = 0;
    if (!take(s, 'u')) {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        const char *found = s->at < s->end && *s->at != '\0' ? strchr(hex, *s->at) : NULL;
        if (found == NULL) {
            return false;
        }
        unsigned long digit = (unsigned long)(found - hex);
        *code = *code * 16 + (digit < 16 ? digit : digit - 6);
        s->at++;
    }
    return true;
}

static bool escape(source *s)
{
    unsigned long code;
    if (s->at < s->end && *s->at != '\0' && strchr("\"\\/bfnrt", *s->at) != NULL) {
        s->at++;
        return true;
    }
    if (!unit(s, &code)) {
        return false;
    }
    if (code >= 0xdc00 && code <= 0xdfff) {
        return false;
    }
    if (code >= 0xd800 && code <= 0xdbff) {
        return take(s, '\\') && unit(s, &code) && code >= 0xdc00 && code <= 0xdfff;
    }
    return true;
}

static bool loose_string(source *s)
{
    while (s->at < s->end) {
        if (take(s, '"')) {
            return true;
        }
        s->at += *s->at == '\\' ? 2 : 1;
    }
    return false;
}

static bool string(source *s, bool loose)
{
    if (!take(s, '"')) {
        return false;
    }
    if (loose) {
        return loose_string(s);
    }
    while (s->at < s->end) {
        unsigned long code;
        if (take(s, '"')) {
            return true;
        }
        if (take(s, '\\')) {
            if (!escape(s)) {
                return false;
            }
            continue;
        }
        size_t count = utf8_reference(s->at, (size_t)(s->end - s->at), &code);
        if (count == 0 || code < 0x20) {
            return false;
        }
        s->at += count;
    }
    return false;
}

static bool object(source *s, int depth)
{
    white_space(s);
    if (take(s, '}')) {
        return true;
    }
    do {
        white_space(s);
        if (!string(s, false)) {
            return false;
        }
        white_space(s);
        if (!take(s, ':') || !value(s, depth)) {
            return false;
        }
    } while (take(s, ','));
    return take(s, '}');
}

static bool array(source *s, int depth)
{
    white_space(s);
    if (take(s, ']')) {
        return true;
    }
    do {
        if (!value(s, depth)) {
            return false;
        }
    } while (take(s, ','));
    return take(s, ']');
}

static bool value(source *s, int depth)
{
    bool good;
    white_space(s);
    if (s->at == s->end) {
        return false;
    }
    switch (*s->at) {
    case '{': s->at++; good = depth > 0 && object(s, depth - 1); break;
    case '[': s->at++; good = depth > 0 && array(s, depth - 1); break;
    case '"': good = string(s, s->loose); break;
    case 't': good = take_word(s, "true"); break;
    case 'f': good = take_word(s, "false"); break;
    case 'n': good = take_word(s, "null"); break;
    default: good = number(s); break;
    }
    white_space(s);
    return good;
}

bool json_reference(const char *text, size_t len, int depth, bool loose)
{
    source s = {text, text + len, loose};
    return value(&s, depth) && s.at == s.end;
}
