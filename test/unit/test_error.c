/* The list of errors: each with its own number, name and text, found again by number. */
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct row {
    e2b_err constant, number;
    const char *name, *text;
    bool retry, executed;
} row;

#define ROW(name, number, retry, executed, text) {name, number, #name, text, retry, executed},
static const row rows[] = {E2B_ERRORS(ROW)};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static void test_each(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        assert_string_equal(e2b_err_name(rows[i].number), rows[i].name);
        assert_string_equal(e2b_err_text(rows[i].number), rows[i].text);
        assert_int_equal(e2b_err_may_retry(rows[i].number), rows[i].retry);
        assert_int_equal(e2b_err_may_have_run(rows[i].number), rows[i].executed);
    }
}

/* A macro of the same name, defined later, would hide the constant from every caller. */
static void test_constants(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].constant != rows[i].number) {
            fail_msg("%s is %d where it is used, and %d on the list", rows[i].name, (int)rows[i].constant,
                     (int)rows[i].number);
        }
    }
}

static void test_distinct(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        assert_true(rows[i].number <= 0 && rows[i].number >= INT16_MIN);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(rows[i].number, rows[k].number);
            assert_string_not_equal(rows[i].text, rows[k].text);
        }
        /* A text fits the place of an error with something to spare, on one line. */
        assert_true(strlen(rows[i].text) > 0 && strlen(rows[i].text) < sizeof((e2b_error *)0)->text / 2);
        assert_null(strpbrk(rows[i].text, "\r\n\t"));
    }
    assert_int_equal(E2B_OK, 0);
}

/* Every other number near the list and at the ends of the range. */
static void test_unknown(void **unused)
{
    (void)unused;
    static const e2b_err far[] = {INT32_MIN, INT32_MIN + 1, -65536, -65537, 65535, 65536 - 4, INT32_MAX};
    size_t unknown = 0;
    for (e2b_err err = -200; err < 200; err++) {
        bool listed = false;
        for (size_t i = 0; i < ROW_COUNT; i++) {
            listed = listed || rows[i].number == err;
        }
        if (!listed) {
            assert_string_equal(e2b_err_name(err), "E2B_?");
            assert_true(strlen(e2b_err_text(err)) > 0);
            assert_false(e2b_err_may_retry(err));
            assert_true(e2b_err_may_have_run(err));
            unknown++;
        }
    }
    assert_int_equal(unknown, 400 - ROW_COUNT);
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        assert_string_equal(e2b_err_name(far[i]), "E2B_?");
    }
}

/* What the predicates must say of the phases of a request, whatever the list says of the rest. */
static void test_phases(void **unused)
{
    (void)unused;
    static const e2b_err not_sent[] = {E2B_RESOLVE, E2B_CONNECT, E2B_CONNECT_TIMEOUT, E2B_SEND, E2B_SEND_TIMEOUT};
    static const e2b_err perhaps[] = {E2B_NO_REPLY, E2B_REPLY_TIMEOUT, E2B_TRUNCATED, E2B_IDLE};
    for (size_t i = 0; i < sizeof not_sent / sizeof not_sent[0]; i++) {
        assert_false(e2b_err_may_have_run(not_sent[i]));
        assert_true(e2b_err_may_retry(not_sent[i]));
    }
    for (size_t i = 0; i < sizeof perhaps / sizeof perhaps[0]; i++) {
        assert_true(e2b_err_may_have_run(perhaps[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_distinct),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
