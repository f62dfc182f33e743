/* base64: the vectors, every small input against a slow reference, every cut. */
#include "base/base64.h"
#include "check_str.h"
#include "incremental.h"
#include "vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- A reference that is slow and obvious ------------------------------------ */

static int reference_value(char c)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < 64; i++) {
        if (letters[i] == c) {
            return i;
        }
    }
    return -1;
}

/* Blanks out first, then groups of four. False: not base64. *out_len is how
 * many bytes came before the first bad group, or before a group cut short. */
static bool reference_decode(const char *in, size_t len, bool wrapped, uint8_t *out, size_t *out_len)
{
    char text[64];
    size_t count = 0;
    *out_len = 0;
    for (size_t i = 0; i < len; i++) {
        bool blank = in[i] == ' ' || in[i] == '\t' || in[i] == '\r' || in[i] == '\n';
        if (!wrapped || !blank) {
            text[count++] = in[i];
        }
    }
    for (size_t at = 0; at < count; at += 4) {
        unsigned int bits = 0;
        size_t pads = 0;
        if (count - at < 4) {
            return false;
        }
        for (size_t i = 0; i < 4; i++) {
            int value = reference_value(text[at + i]);
            if (text[at + i] == '=' && i >= 2) {
                pads++;
                value = 0;
            } else if (value < 0 || pads > 0) {
                return false;
            }
            bits = bits * 64 + (unsigned int)value;
        }
        out[(*out_len)++] = (uint8_t)(bits / 65536);
        if (pads < 2) {
            out[(*out_len)++] = (uint8_t)(bits / 256 % 256);
        }
        if (pads < 1) {
            out[(*out_len)++] = (uint8_t)(bits % 256);
        }
        if (pads > 0) {
            return at + 4 == count;
        }
    }
    return true;
}

/* ---- The parser, for the harness ---------------------------------------------- */

static void reset(void *state, const void *context)
{
    ((e2b_base64 *)state)->wrapped = *(const bool *)context;
}

/* Exactly as much room as the header asks for, so that one byte more is seen. */
static int feed(void *state, char *in, size_t len, size_t *used, incremental_log *log)
{
    e2b_base64 *base64 = state;
    size_t room = (len + base64->have) / 4 * 3, out_len = 77;
    uint8_t *out = malloc(room > 0 ? room : 1);
    bool bad_before = base64->bad;
    assert_non_null(out);
    bool good = e2b_base64_decode(base64, in, len, out, &out_len);
    assert_true(out_len <= room);
    log_data(log, "bytes", out, out_len);
    free(out);
    *used = bad_before ? 0 : len;
    return good ? INCREMENTAL_MORE : INCREMENTAL_BAD;
}

/* The same in place, wherever that is allowed. */
static int feed_in_place(void *state, char *in, size_t len, size_t *used, incremental_log *log)
{
    e2b_base64 *base64 = state;
    if (base64->have != 0) {
        return feed(state, in, len, used, log);
    }
    size_t out_len;
    *used = base64->bad ? 0 : len;
    bool good = e2b_base64_decode(base64, in, len, (uint8_t *)in, &out_len);
    log_data(log, "bytes", in, out_len);
    return good ? INCREMENTAL_MORE : INCREMENTAL_BAD;
}

static bool end(void *state, incremental_log *log)
{
    (void)log;
    return e2b_base64_end(state);
}

static bool is_whole(const void *context, const char *in, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += !*(const bool *)context || strchr(" \t\r\n", in[i]) == NULL;
    }
    return count % 4 == 0;
}

static const bool strict = false, wrapped = true;

static void check_cuts(e2b_str in, bool blanks)
{
    const bool *mode = blanks ? &wrapped : &strict;
    incremental_parser parser = {sizeof(e2b_base64), reset, feed, end, is_whole, mode};
    incremental_check(&parser, in.ptr, in.len);
    parser.feed = feed_in_place;
    incremental_check(&parser, in.ptr, in.len);
}

/* ---- Vectors -------------------------------------------------------------------- */

static void check_decode_row(const vector_file *vectors, e2b_str text, const char *ok, const char *hex, bool blanks)
{
    uint8_t out[1024];
    size_t out_len;
    e2b_base64 state = {.wrapped = blanks};
    assert_true(text.len < sizeof out);
    bool good = e2b_base64_decode(&state, text.ptr, text.len, out, &out_len);
    assert_int_equal(good && e2b_base64_end(&state), vector_is(vectors, ok, "true"));
    if (vector_is(vectors, ok, "true")) {
        check_str((e2b_str){(char *)out, out_len}, vector_bytes(vector_value(vectors, hex)));
    }
    check_cuts(text, blanks);
}

static void test_vectors(void **unused)
{
    (void)unused;
    vector_file vectors;
    size_t encoded = 0, decoded = 0;
    vectors_open(&vectors, "base64");
    while (vectors_next(&vectors)) {
        if (vector_is(&vectors, "input.op", "encode")) {
            char out[1024];
            e2b_str bytes = vector_bytes(vector_value(&vectors, "input.hex"));
            size_t length = e2b_base64_length(bytes.len);
            assert_true(length <= sizeof out);
            e2b_base64_encode(bytes.ptr, bytes.len, out);
            check_str((e2b_str){out, length}, vector_value(&vectors, "expected.text"));
            encoded++;
        } else {
            e2b_str text = vector_bytes(vector_value(&vectors, "input.text_hex"));
            check_decode_row(&vectors, text, "expected.strict.ok", "expected.strict.hex", false);
            check_decode_row(&vectors, text, "expected.wrapped.ok", "expected.wrapped.hex", true);
            decoded++;
        }
    }
    vectors_close(&vectors);
    assert_int_equal(encoded, 21);
    assert_int_equal(decoded, 46);
}

/* ---- Every small input ------------------------------------------------------------ */

/* Decodes in two pieces and compares with the reference. */
static void compare(const char *in, size_t len, size_t cut, bool blanks)
{
    uint8_t expected[16], found[16];
    size_t expected_len, first, second = 0;
    bool whole = reference_decode(in, len, blanks, expected, &expected_len);
    e2b_base64 state = {.wrapped = blanks};
    if (e2b_base64_decode(&state, in, cut, found, &first)) {
        e2b_base64_decode(&state, in + cut, len - cut, found + first, &second);
    }
    bool same = e2b_base64_end(&state) == whole && first + second == expected_len &&
                memcmp(found, expected, expected_len) == 0;
    if (!same) {
        check_str((e2b_str){in, len}, str_of("decoded as the reference does"));
    }
}

static void test_every_small_input(void **unused)
{
    (void)unused;
    static const char alphabet[] = "A/=\n-\xe9";
    size_t longest = test_sampled() ? 6 : 8;
    for (size_t len = 0; len <= longest; len++) {
        size_t digits[8] = {0};
        char in[8];
        for (;;) {
            for (size_t i = 0; i < len; i++) {
                in[i] = alphabet[digits[i]];
            }
            size_t cut = len > 0 ? (digits[0] + 3 * digits[len - 1] + 2 * digits[len / 2]) % (len + 1) : 0;
            compare(in, len, len, false);
            compare(in, len, len, true);
            compare(in, len, cut, false);
            compare(in, len, cut, true);
            size_t i = 0;
            while (i < len && ++digits[i] == sizeof alphabet - 1) {
                digits[i++] = 0;
            }
            if (i == len) {
                break;
            }
        }
    }
}

/* Each of the 256 bytes at each place of a group. */
static void test_every_byte(void **unused)
{
    (void)unused;
    for (size_t place = 0; place < 8; place++) {
        for (int byte = 0; byte < 256; byte++) {
            char in[] = "QUJDREVG";
            in[place] = (char)byte;
            compare(in, 8, 8, false);
            compare(in, 8, 8, true);
            compare(in, 8, place, false);
        }
    }
}

/* ---- The fast path ----------------------------------------------------------------- */

/* Stops before the group with the odd character, wherever that is, and writes
 * not a byte more than what it decoded. */
static void test_plain_stops(void **unused)
{
    (void)unused;
    static const char odd[] = "=\n -\x80\xff";
    for (size_t len = 0; len <= 64; len += 4) {
        for (size_t place = 0; place <= len; place++) {
            for (size_t i = 0; i < sizeof odd; i++) {
                char in[64];
                uint8_t out[64], expected[64];
                size_t expected_len, whole = place / 4 * 4;
                for (size_t k = 0; k < len; k++) {
                    in[k] = "Zm9vYg+/"[(k * 5 + len) % 8];
                }
                if (place < len) {
                    in[place] = odd[i];
                } else {
                    whole = len;
                }
                reference_decode(in, whole, false, expected, &expected_len);
                memset(out, 0xa5, sizeof out);
                assert_int_equal(e2b_base64_decode_plain(guarded_copy(in, len), len, out), whole);
                assert_memory_equal(out, expected, expected_len);
                for (size_t k = expected_len; k < sizeof out; k++) {
                    assert_int_equal(out[k], 0xa5);
                }
                char *in_place = guarded_copy(in, len);
                assert_int_equal(e2b_base64_decode_plain(in_place, len, (uint8_t *)in_place), whole);
                assert_memory_equal(in_place, expected, expected_len);
            }
        }
    }
}

/* ---- Both ways ----------------------------------------------------------------------- */

static void test_round_trips(void **unused)
{
    (void)unused;
    unsigned int seed = 20260304;
    for (size_t len = 0; len <= 100; len++) {
        uint8_t bytes[100], back[100];
        char text[140];
        size_t back_len;
        for (size_t i = 0; i < len; i++) {
            bytes[i] = (uint8_t)test_random(&seed);
        }
        size_t length = e2b_base64_length(len);
        assert_int_equal(length, (len + 2) / 3 * 4);
        memset(text, '@', sizeof text);
        e2b_base64_encode(guarded_copy(bytes, len), len, text);
        assert_int_equal(text[length], '@');
        e2b_base64 state = {.bits = 0};
        assert_true(e2b_base64_decode(&state, text, length, back, &back_len));
        assert_true(e2b_base64_end(&state));
        check_str((e2b_str){(char *)back, back_len}, (e2b_str){(char *)bytes, len});
        check_cuts((e2b_str){text, length}, len % 2 == 0);
    }
}

/* Long text, in lines as `base64` prints them, and cut everywhere. */
static void test_wrapped_lines(void **unused)
{
    (void)unused;
    uint8_t bytes[600];
    char text[800], lines[900];
    size_t used = 0;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    }
    e2b_base64_encode(bytes, sizeof bytes, text);
    for (size_t at = 0; at < sizeof text; at += 76) {
        size_t count = sizeof text - at < 76 ? sizeof text - at : 76;
        memcpy(lines + used, text + at, count);
        used += count;
        memcpy(lines + used, "\r\n", 2);
        used += 2;
    }
    uint8_t out[sizeof lines];
    size_t out_len;
    e2b_base64 state = {.wrapped = true};
    assert_true(e2b_base64_decode(&state, lines, used, out, &out_len));
    assert_true(e2b_base64_end(&state));
    check_str((e2b_str){(char *)out, out_len}, (e2b_str){(char *)bytes, sizeof bytes});
    check_cuts((e2b_str){lines, used}, true);
    check_cuts((e2b_str){lines, used}, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),      cmocka_unit_test(test_every_small_input),
        cmocka_unit_test(test_every_byte),   cmocka_unit_test(test_plain_stops),
        cmocka_unit_test(test_round_trips),  cmocka_unit_test(test_wrapped_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
