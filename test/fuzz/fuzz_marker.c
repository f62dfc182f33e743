/* The marker scanner against a search over the whole text. */
#include <stdlib.h>
#include <string.h>

#include "base/marker.h"
#include "fuzz.h"

static size_t find(const uint8_t *text, size_t length, const uint8_t *marker, size_t marker_length)
{
    for (size_t at = 0; at + marker_length <= length; at++)
        if (memcmp(text + at, marker, marker_length) == 0) return at;
    return length;
}

/* The kept noise is the end of what came before the marker, the rest was counted. */
static void check_noise(const e2b_marker *scanner, const uint8_t *text, size_t noise)
{
    e2b_str pieces[2];
    e2b_marker_noise(scanner, pieces);
    size_t kept = pieces[0].len + pieces[1].len;
    FUZZ_CHECK(kept == (noise < scanner->kept_size ? noise : scanner->kept_size));
    FUZZ_CHECK(scanner->dropped == noise - kept);
    const uint8_t *expected = text + noise - kept;
    if (pieces[0].len) FUZZ_CHECK(memcmp(pieces[0].ptr, expected, pieces[0].len) == 0);
    if (pieces[1].len) FUZZ_CHECK(memcmp(pieces[1].ptr, expected + pieces[0].len, pieces[1].len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_log payload;
    fuzz_bytes input = {data, size};
    size_t kept_size = fuzz_byte(&input) % 80, marker_length = fuzz_byte(&input) % 80;
    uint32_t cut = fuzz_byte(&input);
    if (marker_length > input.left) marker_length = input.left;
    const uint8_t *marker = input.at, *text = input.at + marker_length;
    size_t length = input.left - marker_length;
    uint8_t *kept = malloc(kept_size + 1);
    e2b_marker scanner;
    payload.length = 0;
    bool valid = e2b_marker_init(&scanner, (e2b_str){(const char *)marker, marker_length}, kept_size ? kept : NULL, kept_size);
    FUZZ_CHECK(valid == (marker_length >= 1 && marker_length <= E2B_MARKER_MAX));
    for (fuzz_bytes rest = {text, length}; valid && rest.left > 0;) {
        size_t part = fuzz_piece(&cut, rest.left);
        uint8_t *piece = fuzz_copy(rest.at, part);
        e2b_str out = e2b_marker_feed(&scanner, (e2b_str){(const char *)piece, part});
        FUZZ_CHECK(out.len <= part);
        fuzz_log_add(&payload, out.ptr, out.len);
        free(piece);
        rest.at += part;
        rest.left -= part;
    }
    if (valid) {
        size_t at = find(text, length, marker, marker_length);
        e2b_marker_end(&scanner);
        FUZZ_CHECK(scanner.found == (at < length));
        check_noise(&scanner, text, at);
        size_t after = at < length ? length - at - marker_length : 0;
        if (after < sizeof payload.bytes)
            FUZZ_CHECK(payload.length == after && (after == 0 || memcmp(payload.bytes, text + length - after, after) == 0));
    }
    free(kept);
    return 0;
}
