#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "envd/process_reader.h"
#include "incremental.h"
#include "json_documents.h"
#include "process_messages.h"

static void expect(const char *message, const char *log)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "start 7\n%s\n", log);
    const char *found = json_message(message, strlen(message));
    if (strcmp(found, wanted) != 0) fail_msg("%s gave:\n%s", message, found);
}

static void what_is_not_known_is_skipped(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "{}", " { } \n", "{\"event\":null}", "{\"event\":{}}", "{\"x\":1,\"y\":[{\"event\":{\"end\":{}}}]}",
        "{\"event\":{\"future\":{\"a\":[1,{\"b\":2}],\"stdout\":\"QQ==\"}},\"x\":1}", "{\"event\":{\"future\":5}}",
        "{\"event\":{\"future\":\"text\"}}", "{\"event\":{\"future\":[[[\"stdout\",\"QQ==\"]]]}}", "{\"event\":{\"start\":null,\"data\":null,\"end\":null}}",
        "{\"event\":{\"data\":{\"stdout\":null,\"stderr\":null,\"pty\":null}}}", "{\"event\":{\"data\":{\"x\":{\"stdout\":\"QQ==\"}}}}",
        "{\"event\":{\"data\":{\"x\":[\"QQ==\"],\"y\":\"\\ud83d\\ude00\",\"z\":-1e9}}}", "{\"EVENT\":{\"end\":{}}}", "{\"event \":{\"end\":{}}}",
        "{\"event\":{\"start\":{\"pid\":9,\"x\":{\"pid\":\"a\"}}}}", "{\"event\":{\"event\":{\"end\":{}}}}",
        "{\"event\":{\"keepalive\":{}},\"event\":{\"keepalive\":{}}}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect(rows[i], "whole");
    expect("{\"x\":1,\"event\":{\"y\":[],\"data\":{\"z\":{},\"stdout\":\"QQ==\",\"w\":0},\"v\":true},\"u\":null}", "out 41\nwhole");
    expect("{\"event\":{\"data\":{\"stdout\":\"QQ==\",\"stderr\":null}}}", "out 41\nwhole");
    expect("{\"event\":{\"data\":{\"stdout\":null,\"stdout\":\"QQ==\"}}}", "out 41\nwhole");
    expect("{\"\\u0065vent\":{\"d\\u0061ta\":{\"std\\u006fut\":\"QQ==\"}}}", "out 41\nwhole");
    expect("{\"event\":{\"end\":{\"exitCode\":null,\"exited\":null,\"status\":null,\"error\":null}}}", "end 0 killed ''\nwhole");
    expect("{\"event\":{\"end\":{\"status\":\"s\",\"x\":\"t\",\"exited\":true,\"exitCode\":3}}}", "end 3 exited 's'\nwhole");
    expect("{\"event\":{\"end\":{\"exitCode\":1,\"exitCode\":2,\"exited\":true,\"exited\":false}}}", "end 2 killed ''\nwhole");
    expect("{\"event\":{\"end\":{\"exitCode\":5.0e1}}}", "end 50 killed ''\nwhole");
}

static void wrong_types(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "", " ", "null", "true", "1", "-0.5e3", "\"x\"", "[]", "[{\"event\":{}}]", "{\"event\":1}", "{\"event\":true}", "{\"event\":\"x\"}",
        "{\"event\":\"\"}", "{\"event\":[]}", "{\"event\":{\"data\":1}}", "{\"event\":{\"data\":\"x\"}}", "{\"event\":{\"data\":[]}}",
        "{\"event\":{\"data\":false}}", "{\"event\":{\"end\":1}}", "{\"event\":{\"end\":[]}}", "{\"event\":{\"start\":\"7\"}}",
        "{\"event\":{\"start\":{\"pid\":\"7\"}}}", "{\"event\":{\"start\":{\"pid\":true}}}", "{\"event\":{\"start\":{\"pid\":{}}}}",
        "{\"event\":{\"start\":{\"pid\":[7]}}}", "{\"event\":{\"start\":{\"pid\":-7}}}", "{\"event\":{\"start\":{\"pid\":7.5}}}",
        "{\"event\":{\"start\":{\"pid\":99999999999999999999999999}}}", "{\"event\":{\"data\":{\"stdout\":5}}}",
        "{\"event\":{\"data\":{\"stdout\":true}}}", "{\"event\":{\"data\":{\"stdout\":{}}}}", "{\"event\":{\"data\":{\"stdout\":[\"QQ==\"]}}}",
        "{\"event\":{\"data\":{\"pty\":0}}}", "{\"event\":{\"end\":{\"exitCode\":\"1\"}}}", "{\"event\":{\"end\":{\"exitCode\":true}}}",
        "{\"event\":{\"end\":{\"exitCode\":0.5}}}", "{\"event\":{\"end\":{\"exitCode\":[]}}}", "{\"event\":{\"end\":{\"exited\":1}}}",
        "{\"event\":{\"end\":{\"exited\":\"true\"}}}", "{\"event\":{\"end\":{\"status\":1}}}", "{\"event\":{\"end\":{\"status\":{}}}}",
        "{\"event\":{\"end\":{\"error\":false}}}", "{\"event\":{\"end\":{\"status\":\"\\ud800\"}}}", "{\"event\":{\"end\":{\"error\":\"\xff\"}}}",
        "{\"event\":{\"end\":{\"status\":\"a\nb\"}}}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect(rows[i], "bad");
}

static void bad_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_bad_count; i++) {
        const char *log = json_message(json_bad[i].text, json_bad[i].len);
        assert_string_equal(log, "start 7\nbad\n");
    }
    expect("{\"event\":{\"end\":{}}", "bad");
    expect("{\"event\":{\"end\":{}}}}", "bad");
    expect("{\"event\":{\"end\":{}}} {}", "bad");
    expect("{\"event\":{\"data\":{\"stdout\":\"QUJD\"}}", "out 414243\nbad");
    expect("{\"event\":{\"data\":{\"stdout\":\"QUJD\",}}}", "out 414243\nbad");
    expect("{\"event\":{\"data\":{\"stdout\":\"QUJD", "out 414243\nbad");
    expect("{\"event\":{\"data\":{\"stdout\":\"QUJD\" \"stderr\":\"QQ==\"}}}", "out 414243\nbad");
}

#define DATA(text) "{\"event\":{\"data\":{\"stdout\":\"" text "\"}}}"

static void base64(void **state)
{
    (void)state;
    expect(DATA(""), "whole");
    expect(DATA("QQ=="), "out 41\nwhole");
    expect(DATA("QUI="), "out 4142\nwhole");
    expect(DATA("QUJDREVGRw=="), "out 41424344454647\nwhole");
    expect(DATA("/+/+"), "out ffeffe\nwhole");
    /* Trailing bits are let pass. */
    expect(DATA("QR=="), "out 41\nwhole");
    expect(DATA("QUJ="), "out 4142\nwhole");
    /* What was decoded before the bad place is a true prefix. */
    expect(DATA("Q"), "bad");
    expect(DATA("QQ"), "bad");
    expect(DATA("QUI"), "bad");
    expect(DATA("QQ="), "bad");
    expect(DATA("="), "bad");
    expect(DATA("===="), "bad");
    expect(DATA("Q==="), "bad");
    expect(DATA("QUJDQ"), "out 414243\nbad");
    expect(DATA("QUJDQUJDQ==="), "out 414243414243\nbad");
    expect(DATA("QUJD!UJD"), "out 414243\nbad");
    expect(DATA("QUJDQUJ-QUJD"), "out 414243\nbad");
    expect(DATA("QUJDQU_D"), "out 414243\nbad");
    expect(DATA("QUJD QUJD"), "out 414243\nbad");
    expect(DATA("QUJD\nQUJD"), "out 414243\nbad");
    expect(DATA("QUJD\xc3\xa9QUJD"), "out 414243\nbad");
    expect(DATA("QQ==QUJD"), "out 41\nbad");
    expect(DATA("QUI=QUJD"), "out 4142\nbad");
    expect(DATA("QUJDQQ==="), "out 41424341\nbad");
    expect(DATA("QQ==="), "out 41\nbad");
    expect(DATA("QQ=A"), "bad");
    expect(DATA("QUJDQUJDQUJDQUJDQUJD*UJD"), "out 414243414243414243414243414243\nbad");
    const char nul[] = DATA("QUJDQ\0JD");
    assert_string_equal(json_message(nul, sizeof nul - 1), "start 7\nout 414243\nbad\n");
}

static void escapes(void **state)
{
    (void)state;
    expect(DATA("\\/+\\/+"), "out ffeffe\nwhole");
    expect(DATA("QQ\\u003d\\u003d"), "out 41\nwhole");
    expect(DATA("QQ=\\u003D"), "out 41\nwhole");
    expect(DATA("\\u0051\\u0055\\u004a\\u0044"), "out 414243\nwhole");
    expect(DATA("QUJDQUJDQUJDQUJD\\u0051UJDQUJD"), "out 414243414243414243414243414243414243\nwhole");
    expect(DATA("QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD\\u0051\\u0055JDQUJDQUJDQUJDQUJD\\u002bUJD"),
           "out 414243414243414243414243414243414243414243414243414243414243414243414243414243414243414243414243414243414243"
           "414243414243414243414243414243f94243\nwhole");
    expect(DATA("QUJD\\n"), "out 414243\nbad");
    expect(DATA("QUJD\\x"), "out 414243\nbad");
    expect(DATA("QUJD\\u00"), "out 414243\nbad");
    expect(DATA("QUJD\\u004"), "out 414243\nbad");
    expect(DATA("QUJD\\u004gQQQ"), "out 414243\nbad");
    expect(DATA("QUJD\\ud800QQQ"), "out 414243\nbad");
    /* Their last digit stands for more bytes than there is room for. */
    expect(DATA("QUJD\\u00e9QQQ"), "out 414243\nbad");
    expect(DATA("QUJD\\u20acQQQ"), "out 414243\nbad");
    expect(DATA("QUJD\\ud83d\\ude00"), "out 414243\nbad");
    expect(DATA("QUJDQ\\u0080"), "out 414243\nbad");
    expect(DATA("QQ==\\u0051QQQ"), "out 41\nbad");
    expect(DATA("QQ\\u003d=QUJD"), "out 41\nbad");
}

/* Every string of a few characters against the decoder alone. */
static void every_short_payload(void **state)
{
    (void)state;
    static const char alphabet[] = "QA=-";
    for (unsigned length = 1; length <= 6; length++) {
        for (unsigned n = 0; n < 1u << (2 * length); n++) {
            if (test_sampled() && n % 41) continue;
            char text[8] = {0}, message[100];
            for (unsigned i = 0; i < length; i++) text[i] = alphabet[n >> (2 * i) & 3];
            e2b_base64 base;
            uint8_t out[8];
            size_t out_len;
            memset(&base, 0, sizeof base);
            bool good = e2b_base64_decode(&base, text, length, out, &out_len) && e2b_base64_end(&base);
            snprintf(message, sizeof message, DATA("%s"), text);
            const char *log = json_message(message, strlen(message));
            assert_int_equal(strstr(log, "whole") != NULL, good);
            assert_int_equal(strstr(log, "out") != NULL, out_len > 0);
        }
    }
}

/* One event of 32 KiB through pieces of every size. */
static void a_long_event(void **state)
{
    (void)state;
    enum { SIZE = 32768 };
    uint8_t *raw = malloc(SIZE), *message = malloc(3 + 45000), *found = malloc(SIZE);
    unsigned seed = 5;
    for (size_t i = 0; i < SIZE; i++) raw[i] = (uint8_t)test_random(&seed);
    for (size_t piece = 1; piece < 45000; piece = piece < 40 ? piece + 1 : piece * 3) {
        size_t len = (size_t)sprintf((char *)message + 3, "{\"event\":{\"data\":{\"pty\":\"");
        e2b_base64_encode(raw, SIZE, (char *)message + 3 + len);
        len += e2b_base64_length(SIZE);
        len += (size_t)sprintf((char *)message + 3 + len, "\"}}}");
        e2b_process_reader reader;
        e2b_process_reader_start(&reader, E2B_CODEC_JSON);
        reader.started = true;
        size_t total = 0;
        for (size_t at = 0; at < len;) {
            size_t used, part = len - at < piece ? len - at : piece;
            int32_t kind;
            e2b_str data;
            int32_t result = e2b_process_read(&reader, message + 3 + at, part, &used, &kind, &data);
            assert_true(result == E2B_READ_DATA || (result == E2B_READ_MORE && used == part));
            if (result == E2B_READ_DATA) {
                assert_int_equal(kind, E2B_EVENT_PTY);
                memcpy(found + total, data.ptr, data.len);
                total += data.len;
            }
            at += used;
        }
        assert_true(e2b_process_message_end(&reader));
        assert_int_equal(total, SIZE);
        assert_memory_equal(found, raw, SIZE);
    }
    free(raw);
    free(message);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_is_skipped), cmocka_unit_test(wrong_types), cmocka_unit_test(bad_json),
        cmocka_unit_test(base64), cmocka_unit_test(escapes), cmocka_unit_test(every_short_payload), cmocka_unit_test(a_long_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
