#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "incremental.h"
#include "json_reference.h"

static void compare(const char *bytes, size_t len)
{
    uint32_t code = 0xdeadbeef;
    unsigned long wanted = 0;
    e2b_str text = {bytes, len};
    size_t count = utf8_reference(bytes, len, &wanted);
    assert_int_equal(e2b_utf8_next(text, &code), count);
    assert_int_equal(code, count > 0 ? wanted : 0xdeadbeef);
}

static void every_short_sequence(void **state)
{
    (void)state;
    uint32_t code;
    assert_int_equal(e2b_utf8_next((e2b_str){NULL, 0}, &code), 0);
    for (unsigned a = 0; a < 256; a++) {
        char bytes[4] = {(char)a, 0, 0, 0};
        compare(guarded_copy(bytes, 1), 1);
        for (unsigned b = 0; b < 256; b++) {
            bytes[1] = (char)b;
            compare(bytes, 2);
            for (unsigned c = 0; a >= 0xe0 && c < 256; c++) {
                bytes[2] = (char)c;
                compare(bytes, 3);
            }
        }
    }
}

static void every_class_of_four(void **state)
{
    (void)state;
    static const uint8_t last[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0xbf, 0xc0, 0xff};
    for (unsigned a = 0xf0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            for (size_t c = 0; c < sizeof last * sizeof last; c++) {
                char bytes[4] = {(char)a, (char)b, (char)last[c / sizeof last], (char)last[c % sizeof last]};
                compare(bytes, 4);
            }
        }
    }
}

static void every_code_point_there_and_back(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        if (code == 0xd800) {
            code = 0xe000;
        }
        char bytes[4];
        uint32_t back = 0;
        size_t count = e2b_utf8_encode(code, bytes);
        assert_int_equal(count, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        assert_int_equal(e2b_utf8_next((e2b_str){bytes, count}, &back), count);
        assert_int_equal(back, code);
        assert_true(e2b_utf8_valid((e2b_str){bytes, count}));
        for (size_t cut = 1; cut < count; cut++) {
            assert_false(e2b_utf8_valid((e2b_str){bytes, cut}));
        }
    }
}

static bool valid(const char *text)
{
    return e2b_utf8_valid((e2b_str){text, strlen(text)});
}

static void named_cases(void **state)
{
    (void)state;
    assert_true(e2b_utf8_valid((e2b_str){NULL, 0}));
    assert_true(e2b_utf8_valid((e2b_str){"a\0b", 3}));
    assert_true(valid("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
    assert_true(valid("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));
    assert_false(valid("\xc0\x80"));
    assert_false(valid("\xc1\xbf"));
    assert_false(valid("\xe0\x9f\xbf"));
    assert_false(valid("\xed\xa0\x80"));
    assert_false(valid("\xed\xbf\xbf"));
    assert_false(valid("\xf0\x8f\xbf\xbf"));
    assert_false(valid("\xf4\x90\x80\x80"));
    assert_false(valid("\xf5\x80\x80\x80"));
    assert_false(valid("\xff"));
    assert_false(valid("\xfe"));
    assert_false(valid("\x80"));
    assert_false(valid("ab\xe2\x82"));
    assert_false(valid("\xe2\x82" "a"));
    assert_false(valid("a\xc3"));
    assert_false(valid("\xc3\xa9\xa9"));
}

/* Bad stays bad, whatever comes. */
static void steps(void **state)
{
    (void)state;
    uint8_t at = E2B_UTF8_WHOLE;
    static const char euro[] = "\xe2\x82\xac";
    for (size_t i = 0; i < 3; i++) {
        at = e2b_utf8_step(at, (uint8_t)euro[i]);
        assert_true(at < E2B_UTF8_BAD);
        assert_int_equal(at == E2B_UTF8_WHOLE, i == 2);
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        assert_int_equal(e2b_utf8_step(E2B_UTF8_BAD, (uint8_t)byte), E2B_UTF8_BAD);
    }
}

static void printable(const char *in, size_t len, const char *out)
{
    char *text = guarded_copy(in, len);
    size_t kept = e2b_utf8_printable(text, len);
    assert_int_equal(kept, strlen(out));
    assert_memory_equal(text, out, kept);
}

#define PRINTABLE(in, out) printable(in, sizeof(in) - 1, out)

static void for_a_terminal(void **state)
{
    (void)state;
    PRINTABLE("", "");
    PRINTABLE("plain ~", "plain ~");
    PRINTABLE("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    PRINTABLE("a\nb\tc\0d\x1b[31m\x7f", "a b c d [31m ");
    PRINTABLE("a\xc2\x9b" "31m\xc2\x80\xc2\xa0", "a 31m \xc2\xa0");
    PRINTABLE("\xff\xfe" "a\xc0\x80", "??a??");
    PRINTABLE("\xed\xa0\x80", "???");
    PRINTABLE("a\xe2\x82" "b", "a??b");
    PRINTABLE("abc\xe2\x82", "abc");
    PRINTABLE("abc\xf0\x9f\x98", "abc");
    PRINTABLE("abc\xc3", "abc");
    PRINTABLE("abc\xff", "abc?");
    PRINTABLE("\xc2\x85\xc3\xa9\xff\xe2\x82\xac\xe2", " \xc3\xa9?\xe2\x82\xac");
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        size_t kept = e2b_utf8_printable(&byte, 1);
        if (c >= 0xc2 && c <= 0xf4) {
            assert_int_equal(kept, 0);
        } else {
            assert_int_equal(kept, 1);
            assert_int_equal(byte, c < 0x20 || c == 0x7f ? ' ' : c >= 0x80 ? '?' : c);
        }
    }
}

static void printable_is_valid_and_stays(void **state)
{
    (void)state;
    unsigned int seed = 1;
    for (int round = 0; round < 20000; round++) {
        char text[24];
        size_t len = test_random(&seed) % sizeof text;
        for (size_t i = 0; i < len; i++) {
            static const uint8_t classes[] = {0x00, 'a', 0x7f, 0x80, 0x9b, 0xbf, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xff};
            text[i] = (char)classes[test_random(&seed) % sizeof classes];
        }
        size_t kept = e2b_utf8_printable(text, len);
        assert_true(kept <= len);
        assert_true(e2b_utf8_valid((e2b_str){text, kept}));
        char again[24];
        memcpy(again, text, sizeof again);
        assert_int_equal(e2b_utf8_printable(again, kept), kept);
        assert_memory_equal(again, text, kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_sequence),
        cmocka_unit_test(every_class_of_four),
        cmocka_unit_test(every_code_point_there_and_back),
        cmocka_unit_test(named_cases),
        cmocka_unit_test(steps),
        cmocka_unit_test(for_a_terminal),
        cmocka_unit_test(printable_is_valid_and_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
