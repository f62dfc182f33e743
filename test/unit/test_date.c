/* Moments and durations as text, against the C library's calendar. */
#include "base/date.h"
#include "check_str.h"
#include "incremental.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define DAY 86400000
#define FIRST (-62167219200000)   /* 0000-01-01T00:00:00Z */
#define LAST INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

static bool parse(const char *text, int64_t *ms)
{
    size_t len = strlen(text);
    return e2b_parse_date((e2b_str){guarded_copy(text, len), len}, ms);
}

static void check_moment(const char *text, int64_t expected)
{
    int64_t ms = -7;
    if (!parse(text, &ms)) {
        fail_msg("%s is refused", text);
    }
    assert_true(ms == expected);
}

static void check_written(int64_t ms, const char *expected)
{
    char buffer[40];
    e2b_text text = {buffer, sizeof buffer, 0, 0};
    e2b_text_date(&text, ms);
    check_str((e2b_str){buffer, e2b_text_stored(&text)}, str_of(expected));
}

static void test_parse(void **unused)
{
    (void)unused;
    check_moment("1970-01-01T00:00:00Z", 0);
    check_moment("1970-01-01T00:00:00.001Z", 1);
    check_moment("1969-12-31T23:59:59.999Z", -1);
    check_moment("2026-03-04T05:06:07Z", INT64_C(1772600767000));
    check_moment("2026-03-04T05:06:07.123456789Z", INT64_C(1772600767123));
    check_moment("2026-03-04T05:06:07.9Z", INT64_C(1772600767900));
    check_moment("2026-03-04T05:06:07.09Z", INT64_C(1772600767090));
    check_moment("2026-03-04T05:06:07.0009Z", INT64_C(1772600767000));
    check_moment("2026-03-04t05:06:07z", INT64_C(1772600767000));
    check_moment("2026-03-04T05:06:07+00:00", INT64_C(1772600767000));
    check_moment("2026-03-04T05:06:07-00:00", INT64_C(1772600767000));
    check_moment("2026-03-04T07:36:07+02:30", INT64_C(1772600767000));
    check_moment("2026-03-03T21:06:07.5-08:00", INT64_C(1772600767500));
    check_moment("2026-03-05T05:05:07+23:59", INT64_C(1772600767000));
    check_moment("2024-02-29T00:00:00Z", INT64_C(1709164800000));
    check_moment("2000-02-29T00:00:00Z", INT64_C(951782400000));
    check_moment("0000-01-01T00:00:00Z", FIRST);
    check_moment("9999-12-31T23:59:59.999999999Z", LAST);
    check_moment("0000-01-01T00:00:00+23:59", FIRST - 86340000);
    /* Leap seconds end a day of UTC, wherever the clock on the wall stands. */
    check_moment("2016-12-31T23:59:60Z", INT64_C(1483228800000));
    check_moment("2017-01-01T01:29:60.25+01:30", INT64_C(1483228800250));
}

static void test_refused(void **unused)
{
    (void)unused;
    static const char *const rows[] = {
        "", "2026", "2026-03-04", "2026-03-04T", "2026-03-04T05:06:07", "2026-03-04T05:06Z", "2026-03-04 05:06:07Z",
        "2026-3-04T05:06:07Z", "026-03-04T05:06:07Z", "12026-03-04T05:06:07Z", "-026-03-04T05:06:07Z",
        "2026-00-04T05:06:07Z", "2026-13-04T05:06:07Z", "2026-03-00T05:06:07Z", "2026-03-32T05:06:07Z",
        "2026-04-31T05:06:07Z", "2026-02-29T05:06:07Z", "2100-02-29T05:06:07Z", "1900-02-29T00:00:00Z",
        "2024-02-30T05:06:07Z", "2026-03-04T24:00:00Z", "2026-03-04T05:60:07Z", "2026-03-04T05:06:61Z",
        "2026-03-04T05:06:60Z", "2016-12-31T23:59:60+01:00", "2026-03-04T05:06:07.Z", "2026-03-04T05:06:07.1234567890Z",
        "2026-03-04T05:06:07,5Z", "2026-03-04T05:06:07+24:00", "2026-03-04T05:06:07+02:60", "2026-03-04T05:06:07+2:00",
        "2026-03-04T05:06:07+0200", "2026-03-04T05:06:07+02", "2026-03-04T05:06:07 Z", "2026-03-04T05:06:07Zx",
        " 2026-03-04T05:06:07Z", "2026-03-04T05:06:07Z ", "2026/03/04T05:06:07Z", "2026-03-04T05.06.07Z",
        "2026-03-04T+5:06:07Z", "2026-03-04T05:06:07UTC", "2026-03-04T05:06:07+-2:00", "null",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t ms = 5;
        if (parse(rows[i], &ms)) {
            fail_msg("%s is accepted", rows[i]);
        }
        assert_true(ms == 5);
    }
    /* A date cut anywhere is none. */
    static const char whole[] = "2026-03-04T05:06:07.25+02:30";
    for (size_t len = 0; len < sizeof whole - 1; len++) {
        int64_t ms;
        assert_false(e2b_parse_date((e2b_str){guarded_copy(whole, len), len}, &ms));
    }
}

static void test_written(void **unused)
{
    (void)unused;
    check_written(0, "1970-01-01T00:00:00Z");
    check_written(1, "1970-01-01T00:00:00.001Z");
    check_written(-1, "1969-12-31T23:59:59.999Z");
    check_written(INT64_C(1772600767000), "2026-03-04T05:06:07Z");
    check_written(INT64_C(1772600767120), "2026-03-04T05:06:07.120Z");
    check_written(FIRST, "0000-01-01T00:00:00Z");
    check_written(FIRST - 1, "0000-01-01T00:00:00Z");
    check_written(FIRST + 1, "0000-01-01T00:00:00.001Z");
    check_written(INT64_MIN, "0000-01-01T00:00:00Z");
    check_written(LAST, "9999-12-31T23:59:59.999Z");
    check_written(LAST - 999, "9999-12-31T23:59:59Z");
    check_written(LAST + 1, "9999-12-31T23:59:59.999Z");
    check_written(INT64_MAX, "9999-12-31T23:59:59.999Z");
}

/* Every day of 10,000 years: one after the other, as a calendar counted by hand says. */
static void test_every_day(void **unused)
{
    (void)unused;
    static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t ms = FIRST;
    int step = test_sampled() ? 97 : 1;
    for (int year = 0; year < 10000; year++) {
        for (int month = 1; month <= 12; month++) {
            bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            int days = lengths[month - 1] + (leap && month == 2);
            for (int day = 1; day <= days; day++, ms += DAY) {
                if ((year * 372 + day) % step != 0) {
                    continue;
                }
                char expected[40], buffer[40];
                int64_t back;
                snprintf(expected, sizeof expected, "%04d-%02d-%02dT00:00:00Z", year, month, day);
                e2b_text text = {buffer, sizeof buffer, 0, 0};
                e2b_text_date(&text, ms);
                e2b_str written = {buffer, e2b_text_stored(&text)};
                if (!str_equal(written, str_of(expected)) || !e2b_parse_date(written, &back) || back != ms) {
                    fail_msg("%s", expected);
                }
            }
        }
    }
    assert_true(ms == LAST + 1);
}

/* The C library agrees, and what was written is read back. */
static void test_random_moments(void **unused)
{
    (void)unused;
    unsigned int seed = 3;
    for (int turn = 0; turn < 20000; turn++) {
        int64_t ms = (int64_t)test_random(&seed) * 999;
        ms += test_random(&seed) % 1000;
        ms %= (int64_t)INT32_MAX * 1000; /* time_t may have 32 bits */
        time_t seconds = (time_t)(ms / 1000);
        int64_t back;
        struct tm parts;
        char expected[64], buffer[40];
        assert_non_null(gmtime_r(&seconds, &parts));
        strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", &parts);
        if (ms % 1000 != 0) {
            snprintf(expected + strlen(expected), 8, ".%03u", (unsigned int)(ms % 1000));
        }
        strcat(expected, "Z");
        e2b_text text = {buffer, sizeof buffer, 0, 0};
        e2b_text_date(&text, ms);
        check_str((e2b_str){buffer, e2b_text_stored(&text)}, str_of(expected));
        assert_true(parse(expected, &back) && back == ms);
    }
}

/* ---- Durations ---------------------------------------------------------------------- */

static void test_durations(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        uint32_t ms;
    } rows[] = {
        {"0", 0}, {"0s", 0}, {"90", 90000}, {"90s", 90000}, {"10m", 600000}, {"1h30m", 5400000}, {"2d", 172800000},
        {"250ms", 250}, {"1d2h3m4s5ms", 93784005}, {"1h5ms", 3600005}, {"007s", 7000}, {"4294967", 4294967000},
        {"4294967293ms", 4294967293}, {"4294967294ms", 4294967294}, {"49d17h2m47s294ms", 4294967294},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t ms = 1;
        size_t len = strlen(rows[i].text);
        if (!e2b_parse_duration((e2b_str){guarded_copy(rows[i].text, len), len}, &ms)) {
            fail_msg("%s is refused", rows[i].text);
        }
        assert_int_equal(ms, rows[i].ms);
    }
    static const char *const refused[] = {
        "", "s", "ms", "-1", "-1s", "+1s", "1.5s", "1 s", " 1s", "1s ", "1S", "1x", "1sec", "1mss", "1w", "1m1h",
        "1s1s", "1ms1s", "1h30", "30 1h", "1h ", "1hm", "4294967295ms", "4294967296ms", "4294968",
        "49d17h2m47s295ms", "50d",
        "18446744073709551616", "18446744073709551615d", "99999999999999999999s",
        "213503982335d" /* 2^64 ms and a little more */, "1\xc2\xb5s", "1m s",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        uint32_t ms = 5;
        size_t len = strlen(refused[i]);
        if (e2b_parse_duration((e2b_str){guarded_copy(refused[i], len), len}, &ms)) {
            fail_msg("%s is accepted", refused[i]);
        }
        assert_int_equal(ms, 5);
    }
}

static void check_duration(uint64_t ms, const char *expected)
{
    char buffer[64];
    e2b_text text = {buffer, sizeof buffer, 0, 0};
    e2b_text_duration(&text, ms);
    check_str((e2b_str){buffer, e2b_text_stored(&text)}, str_of(expected));
}

static void test_durations_written(void **unused)
{
    (void)unused;
    check_duration(0, "0s");
    check_duration(1, "1ms");
    check_duration(250, "250ms");
    check_duration(999, "999ms");
    check_duration(1000, "1s");
    check_duration(90000, "1m30s");
    check_duration(5400000, "1h30m");
    check_duration(86399999, "23h59m59s999ms");
    check_duration(86400000, "1d");
    check_duration(UINT64_MAX, "213503982334d14h25m51s615ms");
    unsigned int seed = 9;
    for (int turn = 0; turn < 10000; turn++) {
        uint32_t ms = test_random(&seed), back = 0;
        ms >>= turn % 32;
        char buffer[64];
        e2b_text text = {buffer, sizeof buffer, 0, 0};
        e2b_text_duration(&text, ms);
        assert_true(e2b_parse_duration((e2b_str){buffer, e2b_text_stored(&text)}, &back));
        assert_int_equal(back, ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),          cmocka_unit_test(test_refused),
        cmocka_unit_test(test_written),        cmocka_unit_test(test_every_day),
        cmocka_unit_test(test_random_moments), cmocka_unit_test(test_durations),
        cmocka_unit_test(test_durations_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
