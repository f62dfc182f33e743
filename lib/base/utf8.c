#include "base/utf8.h"

#include <string.h>

/* States inside a sequence. The last four ask for a narrower range of the
 * second byte: there lie the overlong forms, the surrogates and what is
 * beyond U+10FFFF. */
enum { LAST = 1, TWO_LEFT = 2, THREE_LEFT = 3, AFTER_E0 = 4, AFTER_ED = 5, AFTER_F0 = 6, AFTER_F4 = 7 };

static uint8_t first_byte(uint8_t byte)
{
    if (byte < 0x80) {
        return E2B_UTF8_WHOLE;
    }
    if (byte < 0xc2 || byte > 0xf4) {
        return E2B_UTF8_BAD;
    }
    switch (byte) {
    case 0xe0: return AFTER_E0;
    case 0xed: return AFTER_ED;
    case 0xf0: return AFTER_F0;
    case 0xf4: return AFTER_F4;
    default: return byte < 0xe0 ? LAST : byte < 0xf0 ? TWO_LEFT : THREE_LEFT;
    }
}

uint8_t e2b_utf8_step(uint8_t state, uint8_t byte)
{
    uint8_t low = 0x80, high = 0xbf, next = E2B_UTF8_WHOLE;
    switch (state) {
    case E2B_UTF8_WHOLE: return first_byte(byte);
    case LAST: break;
    case TWO_LEFT: next = LAST; break;
    case THREE_LEFT: next = TWO_LEFT; break;
    case AFTER_E0: low = 0xa0; next = LAST; break;
    case AFTER_ED: high = 0x9f; next = LAST; break;
    case AFTER_F0: low = 0x90; next = TWO_LEFT; break;
    case AFTER_F4: high = 0x8f; next = TWO_LEFT; break;
    default: return E2B_UTF8_BAD;
    }
    return byte >= low && byte <= high ? next : E2B_UTF8_BAD;
}

/* How many bytes at `text` are one sequence or the start of one; *state says which. 0 if bad. */
static size_t sequence(const char *text, size_t len, uint8_t *state)
{
    size_t count = 0;
    *state = E2B_UTF8_WHOLE;
    do {
        *state = e2b_utf8_step(*state, (uint8_t)text[count]);
        count++;
    } while (*state != E2B_UTF8_WHOLE && *state != E2B_UTF8_BAD && count < len);
    return *state == E2B_UTF8_BAD ? 0 : count;
}

size_t e2b_utf8_next(e2b_str text, uint32_t *code_point)
{
    if (text.len == 0) {
        return 0;
    }
    uint8_t state;
    size_t count = sequence(text.ptr, text.len, &state);
    if (count == 0 || state != E2B_UTF8_WHOLE) {
        return 0;
    }
    uint32_t code = (uint8_t)text.ptr[0];
    if (count > 1) {
        code &= 0x7fu >> count;
    }
    for (size_t i = 1; i < count; i++) {
        code = code << 6 | ((uint8_t)text.ptr[i] & 0x3fu);
    }
    *code_point = code;
    return count;
}

bool e2b_utf8_valid(e2b_str text)
{
    uint8_t state = E2B_UTF8_WHOLE;
    for (size_t i = 0; i < text.len; i++) {
        state = e2b_utf8_step(state, (uint8_t)text.ptr[i]);
        if (state == E2B_UTF8_BAD) {
            return false;
        }
    }
    return state == E2B_UTF8_WHOLE;
}

size_t e2b_utf8_encode(uint32_t code_point, char out[4])
{
    size_t count = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    if (count == 1) {
        out[0] = (char)code_point;
        return 1;
    }
    for (size_t i = count - 1; i > 0; i--) {
        out[i] = (char)(0x80u | (code_point & 0x3fu));
        code_point >>= 6;
    }
    out[0] = (char)((0xf00u >> count & 0xf0u) | code_point);
    return count;
}

/* DEL and C1 as well: a terminal takes U+009B for the start of a command. */
static bool is_control(const char *sequence_start, size_t count)
{
    uint8_t first = (uint8_t)sequence_start[0];
    if (count == 1) {
        return first < 0x20 || first == 0x7f;
    }
    return first == 0xc2 && (uint8_t)sequence_start[1] < 0xa0;
}

size_t e2b_utf8_printable(char *text, size_t length)
{
    size_t kept = 0;
    for (size_t at = 0; at < length;) {
        uint8_t state;
        size_t count = sequence(text + at, length - at, &state);
        if (count == 0) {
            text[kept++] = '?';
            at++;
        } else if (state != E2B_UTF8_WHOLE) {
            break;
        } else if (is_control(text + at, count)) {
            text[kept++] = ' ';
            at += count;
        } else {
            memmove(text + kept, text + at, count);
            kept += count;
            at += count;
        }
    }
    return kept;
}
