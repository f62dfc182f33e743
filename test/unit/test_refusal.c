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
#include "wire/conn.h"
#include "wire/refusal.h"

#define KEY "e2b_0123456789abcdef0123456789abcdef01234567"

static e2b_client client;
static e2b_memory_port memory;
static uint64_t block[1024];

static int prepare(void **state)
{
    (void)state;
    e2b_client_options options = {.api_key = KEY};
    e2b_memory_open(&memory, NULL, 0);
    return e2b_client_init(&client, &memory.port, &options, block, sizeof block);
}

static e2b_err refuse(int32_t status, const char *body, bool envd)
{
    e2b_refusal refusal = {"do it", status, 0, str_of(body), envd};
    e2b_err err = e2b_refuse(&client, &refusal);
    assert_int_equal(client.error.code, err);
    assert_int_equal(client.error.http_status, status);
    assert_true(strncmp(client.error.text, "do it: ", 7) == 0);
    return err;
}

/* ---- What the answers mean --------------------------------------------------------- */

static void statuses_of_the_api(void **state)
{
    (void)state;
    static const struct {
        int32_t status;
        e2b_err err;
    } rows[] = {
        {300, E2B_REDIRECT}, {301, E2B_REDIRECT}, {302, E2B_REDIRECT}, {304, E2B_REDIRECT}, {307, E2B_REDIRECT}, {308, E2B_REDIRECT},
        {400, E2B_BAD_REQUEST}, {401, E2B_UNAUTHENTICATED}, {402, E2B_HTTP}, {403, E2B_FORBIDDEN}, {404, E2B_NOT_FOUND},
        {405, E2B_UNIMPLEMENTED}, {406, E2B_HTTP}, {408, E2B_HTTP}, {409, E2B_CONFLICT}, {410, E2B_HTTP}, {413, E2B_BAD_REQUEST},
        {415, E2B_BAD_REQUEST}, {418, E2B_HTTP}, {422, E2B_BAD_REQUEST}, {429, E2B_RATE_LIMITED}, {499, E2B_HTTP},
        {500, E2B_SERVER}, {501, E2B_UNIMPLEMENTED}, {502, E2B_SERVER}, {503, E2B_SERVER}, {504, E2B_SERVER}, {599, E2B_SERVER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[100];
        snprintf(body, sizeof body, "{\"code\":%ld,\"message\":\"the words\"}", (long)rows[i].status);
        assert_int_equal(refuse(rows[i].status, body, false), rows[i].err);
        assert_non_null(strstr(client.error.text, "the words"));
        assert_int_equal(client.error.rpc_code, 0);
        char digits[16];
        snprintf(digits, sizeof digits, "%ld: ", (long)rows[i].status);
        assert_non_null(strstr(client.error.text, digits));
    }
}

static void what_stands_between(void **state)
{
    (void)state;
    static const char *const bodies[] = {"", "<html>502 Bad Gateway</html>", "upstream request timeout", "{}", "{\"message\":\"x\"}",
                                         "[1]", "null", "{\"code\":0}", "{\"code\":null}", "{\"code\":5"};
    for (int32_t status = 500; status < 600; status++) {
        if (status == 501) continue;
        for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) assert_int_equal(refuse(status, bodies[i], false), E2B_GATEWAY);
    }
    /* The sandbox's own daemon fails with an object, whatever proxies do. */
    assert_int_equal(refuse(500, "{\"message\":\"x\"}", true), E2B_SERVER);
    assert_int_equal(refuse(500, "oops", true), E2B_GATEWAY);
    assert_int_equal(refuse(502, "{\"message\":\"x\"}", true), E2B_GATEWAY);
    assert_int_equal(refuse(404, "404 page not found\n", true), E2B_UNIMPLEMENTED);
    assert_int_equal(refuse(404, "404 page not found\n", false), E2B_NOT_FOUND);
    assert_int_equal(refuse(404, "{\"code\":404,\"message\":\"x\"}", true), E2B_NOT_FOUND);
}

static void gone_sandboxes(void **state)
{
    (void)state;
    static const char gone[] = "{\"sandboxId\":\"x\",\"message\":\"The sandbox was not found\",\"code\":502}";
    assert_int_equal(refuse(502, gone, true), E2B_NOT_RUNNING);
    assert_false(e2b_err_may_retry(E2B_NOT_RUNNING));
    assert_int_equal(refuse(502, gone, false), E2B_SERVER);
    assert_int_equal(refuse(502, "{\"sandboxId\":\"x\",\"message\":\"The sandbox was not found!\",\"code\":502}", true), E2B_GATEWAY);
    assert_int_equal(refuse(502, "{\"message\":\"The sandbox was not found\",\"code\":502}", true), E2B_GATEWAY);
    /* The number in the body is the truer one where a proxy stands between. */
    assert_int_equal(refuse(502, "{\"code\":404,\"message\":\"x\"}", true), E2B_NOT_FOUND);
    assert_int_equal(refuse(500, "{\"code\":401,\"message\":\"x\"}", true), E2B_UNAUTHENTICATED);
    assert_int_equal(refuse(502, "{\"code\":404,\"message\":\"x\"}", false), E2B_SERVER);
    assert_int_equal(refuse(403, "{\"code\":200,\"message\":\"x\"}", true), E2B_FORBIDDEN);
    assert_int_equal(refuse(403, "{\"code\":600,\"message\":\"x\"}", true), E2B_FORBIDDEN);
}

static void no_capacity(void **state)
{
    (void)state;
    static const char *const words[] = {"sandbox_capacity_unavailable", "sandbox_no_compatible_node", "sandbox_placement_timeout"};
    for (size_t i = 0; i < 3; i++) {
        char body[200];
        snprintf(body, sizeof body, "{\"code\":503,\"error_code\":\"%s\",\"message\":\"later\"}", words[i]);
        assert_int_equal(refuse(503, body, false), E2B_NO_CAPACITY);
        assert_int_equal(refuse(429, body, false), E2B_RATE_LIMITED);
    }
    assert_int_equal(refuse(500, "{\"code\":500,\"error_code\":\"sandbox_create_failed\",\"message\":\"x\"}", false), E2B_SERVER);
    assert_int_equal(refuse(503, "{\"code\":503,\"message\":\"sandbox_capacity_unavailable\"}", false), E2B_SERVER);
}

static const char *const names[] = {
    "canceled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists", "permission_denied",
    "resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented", "internal", "unavailable",
    "data_loss", "unauthenticated",
};
static const e2b_err errors[] = {
    E2B_SERVER, E2B_SERVER, E2B_BAD_REQUEST, E2B_COMMAND_TIMEOUT, E2B_NOT_FOUND, E2B_EXISTS, E2B_FORBIDDEN, E2B_RATE_LIMITED,
    E2B_CONFLICT, E2B_CONFLICT, E2B_BAD_REQUEST, E2B_UNIMPLEMENTED, E2B_SERVER, E2B_GATEWAY, E2B_SERVER, E2B_UNAUTHENTICATED,
};

static void connect_codes(void **state)
{
    (void)state;
    for (int32_t code = 1; code <= 16; code++) {
        char body[200];
        assert_int_equal(e2b_rpc_code(str_of(names[code - 1])), code);
        assert_int_equal(e2b_rpc_error(code), errors[code - 1]);
        /* Whatever the status, the code says what it is. */
        snprintf(body, sizeof body, "{\"code\":\"%s\",\"message\":\"with \\u003cwords\\u003e\"}", names[code - 1]);
        assert_int_equal(refuse(418, body, true), errors[code - 1]);
        assert_int_equal(client.error.rpc_code, code);
        assert_non_null(strstr(client.error.text, names[code - 1]));
        assert_non_null(strstr(client.error.text, "with <words>"));
        snprintf(body, sizeof body, "{\"error\":{\"code\":\"%s\",\"message\":\"x\"}}", names[code - 1]);
        assert_int_equal(e2b_end_of_stream(&client, "read", str_of(body)), errors[code - 1]);
        assert_int_equal(client.error.rpc_code, code);
        assert_int_equal(client.error.http_status, 0);
        assert_int_equal(e2b_end_of_stream(&client, "read", str_of(body)), errors[code - 1]);
    }
    static const char *const no_codes[] = {"", "cancel", "canceledx", "CANCELED", "ok", "cancelled", "unauthenticated "};
    for (size_t i = 0; i < sizeof no_codes / sizeof *no_codes; i++) assert_int_equal(e2b_rpc_code(str_of(no_codes[i])), 0);
    assert_int_equal(e2b_rpc_code((e2b_str){"canceled\0", 9}), 0);
    assert_int_equal(e2b_rpc_error(0), E2B_SERVER);
    assert_int_equal(e2b_rpc_error(17), E2B_SERVER);
    /* A string that is no code does not hide the status. */
    assert_int_equal(refuse(404, "{\"code\":\"nonsense\",\"message\":\"x\"}", true), E2B_NOT_FOUND);
    assert_int_equal(client.error.rpc_code, 0);
}

static void ends_of_streams(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        e2b_err err;
    } rows[] = {
        {"{}", E2B_OK}, {" {} ", E2B_OK}, {"{\"metadata\":{\"a\":[\"b\"]}}", E2B_OK}, {"{\"error\":null}", E2B_OK},
        {"{\"x\":{\"error\":{\"code\":\"internal\"}}}", E2B_OK},
        {"", E2B_PROTOCOL}, {"null", E2B_PROTOCOL}, {"[]", E2B_PROTOCOL}, {"{", E2B_PROTOCOL}, {"{}x", E2B_PROTOCOL},
        {"{\"error\":{\"code\":\"internal\"}", E2B_PROTOCOL}, {"{\"error\":{\"code\":", E2B_PROTOCOL}, {"ok", E2B_PROTOCOL},
        {"{\"error\":{}}", E2B_PROTOCOL}, {"{\"error\":{\"code\":7}}", E2B_PROTOCOL}, {"{\"error\":{\"message\":\"x\"}}", E2B_PROTOCOL},
        {"{\"error\":{\"code\":\"internal\"},\"metadata\":{}}", E2B_SERVER},
        {"{\"metadata\":{\"m\":[\"n\"]},\"error\":{\"message\":\"m\",\"code\":\"not_found\",\"details\":[{\"type\":\"t\"}]}}", E2B_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (e2b_end_of_stream(&client, "read", str_of(rows[i].body)) != rows[i].err) fail_msg("%s", rows[i].body);
    /* Cut where nothing more is kept. */
    char body[E2B_CONN_COLLECT];
    memset(body, 'x', sizeof body);
    memcpy(body, "{\"error\":{\"code\":\"not_found\",\"message\":\"", 40);
    assert_int_equal(e2b_end_of_stream(&client, "read", (e2b_str){body, sizeof body}), E2B_NOT_FOUND);
    memset(body, 'x', sizeof body);
    memcpy(body, "{\"metadata\":{\"a\":[\"", 19);
    assert_int_equal(e2b_end_of_stream(&client, "read", (e2b_str){body, sizeof body}), E2B_OK);
}

static void missing_routes(void **state)
{
    (void)state;
    static const char no_match[] = "validation error: no matching operation was found", method[] = "validation error: method not allowed";
    static const struct {
        int32_t status;
        const char *body;
        bool missing;
    } rows[] = {
        {404, "{\"code\":404,\"message\":\"#1\"}", true}, {404, "{\"code\":404,\"message\":\"#2\"}", true},
        {400, "{\"code\":400,\"message\":\"#2\"}", true}, {405, "{\"code\":405,\"message\":\"#2\"}", true},
        {400, "{\"code\":400,\"message\":\"#1\"}", false}, {405, "{\"code\":405,\"message\":\"#1\"}", false},
        {500, "{\"code\":500,\"message\":\"#2\"}", false}, {401, "{\"code\":401,\"message\":\"#2\"}", false},
        {404, "{\"code\":404,\"message\":\"#1 \"}", false}, {404, "{\"code\":404,\"message\":\"template 'x' not found\"}", false},
        {404, "{\"code\":404,\"message\":\"Sandbox \\\"x\\\" doesn't exist or you don't have access to it\"}", false},
        {404, "", true}, {404, "404 page not found\n", true}, {404, "<html></html>", true}, {404, "[]", true}, {404, "{\"code\":404", false},
        {405, "", false}, {400, "", false}, {501, "", false}, {502, "<html></html>", false}, {404, "{} trailing", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[200];
        const char *mark = strchr(rows[i].body, '#');
        if (mark) snprintf(body, sizeof body, "%.*s%s%s", (int)(mark - rows[i].body), rows[i].body, mark[1] == '1' ? no_match : method, mark + 2);
        else snprintf(body, sizeof body, "%s", rows[i].body);
        if (e2b_refusal_is_missing_route(&client, rows[i].status, str_of(body)) != rows[i].missing)
            fail_msg("%ld %s", (long)rows[i].status, body);
    }
    /* More tokens than there is room for still make an object. */
    char many[500] = "{\"code\":404,\"message\":\"gone\",\"a\":[";
    while (strlen(many) < 400) strcat(many, "1,");
    strcat(many, "1]}");
    assert_false(e2b_refusal_is_missing_route(&client, 404, str_of(many)));
    assert_int_equal(refuse(404, many, true), E2B_NOT_FOUND);
}

/* ---- Words -------------------------------------------------------------------------- */

/* Every status with every kind of body: one error, printable, of bounded length. */
static void every_status_and_body(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{\"code\":400,\"message\":\"a \\u001b[31m message\"}", "{\"other\":[1,2,{\"shape\":true}]}", "upstream request timeout",
        "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>\r\n\t\x1b[2J nginx</body></html>", "",
        "{\"code\":500,\"message\":\"cut of", "\xff\xfe\x80\xc3", "{\"message\":\"\xff\"}", "{\"message\":5,\"code\":\"x\"}",
        "{\"code\":\"not_found\"}", "{\"message\":\"\"}", "\"text\"", "{\"code\":99999999999999999999,\"message\":\"m\"}",
    };
    static char huge[E2B_CONN_COLLECT + 1];
    memset(huge, 'h', sizeof huge - 1);
    for (int32_t status = 300; status < 600; status++) {
        for (size_t i = 0; i <= sizeof bodies / sizeof *bodies; i++) {
            for (int envd = 0; envd < 2; envd++) {
                e2b_err err = refuse(status, i < sizeof bodies / sizeof *bodies ? bodies[i] : huge, envd == 1);
                assert_true(err <= E2B_UNAUTHENTICATED && err >= E2B_COMMAND_TIMEOUT);
                size_t len = strlen(client.error.text);
                assert_true(e2b_utf8_valid((e2b_str){client.error.text, len}));
                for (size_t at = 0; at < len; at++) assert_true((unsigned char)client.error.text[at] >= ' ');
            }
        }
    }
}

static void what_the_text_holds(void **state)
{
    (void)state;
    char wanted[192];
    refuse(404, "{\"code\":404,\"message\":\"template 'x' not found\"}", false);
    assert_string_equal(client.error.text, "do it: 404: template 'x' not found");
    refuse(404, "{\"code\":404}", false);
    snprintf(wanted, sizeof wanted, "do it: 404: {\"code\":404}; %s", e2b_err_text(E2B_NOT_FOUND));
    assert_string_equal(client.error.text, wanted);
    refuse(504, "upstream request timeout", false);
    snprintf(wanted, sizeof wanted, "do it: 504: upstream request timeout; %s", e2b_err_text(E2B_GATEWAY));
    assert_string_equal(client.error.text, wanted);
    refuse(504, "", false);
    snprintf(wanted, sizeof wanted, "do it: 504: %s", e2b_err_text(E2B_GATEWAY));
    assert_string_equal(client.error.text, wanted);
    refuse(404, "{\"code\":\"not_found\",\"message\":\"process with pid 9 not found\"}", true);
    assert_string_equal(client.error.text, "do it: 404: not_found: process with pid 9 not found");
    e2b_refusal refusal = {"do it", 429, 17, str_of("{}"), false};
    assert_int_equal(e2b_refuse(&client, &refusal), E2B_RATE_LIMITED);
    assert_int_equal(client.error.retry_after_s, 17);
    assert_int_equal(refuse(429, "{}", false), E2B_RATE_LIMITED);
    assert_int_equal(client.error.retry_after_s, 0);
}

/* A server that sends the key back, at every place, in text and in JSON. */
static void secrets_sent_back(void **state)
{
    (void)state;
    for (size_t before = 0; before < 180; before++) {
        for (int json = 0; json < 2; json++) {
            char body[512] = "";
            if (json) strcat(body, "{\"code\":401,\"message\":\"");
            for (size_t i = 0; i < before; i++) strcat(body, "-");
            strcat(body, KEY " was sent");
            if (json) strcat(body, "\"}");
            refuse(401, body, false);
            for (size_t at = 0; at + 8 <= strlen(KEY); at++) {
                char part[9];
                snprintf(part, sizeof part, "%.8s", &KEY[at]);
                if (strstr(client.error.text, part)) fail_msg("%s", client.error.text);
            }
        }
    }
}

static void cleanup(void **state)
{
    (void)state;
    client.cleaning = 1;
    e2b_refusal refusal = {"kill", 500, 3, str_of("{\"code\":500}"), false};
    assert_int_equal(e2b_refuse(&client, &refusal), E2B_SERVER);
    assert_int_equal(client.error.code, E2B_OK);
    assert_int_equal(client.cleanup_error.http_status, 500);
    assert_int_equal(client.cleanup_error.retry_after_s, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(statuses_of_the_api, prepare), cmocka_unit_test_setup(what_stands_between, prepare),
        cmocka_unit_test_setup(gone_sandboxes, prepare), cmocka_unit_test_setup(no_capacity, prepare),
        cmocka_unit_test_setup(connect_codes, prepare), cmocka_unit_test_setup(ends_of_streams, prepare),
        cmocka_unit_test_setup(missing_routes, prepare), cmocka_unit_test_setup(every_status_and_body, prepare),
        cmocka_unit_test_setup(what_the_text_holds, prepare), cmocka_unit_test_setup(secrets_sent_back, prepare),
        cmocka_unit_test_setup(cleanup, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
