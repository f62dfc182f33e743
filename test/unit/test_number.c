/* Numbers and their text: vectors, limits at -1, 0 and +1, and every short text. */
#include "base/number.h"
#include "check_str.h"
#include "incremental.h"
#include "vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* `value` is what the text means, as text, or NULL if it is refused. */
static void check_u64(const char *text, const char *value)
{
    char buffer[32];
    e2b_text written = {buffer, sizeof buffer, 0, 0};
    uint64_t found = 7;
    size_t len = strlen(text);
    bool good = e2b_parse_u64((e2b_str){guarded_copy(text, len), len}, &found);
    e2b_text_u64(&written, found);
    check_str((e2b_str){buffer, e2b_text_stored(&written)}, str_of(value != NULL ? value : "7"));
    assert_int_equal(good, value != NULL);
}

static void check_signed(bool (*parse)(e2b_str, int64_t *), const char *text, const char *value)
{
    char buffer[32];
    e2b_text written = {buffer, sizeof buffer, 0, 0};
    int64_t found = 7;
    size_t len = strlen(text);
    bool good = parse((e2b_str){guarded_copy(text, len), len}, &found);
    e2b_text_i64(&written, found);
    if (good != (value != NULL)) {
        fail_msg("%s is %s", text, good ? "accepted" : "refused");
    }
    check_str((e2b_str){buffer, e2b_text_stored(&written)}, str_of(value != NULL ? value : "7"));
}

static void test_u64(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"0", "0"}, {"1", "1"}, {"00012", "12"}, {"4294967295", "4294967295"}, {"4294967296", "4294967296"},
        {"18446744073709551614", "18446744073709551614"}, {"18446744073709551615", "18446744073709551615"},
        {"00000000000000000000000018446744073709551615", "18446744073709551615"},
        {"18446744073709551616", NULL}, {"18446744073709551620", NULL}, {"99999999999999999999", NULL},
        {"184467440737095516150", NULL}, {"", NULL}, {"-1", NULL}, {"+1", NULL}, {" 1", NULL}, {"1 ", NULL},
        {"0x1", NULL}, {"1/", NULL}, {"1:", NULL}, {"1.0", NULL}, {"\xb1", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_u64(rows[i][0], rows[i][1]);
    }
}

static void test_i64(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"0", "0"}, {"-0", "0"}, {"-1", "-1"}, {"9223372036854775806", "9223372036854775806"},
        {"9223372036854775807", "9223372036854775807"}, {"9223372036854775808", NULL},
        {"-9223372036854775807", "-9223372036854775807"}, {"-9223372036854775808", "-9223372036854775808"},
        {"-9223372036854775809", NULL}, {"-", NULL}, {"--1", NULL}, {"", NULL}, {"- 1", NULL}, {"1-", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_signed(e2b_parse_i64, rows[i][0], rows[i][1]);
    }
}

static void test_json_integer(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"0", "0"}, {"-0", "0"}, {"5", "5"}, {"5.0", "5"}, {"-5.000", "-5"}, {"5e3", "5000"}, {"5E+3", "5000"},
        {"5.36870912e9", "5368709120"}, {"50e-1", "5"}, {"500e-3", NULL}, {"5.5", NULL}, {"5.50e1", "55"},
        {"0.0", "0"}, {"0.001e3", "1"}, {"0.001e2", NULL}, {"100.10", NULL}, {"1e0", "1"}, {"1e-0", "1"},
        {"1200e-2", "12"}, {"1200e-3", NULL}, {"0.0001200e6", "120"},
        /* Zero stays zero, and hopeless exponents don't overflow anything. */
        {"0e99999999999999999999999999", "0"}, {"-0.00e-99999999999999999999999999", "0"},
        {"1e99999999999999999999999999", NULL}, {"1e-99999999999999999999999999", NULL},
        {"1e18446744073709551616", NULL}, {"1e18446744073709551617", NULL}, /* 2^64 and one more */
        {"1e18", "1000000000000000000"}, {"1e19", NULL}, {"9e18", "9000000000000000000"},
        {"-9e18", "-9000000000000000000"},
        {"1e000000000000000000000000000000003", "1000"},
        {"9223372036854775807", "9223372036854775807"}, {"9223372036854775808", NULL},
        {"9223372036854775806.0", "9223372036854775806"}, {"922337203685477580.7e1", "9223372036854775807"},
        {"922337203685477580.8e1", NULL}, {"-922337203685477580.8e1", "-9223372036854775808"},
        {"-9223372036854775808", "-9223372036854775808"}, {"-9223372036854775809", NULL},
        {"92233720368547758070e-1", "9223372036854775807"}, {"92233720368547758080e-1", NULL},
        {"10000000000000000000000000000e-20", "100000000"},
        /* Not JSON. */
        {"", NULL}, {"-", NULL}, {"01", NULL}, {"-01", NULL}, {"00", NULL}, {"+1", NULL}, {".5", NULL}, {"5.", NULL},
        {"5.e1", NULL}, {"5e", NULL}, {"5e+", NULL}, {"5e1.0", NULL}, {"5 ", NULL}, {" 5", NULL}, {"5e1 ", NULL},
        {"0x5", NULL}, {"5f", NULL}, {"--5", NULL}, {"5e--1", NULL}, {"5ee1", NULL}, {"null", NULL}, {"1e1e1", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_signed(e2b_parse_json_integer, rows[i][0], rows[i][1]);
    }
}

/* ---- Every short text against a reference that goes by another way ------------- */

/* 0 to `len` digits at `text`; the number of them. */
static size_t digits_at(const char *text, size_t len)
{
    size_t count = 0;
    while (count < len && text[count] >= '0' && text[count] <= '9') {
        count++;
    }
    return count;
}

static bool has_json_form(const char *text, size_t len)
{
    size_t at = len > 0 && text[0] == '-' ? 1 : 0;
    size_t whole = digits_at(text + at, len - at);
    if (whole == 0 || (whole > 1 && text[at] == '0')) {
        return false;
    }
    at += whole;
    if (at < len && text[at] == '.') {
        size_t fraction = digits_at(text + at + 1, len - at - 1);
        if (fraction == 0) {
            return false;
        }
        at += 1 + fraction;
    }
    if (at < len && text[at] == 'e') {
        at += at + 1 < len && text[at + 1] == '-' ? 2 : 1;
        size_t exponent = digits_at(text + at, len - at);
        if (exponent == 0) {
            return false;
        }
        at += exponent;
    }
    return at == len;
}

static void test_every_short_json_number(void **unused)
{
    (void)unused;
    static const char alphabet[] = "0125.-e";
    size_t longest = test_sampled() ? 5 : 7;
    for (size_t len = 1; len <= longest; len++) {
        size_t digits[8] = {0};
        char text[9];
        size_t i;
        do {
            for (i = 0; i < len; i++) {
                text[i] = alphabet[digits[i]];
            }
            text[len] = '\0';
            int64_t found = 7, expected = 7;
            bool good = has_json_form(text, len);
            if (good) {
                /* Exact for whole numbers this short; and what binary64 can't tell from zero is not zero. */
                double value = strtod(text, NULL);
                bool zero = strspn(text, "-0.") == strcspn(text, "e");
                good = value > -9e18 && value < 9e18 && value == (double)(int64_t)value && (value != 0 || zero);
                expected = good ? (int64_t)value : 7;
            }
            if (e2b_parse_json_integer((e2b_str){text, len}, &found) != good || found != expected) {
                fail_msg("%s", text);
            }
            for (i = 0; i < len && ++digits[i] == sizeof alphabet - 1; i++) {
                digits[i] = 0;
            }
        } while (i < len);
    }
}

/* ---- 512ths --------------------------------------------------------------------- */

static void check_512ths(uint64_t count, const char *expected)
{
    char buffer[40];
    e2b_text text = {buffer, sizeof buffer, 0, 0};
    e2b_text_512ths(&text, count);
    check_str((e2b_str){buffer, e2b_text_stored(&text)}, str_of(expected));
}

static void test_512ths(void **unused)
{
    (void)unused;
    check_512ths(0, "0.0");
    check_512ths(1, "0.001953125");
    check_512ths(2, "0.00390625");
    check_512ths(256, "0.5");
    check_512ths(511, "0.998046875");
    check_512ths(512, "1.0");
    check_512ths(513, "1.001953125");
    check_512ths(512ull * 1000000 - 1, "999999.998046875");
    check_512ths(UINT64_MAX, "36028797018963967.998046875");
    /* Read back: the text is exact, and as short as it can be. */
    for (unsigned int count = 0; count < 4096; count++) {
        char buffer[40];
        e2b_text text = {buffer, sizeof buffer, 0, 0};
        e2b_text_512ths(&text, count);
        size_t length = e2b_text_stored(&text);
        e2b_text_terminate(&text);
        assert_true(strtod(buffer, NULL) == count / 512.0);
        assert_true(buffer[length - 1] != '0' || buffer[length - 2] == '.');
    }
}

static void test_vectors(void **unused)
{
    (void)unused;
    vector_file vectors;
    size_t resources = 0, integers = 0;
    vectors_open(&vectors, "json_numbers");
    while (vectors_next(&vectors)) {
        if (vector_is(&vectors, "resource_value", "true")) {
            /* A binary64 above 0: 52 bits after an implied 1, times 2^(exponent - 1075). */
            e2b_str bytes = vector_bytes(vector_value(&vectors, "input.binary64_hex"));
            uint64_t bits = 0;
            for (size_t i = 0; i < 8; i++) {
                bits = bits << 8 | (uint8_t)bytes.ptr[i];
            }
            unsigned int exponent = (unsigned int)(bits >> 52);
            uint64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
            assert_true(bits == 0 || (exponent > 1066 - 52 && exponent <= 1066));
            e2b_str expected = vector_value(&vectors, "expected.repr");
            check_512ths(bits == 0 ? 0 : mantissa >> (1066 - exponent), expected.ptr);
            resources++;
        } else if (vector_is(&vectors, "input.op", "int_text")) {
            e2b_str value = vector_value(&vectors, "input.value");
            e2b_str expected = vector_value(&vectors, "expected.json");
            if (value.ptr[0] == '-') {
                check_signed(e2b_parse_i64, value.ptr, expected.ptr);
            } else {
                check_u64(value.ptr, expected.ptr);
            }
            integers++;
        }
    }
    vectors_close(&vectors);
    assert_int_equal(resources, 11);
    assert_int_equal(integers, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u64),          cmocka_unit_test(test_i64),
        cmocka_unit_test(test_json_integer), cmocka_unit_test(test_every_short_json_number),
        cmocka_unit_test(test_512ths),       cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
