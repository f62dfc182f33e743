#include "base/base64.h"

#include <string.h>

static const char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* What a character stands for: 0 to 63, or one of these, told by the high bit. */
#define BAD 128
#define PAD 129
#define GAP 130
#define SPECIAL 0x80u

static const uint8_t meaning[256] = {
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, GAP, GAP, BAD, BAD, GAP, BAD, BAD,
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
    GAP, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,  62, BAD, BAD, BAD,  63,
     52,  53,  54,  55,  56,  57,  58,  59,  60,  61, BAD, BAD, BAD, PAD, BAD, BAD,
    BAD,   0,   1,   2,   3,   4,   5,   6,   7,   8,   9,  10,  11,  12,  13,  14,
     15,  16,  17,  18,  19,  20,  21,  22,  23,  24,  25, BAD, BAD, BAD, BAD, BAD,
    BAD,  26,  27,  28,  29,  30,  31,  32,  33,  34,  35,  36,  37,  38,  39,  40,
     41,  42,  43,  44,  45,  46,  47,  48,  49,  50,  51, BAD, BAD, BAD, BAD, BAD,
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
    BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
};

size_t e2b_base64_decode_plain(const char *in, size_t len, uint8_t *out)
{
    const uint8_t *from = (const uint8_t *)in;
    const uint8_t *end = from + len;
    /* Each group is read whole before its bytes are written: in place they
     * overlap. More groups a turn are slower; larger tables cost more constants
     * than they gain. */
    for (; from < end; from += 4, out += 3) {
        uint32_t a = meaning[from[0]], b = meaning[from[1]], c = meaning[from[2]], d = meaning[from[3]];
        if (((a | b | c | d) & SPECIAL) != 0) {
            break;
        }
        uint32_t group = a << 18 | b << 12 | c << 6 | d;
        out[0] = (uint8_t)(group >> 16);
        out[1] = (uint8_t)(group >> 8);
        out[2] = (uint8_t)group;
    }
    return (size_t)(from - (const uint8_t *)in);
}

/* Takes one character in. False: it can't stand here. */
static bool take(e2b_base64 *state, uint8_t c)
{
    uint8_t value = meaning[c];
    if (value == GAP && state->wrapped) {
        return true;
    }
    if (value == PAD) {
        /* Only as the third or fourth of a group, and nothing follows that group. */
        if (state->have < 2) {
            return false;
        }
        state->padding++;
        value = 0;
    } else if (value >= SPECIAL || state->padding > 0) {
        return false;
    }
    state->bits = state->bits << 6 | value;
    state->have++;
    return true;
}

/* The bytes of a complete group. */
static size_t give(e2b_base64 *state, uint8_t *out)
{
    uint8_t bytes[3] = {(uint8_t)(state->bits >> 16), (uint8_t)(state->bits >> 8), (uint8_t)state->bits};
    size_t count = (size_t)(3 - state->padding);
    memcpy(out, bytes, count);
    state->have = 0;
    return count;
}

bool e2b_base64_decode(e2b_base64 *state, const char *in, size_t len, uint8_t *out, size_t *out_len)
{
    size_t used = 0;
    *out_len = 0;
    while (used < len && !state->bad) {
        if (state->have == 0 && state->padding == 0) {
            size_t plain = e2b_base64_decode_plain(in + used, (len - used) / 4 * 4, out + *out_len);
            used += plain;
            *out_len += plain / 4 * 3;
            if (used == len) {
                break;
            }
        }
        state->bad = !take(state, (uint8_t)in[used++]);
        if (state->have == 4) {
            *out_len += give(state, out + *out_len);
        }
    }
    return !state->bad;
}

bool e2b_base64_end(const e2b_base64 *state)
{
    return !state->bad && state->have == 0;
}

size_t e2b_base64_length(size_t len)
{
    return len / 3 * 4 + (len % 3 != 0 ? 4 : 0);
}

void e2b_base64_encode(const void *in, size_t len, char *out)
{
    const uint8_t *from = in;
    for (; len >= 3; len -= 3, from += 3, out += 4) {
        uint32_t group = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];
        out[0] = alphabet[group >> 18];
        out[1] = alphabet[group >> 12 & 63];
        out[2] = alphabet[group >> 6 & 63];
        out[3] = alphabet[group & 63];
    }
    if (len > 0) {
        uint32_t group = (uint32_t)from[0] << 16 | (len == 2 ? (uint32_t)from[1] << 8 : 0);
        out[0] = alphabet[group >> 18];
        out[1] = alphabet[group >> 12 & 63];
        out[2] = len == 2 ? alphabet[group >> 6 & 63] : '=';
        out[3] = '=';
    }
}
