/* base64 against a decoder written straight from its definition. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/text.h"
#include "fuzz.h"

static int meaning_of(uint8_t c)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != 0 ? strchr(alphabet, c) : NULL;
    return found != NULL ? (int)(found - alphabet) : -1;
}

/* Whole groups of four; '=' only as the last one or two. The bytes, or -1. */
static long reference(const uint8_t *in, size_t length, bool wrapped, uint8_t *out)
{
    uint8_t group[4];
    size_t have = 0, padding = 0;
    long bytes = 0;
    for (size_t i = 0; i < length; i++) {
        if (wrapped && (in[i] == ' ' || in[i] == '\t' || in[i] == '\r' || in[i] == '\n')) continue;
        if (padding > 0 && (in[i] != '=' || have == 0)) return -1;
        int value = meaning_of(in[i]);
        if (value < 0 && (in[i] != '=' || have < 2)) return -1;
        padding += value < 0;
        group[have++] = value < 0 ? 0 : (uint8_t)value;
        if (have < 4) continue;
        uint8_t decoded[3] = {(uint8_t)(group[0] << 2 | group[1] >> 4), (uint8_t)(group[1] << 4 | group[2] >> 2),
                              (uint8_t)(group[2] << 6 | group[3])};
        memcpy(out + bytes, decoded, 3 - padding);
        bytes += (long)(3 - padding);
        have = 0;
    }
    return have == 0 ? bytes : -1;
}

static long decode(fuzz_bytes input, uint32_t cut, bool wrapped, uint8_t *out)
{
    e2b_base64 state;
    size_t total = 0;
    bool good = true;
    memset(&state, 0, sizeof state);
    state.wrapped = wrapped;
    while (input.left > 0 && good) {
        size_t length = fuzz_piece(&cut, input.left), decoded, room = (length + state.have) / 4 * 3;
        uint8_t *piece = fuzz_copy(input.at, length), *place = malloc(room + 1);
        FUZZ_CHECK(place != NULL);
        good = e2b_base64_decode(&state, (const char *)piece, length, place, &decoded);
        FUZZ_CHECK(decoded <= room);
        memcpy(out + total, place, decoded);
        total += decoded;
        input.at += length;
        input.left -= length;
        free(place);
        free(piece);
    }
    return good && e2b_base64_end(&state) ? (long)total : -1;
}

static void encode(const uint8_t *bytes, size_t length, size_t window)
{
    size_t whole = e2b_base64_length(length), at = 0;
    char *text = malloc(whole + 1), *part = malloc(window);
    FUZZ_CHECK(text != NULL && part != NULL);
    e2b_base64_encode(bytes, length, text);
    while (at < whole) { /* through a window that moves */
        e2b_text place = {part, window, at + 2, 0};
        e2b_text_string(&place, "ab");
        e2b_text_base64(&place, bytes, length);
        size_t stored = e2b_text_stored(&place);
        FUZZ_CHECK(stored > 0 && place.total == whole + 2 && memcmp(part, text + at, stored) == 0);
        at += stored;
    }
    uint8_t *back = malloc(whole + 1);
    FUZZ_CHECK(back != NULL && reference((const uint8_t *)text, whole, false, back) == (long)length);
    FUZZ_CHECK(length == 0 || memcmp(back, bytes, length) == 0);
    free(back);
    free(text);
    free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    uint8_t how = fuzz_byte(&input);
    bool wrapped = (how & 1) != 0;
    uint8_t *expected = malloc(size + 3), *whole = malloc(size + 3), *pieces = malloc(size + 3);
    FUZZ_CHECK(expected != NULL && whole != NULL && pieces != NULL);
    long length = reference(input.at, input.left, wrapped, expected);
    FUZZ_CHECK(decode(input, 0, wrapped, whole) == length);
    FUZZ_CHECK(decode(input, 1u + how, wrapped, pieces) == length);
    if (length > 0) FUZZ_CHECK(memcmp(whole, expected, (size_t)length) == 0 && memcmp(pieces, expected, (size_t)length) == 0);
    encode(input.at, input.left, 1u + how % 20);
    free(expected);
    free(whole);
    free(pieces);
    return 0;
}
