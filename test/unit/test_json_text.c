#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"
#include "base/json_text.h"
#include "incremental.h"
#include "json_documents.h"
#include "json_reference.h"

static char unescaped[1 << 17];

/* Unescapes a whole string; -1 if it is not valid, else its length. */
static long unescape(const char *in, size_t len)
{
    e2b_json_reader reader;
    e2b_text out = {unescaped, sizeof unescaped, 0, 0};
    memset(&reader, 0, sizeof reader);
    e2b_json_text_begin(&reader);
    if (!e2b_json_unescape(&reader, in, len, &out) || !e2b_json_text_whole(&reader)) {
        return -1;
    }
    assert_true(out.total <= len);
    return (long)out.total;
}

static void expect(const char *in, const char *out)
{
    long len = unescape(in, strlen(in));
    assert_int_equal(len, strlen(out));
    assert_memory_equal(unescaped, out, strlen(out));
}

static void short_escapes(void **state)
{
    (void)state;
    expect("", "");
    expect("plain", "plain");
    expect("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
    expect("a\\nb\\tc", "a\nb\tc");
    for (int c = 0; c < 256; c++) {
        char in[2] = {'\\', (char)c};
        bool good = c != 0 && strchr("\"\\/bfnrt", c) != NULL;
        assert_int_equal(unescape(in, 2), good ? 1 : -1);
    }
}

static void every_unit(void **state)
{
    (void)state;
    for (unsigned long code = 0; code <= 0xffff; code++) {
        char in[8];
        snprintf(in, sizeof in, code % 2 != 0 ? "\\u%04lx" : "\\u%04lX", code);
        unsigned long back = 0;
        long len = unescape(in, 6);
        if (code >= 0xd800 && code <= 0xdfff) {
            assert_int_equal(len, -1);
        } else {
            assert_true(len > 0);
            assert_int_equal(utf8_reference(unescaped, (size_t)len, &back), len);
            assert_int_equal(back, code);
        }
    }
    expect("\\u00e9\\u00E9\\uaBcD", "\xc3\xa9\xc3\xa9\xea\xaf\x8d");
}

/* Each of the four places of \uXXXX with each byte. */
static void hex_digits_only(void **state)
{
    (void)state;
    for (size_t place = 2; place < 6; place++) {
        for (int c = 0; c < 256; c++) {
            char in[] = "\\u0041";
            in[place] = (char)c;
            bool good = c != 0 && strchr("0123456789abcdefABCDEF", c) != NULL;
            assert_int_equal(unescape(in, 6) > 0, good);
        }
    }
}

static void surrogate_pairs(void **state)
{
    (void)state;
    expect("\\ud83d\\ude00", "\xf0\x9f\x98\x80");
    expect("x\\uD800\\uDC00y\\udbff\\udfffz", "x\xf0\x90\x80\x80y\xf4\x8f\xbf\xbfz");
    for (unsigned long code = 0x10000; code <= 0x10ffff; code += code < 0x10400 || code > 0x10fc00 ? 1 : 61) {
        char in[16];
        unsigned long back = 0;
        snprintf(in, sizeof in, "\\u%04lx\\u%04lx", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
        assert_int_equal(unescape(in, 12), 4);
        assert_int_equal(utf8_reference(unescaped, 4, &back), 4);
        assert_int_equal(back, code);
    }
}

/* Every byte and every pair of bytes, bare and in a context, as the reference says. */
static void every_byte(void **state)
{
    (void)state;
    static const char *const before[] = {"", "ab", "\xe2\x82", "\\ud83d", "\\u00", "\\", "\xf0\x9f"};
    for (size_t b = 0; b < sizeof before / sizeof before[0]; b++) {
        for (unsigned pair = 0; pair < 0x10000; pair++) {
            char in[32];
            size_t len = strlen(before[b]);
            in[0] = '"';
            memcpy(in + 1, before[b], len);
            in[++len] = (char)(pair >> 8);
            in[++len] = (char)pair;
            in[++len] = '"';
            /* One byte alone is asked for once. */
            if (pair >> 8 == 'a') {
                memmove(in + len - 2, in + len - 1, 2);
                len--;
            }
            assert_int_equal(unescape(in + 1, len - 1) >= 0, json_reference(in, len + 1, 0, false));
        }
    }
}

/* The parser for the harness: the input is what stands between the quotes. */
typedef struct text_state {
    e2b_json_reader reader;
} text_state;

static void text_reset(void *state, const void *context)
{
    (void)context;
    e2b_json_text_begin(&((text_state *)state)->reader);
}

static int text_feed(void *state, char *in, size_t len, size_t *used, incremental_log *log)
{
    text_state *s = state;
    e2b_text out = {unescaped, sizeof unescaped, 0, 0};
    bool good = e2b_json_unescape(&s->reader, in, len, &out);
    log_data(log, "text", unescaped, e2b_text_stored(&out));
    *used = good ? len : 0;
    return good ? INCREMENTAL_MORE : INCREMENTAL_BAD;
}

static bool text_end(void *state, incremental_log *log)
{
    (void)log;
    return e2b_json_text_whole(&((text_state *)state)->reader);
}

static bool text_is_whole(const void *context, const char *in, size_t len)
{
    (void)context;
    char document[4096];
    assert_true(len + 2 <= sizeof document);
    document[0] = '"';
    memcpy(document + 1, in, len);
    document[len + 1] = '"';
    return json_reference(document, len + 2, 0, false);
}

static const incremental_parser text_parser = {sizeof(text_state), text_reset, text_feed, text_end, text_is_whole, NULL};

static void in_any_pieces(void **state)
{
    (void)state;
    static const char whole[] =
        "plain \\\"\\\\\\/\\b\\f\\n\\r\\t \\u0000\\u00e9\\u20AC \\ud83d\\ude00\\uDBFF\\uDFFF "
        "\xc3\xa9\xe2\x82\xac\xed\x9f\xbf\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf end";
    incremental_check(&text_parser, whole, sizeof whole - 1);
    for (size_t i = 0; i < json_bad_text_count; i++) {
        const json_document *bad = &json_bad_text[i];
        const char *start = (const char *)memchr(bad->text, '"', bad->len) + 1;
        if (bad->text[0] == '{') {
            start = bad->text + 6;
        }
        const char *end = bad->text + bad->len;
        while (*--end != '"') {
        }
        const char *log = incremental_check(&text_parser, start, (size_t)(end - start));
        assert_true(strstr(log, "bad\n") != NULL || strstr(log, "cut off\n") != NULL);
    }
}

static void bad_until_the_next_string(void **state)
{
    (void)state;
    e2b_json_reader reader;
    e2b_text out = {unescaped, sizeof unescaped, 0, 0};
    memset(&reader, 0, sizeof reader);
    assert_false(e2b_json_unescape(&reader, "ab\ncd", 5, &out));
    assert_int_equal(out.total, 2);
    assert_false(e2b_json_unescape(&reader, "cd", 2, &out));
    assert_false(e2b_json_text_whole(&reader));
    assert_int_equal(out.total, 2);
    e2b_json_text_begin(&reader);
    assert_true(e2b_json_unescape(&reader, "cd", 2, &out));
    assert_true(e2b_json_text_whole(&reader));
}

static void an_item_is_complete_at_its_last_piece(void **state)
{
    (void)state;
    e2b_json_reader reader;
    e2b_text out = {unescaped, sizeof unescaped, 0, 0};
    e2b_json_item item = {E2B_JSON_TEXT, 0, false, {"\\u00e", 5}};
    memset(&reader, 0, sizeof reader);
    assert_true(e2b_json_text(&reader, &item, &out));
    item.last = true;
    item.raw.len = 0;
    assert_false(e2b_json_text(&reader, &item, &out));
    item.raw = (e2b_str){"9", 1};
    assert_true(e2b_json_text(&reader, &item, &out));
    assert_int_equal(out.total, 2);
}

static void a_small_window_still_counts(void **state)
{
    (void)state;
    char small[3];
    e2b_json_reader reader;
    e2b_text out = {small, sizeof small, 0, 0};
    memset(&reader, 0, sizeof reader);
    assert_true(e2b_json_unescape(&reader, "ab\\u20acdef", 11, &out));
    assert_int_equal(out.total, 8);
    assert_memory_equal(small, "ab\xe2", 3);
}

/* Longest first that is kept, then the first that is not. */
static void keys(void **state)
{
    (void)state;
    static const char name[] = "abcdefghijklmnopqrstuvwxyz";
    for (size_t len = 0; len <= 26; len++) {
        for (size_t cut = 0; cut <= len; cut++) {
            e2b_json_reader reader;
            char wanted[32];
            memcpy(wanted, name, len);
            wanted[len] = '\0';
            memset(&reader, 0xff, sizeof reader);
            e2b_json_key_begin(&reader);
            assert_true(e2b_json_key_piece(&reader, name, cut));
            assert_true(e2b_json_key_piece(&reader, name + cut, len - cut));
            assert_int_equal(e2b_json_key_is(&reader, wanted), len <= 23);
            assert_int_equal(reader.key_len, len <= 23 ? len : 255);
            assert_true(memchr(reader.key, '\0', sizeof reader.key) != NULL);
            assert_string_equal(reader.key, len <= 23 ? wanted : "");
            assert_false(e2b_json_key_is(&reader, "abc") && len != 3);
        }
    }
}

static void keys_are_unescaped(void **state)
{
    (void)state;
    e2b_json_reader reader;
    memset(&reader, 0, sizeof reader);
    e2b_json_key_begin(&reader);
    assert_true(e2b_json_key_piece(&reader, "s\\u0061nd\\u00e9\\/", 17));
    assert_true(e2b_json_key_is(&reader, "sand\xc3\xa9/"));
    /* A NUL in a key ends no comparison. */
    e2b_json_key_begin(&reader);
    assert_true(e2b_json_key_piece(&reader, "pid\\u0000x", 10));
    assert_false(e2b_json_key_is(&reader, "pid"));
    /* 22 bytes and then a character of two. */
    e2b_json_key_begin(&reader);
    assert_true(e2b_json_key_piece(&reader, "0123456789012345678901\\u00e9", 28));
    assert_int_equal(reader.key_len, 255);
    /* Far too long: the count does not come round again. */
    e2b_json_key_begin(&reader);
    for (int i = 0; i < 300; i++) {
        assert_true(e2b_json_key_piece(&reader, "x", 1));
    }
    assert_int_equal(reader.key_len, 255);
    char same[256];
    memset(same, 0, sizeof same);
    memset(same, 'x', 255);
    assert_false(e2b_json_key_is(&reader, same));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_escapes),
        cmocka_unit_test(every_unit),
        cmocka_unit_test(hex_digits_only),
        cmocka_unit_test(surrogate_pairs),
        cmocka_unit_test(every_byte),
        cmocka_unit_test(in_any_pieces),
        cmocka_unit_test(bad_until_the_next_string),
        cmocka_unit_test(an_item_is_complete_at_its_last_piece),
        cmocka_unit_test(a_small_window_still_counts),
        cmocka_unit_test(keys),
        cmocka_unit_test(keys_are_unescaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
