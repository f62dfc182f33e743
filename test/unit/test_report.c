#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "check_str.h"
#include "e2b_memory.h"
#include "wire/report.h"

#define KEY "e2b_0123456789abcdef0123456789abcdef01234567"
#define TOKEN "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static e2b_client client;
static e2b_memory_port memory;

static int prepare(void **state)
{
    (void)state;
    memset(&client, 0, sizeof client);
    e2b_memory_open(&memory, NULL, 0);
    client.port = &memory.port;
    client.api_key = str_of(KEY);
    return 0;
}

static void a_failure_is_written_down(void **state)
{
    (void)state;
    memset(&client.error, 0xa5, sizeof client.error);
    assert_int_equal(e2b_fail(&client, E2B_BUSY, "start process", NULL), E2B_BUSY);
    assert_int_equal(client.error.code, E2B_BUSY);
    assert_int_equal(client.error.http_status, 0);
    assert_int_equal(client.error.rpc_code, 0);
    assert_int_equal(client.error.port_error, 0);
    assert_int_equal(client.error.retry_after_s, 0);
    assert_int_equal(client.error.needed, 0);
    char wanted[192];
    snprintf(wanted, sizeof wanted, "start process: %s", e2b_err_text(E2B_BUSY));
    assert_string_equal(client.error.text, wanted);
    assert_int_equal(e2b_fail(&client, E2B_STATE, "pause", "there is no sandbox"), E2B_STATE);
    assert_string_equal(client.error.text, "pause: there is no sandbox");
    assert_int_equal(e2b_fail_on(&client, E2B_INVALID, "client", "not a domain name", str_of("a b")), E2B_INVALID);
    assert_string_equal(client.error.text, "client: not a domain name: 'a b'");
}

/* What goes wrong while cleaning up does not hide what it cleans up after. */
static void cleanup_has_its_own_record(void **state)
{
    (void)state;
    e2b_fail(&client, E2B_TRUNCATED, "run", "first");
    client.cleaning = 1;
    assert_int_equal(e2b_fail(&client, E2B_CONNECT, "kill", "second"), E2B_CONNECT);
    assert_int_equal(client.error.code, E2B_TRUNCATED);
    assert_string_equal(client.error.text, "run: first");
    assert_int_equal(client.cleanup_error.code, E2B_CONNECT);
    assert_string_equal(client.cleanup_error.text, "kill: second");
}

static void any_text_becomes_printable(void **state)
{
    (void)state;
    const char wild[] = "a\0b\x1b[31m\r\n\x7f\xff\xc2\x85\xc3\xa9";
    e2b_fail_on(&client, E2B_INVALID, "x", "y", (e2b_str){wild, sizeof wild - 1});
    assert_string_equal(client.error.text, "x: y: 'a b [31m   ?\x20\xc3\xa9'");
    for (size_t len = 0; len < 400; len++) {
        char text[400];
        for (size_t i = 0; i < len; i++) text[i] = (char)(i * 7 + len);
        e2b_text out;
        e2b_error *error = e2b_report(&client, E2B_SERVER, "op", &out);
        e2b_text_bytes(&out, text, len);
        e2b_report_end(&client, error, &out);
        size_t shown = strlen(error->text);
        assert_true(shown < sizeof error->text);
        assert_true(e2b_utf8_valid((e2b_str){error->text, shown}));
        for (size_t i = 0; i < shown; i++) assert_true((unsigned char)error->text[i] >= ' ' && error->text[i] != 0x7f);
    }
}

/* Looks for any eight characters in a row of the secret. */
static bool shows(const char *text, const char *secret)
{
    for (size_t i = 0; i + 8 <= strlen(secret); i++) {
        char part[9];
        memcpy(part, secret + i, 8);
        part[8] = '\0';
        if (strstr(text, part)) return true;
    }
    return false;
}

/* At every place of the text, so also cut by its end. */
static void secrets_are_taken_out(void **state)
{
    (void)state;
    static const char *const secrets[] = {KEY, TOKEN};
    for (size_t s = 0; s < 2; s++) {
        for (size_t before = 0; before < 200; before++) {
            e2b_text out;
            e2b_error *error = e2b_report(&client, E2B_SERVER, "op", &out);
            for (size_t i = 0; i < before; i++) e2b_text_char(&out, '-');
            e2b_text_string(&out, secrets[s]);
            e2b_text_string(&out, " and more");
            e2b_report_end(&client, error, &out);
            if (shows(error->text, secrets[s])) fail_msg("%zu before: %s", before, error->text);
            if (before < 100) assert_non_null(strstr(error->text, " and more"));
        }
    }
    e2b_fail(&client, E2B_SERVER, "op", KEY KEY " " TOKEN TOKEN);
    assert_false(shows(client.error.text, KEY));
    assert_false(shows(client.error.text, TOKEN));
}

/* A part of a message may have been cut off before it was put here. */
static void secrets_cut_off_inside(void **state)
{
    (void)state;
    char part[100];
    for (size_t len = 8; len < strlen(KEY); len++) {
        snprintf(part, sizeof part, "bad key %.*s; wrong", (int)len, KEY);
        e2b_fail(&client, E2B_SERVER, "op", part);
        assert_false(shows(client.error.text, KEY));
        assert_non_null(strstr(client.error.text, "; wrong"));
    }
    for (size_t len = 24; len < strlen(TOKEN); len++) {
        snprintf(part, sizeof part, "bad token %.*s; wrong", (int)len, TOKEN);
        e2b_fail(&client, E2B_SERVER, "op", part);
        assert_false(shows(client.error.text, TOKEN));
    }
}

static void what_is_no_secret_stays(void **state)
{
    (void)state;
    e2b_fail(&client, E2B_NOT_FOUND, "op", "Sandbox \"ixk2vvhg6p0pcd2olq5ns\" not there, pid 12345678");
    assert_string_equal(client.error.text, "op: Sandbox \"ixk2vvhg6p0pcd2olq5ns\" not there, pid 12345678");
    client.api_key = (e2b_str){NULL, 0};
    e2b_fail(&client, E2B_NOT_FOUND, "op", "without a key");
    assert_string_equal(client.error.text, "op: without a key");
    client.api_key = str_of("e2b_1");
    e2b_fail(&client, E2B_NOT_FOUND, "op", "e2b_1 is too short to be told from words");
    assert_string_equal(client.error.text, "op: e2b_1 is too short to be told from words");
}

static void long_subjects_are_cut(void **state)
{
    (void)state;
    char subject[200];
    memset(subject, 'x', sizeof subject);
    e2b_fail_on(&client, E2B_INVALID, "o", "d", (e2b_str){subject, sizeof subject});
    assert_int_equal(strlen(client.error.text), strlen("o: d: ''") + 80);
}

static void traces(void **state)
{
    (void)state;
    char kept[200] = {0}, line[64];
    memory.trace = kept;
    memory.trace_size = sizeof kept - 1;
    e2b_text text = {line, sizeof line, 0, 0};
    e2b_text_string(&text, "> GET /x\r\n" KEY);
    e2b_trace(&client, &text);
    assert_string_equal(kept, "> GET /x  e2b_****************************************\n");
    /* Cut in the middle of the secret. */
    memset(kept, 0, sizeof kept);
    memory.trace_length = 0;
    text = (e2b_text){line, 30, 0, 0};
    e2b_text_string(&text, "> GET /x/y/z?a=b " KEY);
    e2b_trace(&client, &text);
    assert_false(shows(kept, KEY));
    memory.port.trace = NULL;
    e2b_trace(&client, &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_failure_is_written_down, prepare), cmocka_unit_test_setup(cleanup_has_its_own_record, prepare),
        cmocka_unit_test_setup(any_text_becomes_printable, prepare), cmocka_unit_test_setup(secrets_are_taken_out, prepare),
        cmocka_unit_test_setup(secrets_cut_off_inside, prepare), cmocka_unit_test_setup(what_is_no_secret_stays, prepare),
        cmocka_unit_test_setup(long_subjects_are_cut, prepare), cmocka_unit_test_setup(traces, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
