#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_text.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "check_str.h"
#include "incremental.h"
#include "json_reference.h"
#include "vectors.h"

static char written[4096];

static e2b_str write_string(e2b_str string)
{
    e2b_text text = {written, sizeof written, 0, 0};
    e2b_json_write_string(&text, string);
    assert_true(e2b_text_fits(&text));
    return (e2b_str){written, e2b_text_stored(&text)};
}

static void as_the_vectors_say(void **state)
{
    (void)state;
    size_t rows = 0;
    vector_file vectors;
    vectors_open(&vectors, "json_numbers");
    while (vectors_next(&vectors)) {
        if (vector_is(&vectors, "input.op", "json_string")) {
            e2b_str string = vector_bytes(vector_value(&vectors, "input.utf8_hex"));
            check_str(write_string(string), vector_value(&vectors, "expected.json"));
            rows++;
        }
    }
    vectors_close(&vectors);
    assert_int_equal(rows, 20);
}

/* Only printable ASCII goes out, and what comes back is what went in. */
static void every_code_point_there_and_back(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code += code < 0x10400 || code > 0x10ff00 || !test_sampled() ? 1 : 61) {
        if (code == 0xd800) {
            code = 0xe000;
        }
        char in[4], out[8];
        size_t len = e2b_utf8_encode(code, in);
        e2b_str json = write_string((e2b_str){in, len});
        assert_true(json_reference(json.ptr, json.len, 0, false));
        for (size_t i = 0; i < json.len; i++) {
            assert_true(json.ptr[i] >= 0x20 && json.ptr[i] <= 0x7e);
        }
        assert_int_equal(json.len - 2 == 1, code >= 0x20 && code <= 0x7e && code != '"' && code != '\\');
        e2b_json_reader reader;
        e2b_text text = {out, sizeof out, 0, 0};
        memset(&reader, 0, sizeof reader);
        assert_true(e2b_json_unescape(&reader, json.ptr + 1, json.len - 2, &text));
        assert_int_equal(e2b_text_stored(&text), len);
        assert_memory_equal(out, in, len);
    }
}

static void bytes_that_are_not_utf8(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"\xff", "\"\\ufffd\""},
        {"a\xc0\x80z", "\"a\\ufffd\\ufffdz\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\xe2\x82", "\"\\ufffd\\ufffd\""},
        {"\xe2\x82\"", "\"\\ufffd\\ufffd\\\"\""},
        {"\xc3\xc3\xa9", "\"\\ufffd\\u00e9\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = strlen(cases[i][0]);
        check_str(write_string((e2b_str){guarded_copy(cases[i][0], len), len}), str_of(cases[i][1]));
    }
}

static void long_text_with_few_escapes(void **state)
{
    (void)state;
    check_str(write_string(str_of("echo \"caf\xc3\xa9\" | sed 's/\\n//'\n")),
              str_of("\"echo \\\"caf\\u00e9\\\" | sed 's/\\\\n//'\\n\""));
    check_str(write_string((e2b_str){NULL, 0}), str_of("\"\""));
    check_str(write_string((e2b_str){"a\0b", 3}), str_of("\"a\\u0000b\""));
}

static void pairs(void **state)
{
    (void)state;
    static const e2b_pair some[] = {{"a", "1"}, {"q\"", "\xc3\xa9"}, {"", ""}};
    static const char *const expected[] = {"{}", "{\"a\":\"1\"}", "{\"a\":\"1\",\"q\\\"\":\"\\u00e9\"}",
                                           "{\"a\":\"1\",\"q\\\"\":\"\\u00e9\",\"\":\"\"}"};
    for (size_t count = 0; count <= 3; count++) {
        e2b_text text = {written, sizeof written, 0, 0};
        e2b_json_write_pairs(&text, count > 0 ? some : NULL, count);
        check_str((e2b_str){written, e2b_text_stored(&text)}, str_of(expected[count]));
        assert_true(json_reference(written, e2b_text_stored(&text), 1, false));
    }
}

/* Counted first, then through a window of each size, as a body is sent. */
static void through_any_window(void **state)
{
    (void)state;
    static const e2b_pair some[] = {{"name\n", "v\xf0\x9f\x98\x80\"\\"}, {"\x7f", "plain text"}};
    char whole[256], joined[256];
    e2b_text text = {whole, sizeof whole, 0, 0}, counted = {NULL, 0, 0, 0};
    e2b_json_write_pairs(&text, some, 2);
    e2b_json_write_pairs(&counted, some, 2);
    assert_true(counted.total == text.total);
    for (size_t size = 1; size <= text.total; size++) {
        size_t len = 0;
        while (len < text.total) {
            char window[256];
            e2b_text piece = {window, size, len, 0};
            e2b_json_write_pairs(&piece, some, 2);
            memcpy(joined + len, window, e2b_text_stored(&piece));
            len += e2b_text_stored(&piece);
        }
        check_str((e2b_str){joined, len}, (e2b_str){whole, (size_t)text.total});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_vectors_say),
        cmocka_unit_test(every_code_point_there_and_back),
        cmocka_unit_test(bytes_that_are_not_utf8),
        cmocka_unit_test(long_text_with_few_escapes),
        cmocka_unit_test(pairs),
        cmocka_unit_test(through_any_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
