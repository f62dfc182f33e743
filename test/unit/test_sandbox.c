/* The life of a sandbox that exists: refer, connect, resume, timeout, pause. */
#include "api_peer.h"

#include "cloud/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void refer(api_peer *peer)
{
    api_peer_check(peer, e2b_sandbox_refer(&peer->client, &peer->sandbox, "isandbox1"), E2B_OK);
}

/* ---- Refer ------------------------------------------------------------------------ */

static void test_refer(void **state)
{
    api_peer *peer = *state;
    memset(&peer->sandbox, 0xff, sizeof peer->sandbox);
    refer(peer);
    assert_string_equal(peer->sandbox.id, "isandbox1");
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
    assert_string_equal(peer->sandbox.access_token, "");
    assert_int_equal(peer->port.calls, 0);
    /* Each has a number of its own, beyond those of the two shared hosts. */
    uint32_t number = peer->sandbox.destination;
    assert_true(number >= 2);
    refer(peer);
    assert_int_not_equal(peer->sandbox.destination, number);
    /* Only the id is known: nothing can run in it. */
    e2b_process process;
    static const char *const argv[] = {"true"};
    assert_int_equal(e2b_process_start(&peer->sandbox, &process, argv, 1, NULL), E2B_STATE);
    api_peer_check_words(&peer->client.error, E2B_STATE, "attach or connect first");
    assert_int_equal(peer->port.calls, 0);
}

static void test_ids_that_are_none(void **state)
{
    api_peer *peer = *state;
    char longest[66];
    memset(longest, 'i', 65);
    longest[65] = '\0';
    const char *const ids[] = {NULL, "", "a/b", "a b", "a\r\nHost: x", "../x", "a?b", "a#b", "a%2f", "i.1", "\xc3\xa4", longest};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_int_equal(e2b_sandbox_refer(&peer->client, &peer->sandbox, ids[i]), E2B_INVALID);
        assert_int_equal(e2b_sandbox_attach(&peer->client, &peer->sandbox, ids[i]), E2B_INVALID);
        assert_int_equal(e2b_sandbox_connect(&peer->client, &peer->sandbox, ids[i], NULL), E2B_INVALID);
        api_peer_check_words(&peer->client.error, E2B_INVALID, "connect to sandbox: not a sandbox id");
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_NONE);
        assert_null(peer->sandbox.client);
    }
    longest[64] = '\0';
    assert_int_equal(e2b_sandbox_refer(&peer->client, &peer->sandbox, longest), E2B_OK);
    assert_string_equal(peer->sandbox.id, longest);
    assert_int_equal(peer->port.calls, 0);
}

/* ---- Connect ------------------------------------------------------------------------ */

static e2b_err connect(api_peer *peer, e2b_connect_options options)
{
    return e2b_sandbox_connect(&peer->client, &peer->sandbox, "isandbox1", &options);
}

static void test_connect(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_check(peer, e2b_sandbox_connect(&peer->client, &peer->sandbox, "isandbox1", NULL), E2B_OK);
    api_peer_check_line(peer, 0, "POST /v2/sandboxes/isandbox1/connect");
    api_peer_check_body(peer, 0, "{}");
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
    assert_string_equal(peer->sandbox.access_token, "token-of-envd");
    assert_string_equal(peer->sandbox.envd_version, "0.6.13");
    assert_string_equal(peer->sandbox.domain, "e2b.app");
    assert_string_equal(peer->sandbox.create_tag, "");
}

static void test_connect_options_in_both_generations(void **state)
{
    api_peer *peer = *state;
    static const struct {
        e2b_connect_options options;
        const char *newer, *older;
    } rows[] = {
        {{0, 0}, "{}", "{\"timeout\":300}"},
        {{60, 0}, "{\"timeout\":60}", "{\"timeout\":60}"},
        {{0, E2B_NO}, "{\"memory\":false}", "{\"timeout\":300,\"memory\":false}"},
        {{0, E2B_YES}, "{\"memory\":true}", "{\"timeout\":300,\"memory\":true}"},
        {{2147483647, E2B_NO}, "{\"timeout\":2147483647,\"memory\":false}", "{\"timeout\":2147483647,\"memory\":false}"},
    };
    for (size_t i = 0; i < 5; i++) {
        api_peer_restart(peer, NULL);
        api_peer_answer(peer, 405, "{\"code\":405,\"message\":\"validation error: method not allowed\"}");
        api_peer_answer(peer, 200, API_PEER_SANDBOX);
        api_peer_answer(peer, 200, API_PEER_SANDBOX);
        api_peer_check(peer, connect(peer, rows[i].options), E2B_OK);
        api_peer_check_line(peer, 0, "POST /v2/sandboxes/isandbox1/connect");
        api_peer_check_body(peer, 0, rows[i].newer);
        api_peer_check_line(peer, 1, "POST /sandboxes/isandbox1/connect");
        api_peer_check_body(peer, 1, rows[i].older);
        assert_int_equal(peer->client.routes, E2B_ROUTES_OLDER);
        api_peer_check(peer, e2b_sandbox_resume(&peer->sandbox, &rows[i].options), E2B_OK);
        api_peer_check_line(peer, 2, "POST /sandboxes/isandbox1/connect");
        api_peer_check_body(peer, 2, rows[i].older);
    }
    assert_int_equal(connect(peer, (e2b_connect_options){2147483648u, 0}), E2B_INVALID);
    api_peer_check_words(&peer->client.error, E2B_INVALID, "timeout_s is above 2147483647");
    assert_int_equal(peer->request_count, 3);
}

/* A machine may have been woken: what is known of it stays, and kill works. */
static void test_connect_that_fails_keeps_the_id(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int status;
        const char *body;
        e2b_err err;
    } rows[] = {
        {404, "{\"code\":404,\"message\":\"Sandbox \\\"isandbox1\\\" doesn't exist or you don't have access to it\"}", E2B_NOT_FOUND},
        {409, "{\"code\":409,\"message\":\"Sandbox \\\"isandbox1\\\" is being killed\"}", E2B_CONFLICT},
        {504, "", E2B_GATEWAY},
        {300, API_PEER_SANDBOX, E2B_REDIRECT},
        {200, "", E2B_PROTOCOL},
        {200, "{\"sandboxID\":\"bad id\",\"envdVersion\":\"0.6.13\"}", E2B_PROTOCOL},
        {200, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.0.1\"}", E2B_UNSUPPORTED},
        {200, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"trafficAccessToken\":\""
              "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0\"}", E2B_LIMIT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        api_peer_restart(peer, NULL);
        api_peer_answer(peer, rows[i].status, rows[i].body);
        api_peer_answer(peer, 204, "");
        api_peer_check(peer, connect(peer, (e2b_connect_options){0, 0}), rows[i].err);
        assert_string_equal(peer->sandbox.id, "isandbox1");
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
        api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
        api_peer_check_line(peer, 1, "DELETE /sandboxes/isandbox1");
    }
}

static void test_connect_cut_at_every_byte(void **state)
{
    api_peer *peer = *state;
    static const char body[] = API_PEER_SANDBOX;
    for (size_t kept = 0; kept < sizeof body - 1; kept++) {
        char head[80];
        api_peer_restart(peer, NULL);
        e2b_memory_script *script = api_peer_begin(peer);
        snprintf(head, sizeof head, "HTTP/1.1 201 Created\r\nContent-Length: %zu\r\n\r\n", sizeof body - 1);
        e2b_memory_text(script, head);
        e2b_memory_data(script, body, kept);
        e2b_memory_end(script);
        api_peer_end(peer);
        api_peer_check(peer, connect(peer, (e2b_connect_options){0, 0}), E2B_TRUNCATED);
        assert_string_equal(peer->sandbox.id, "isandbox1");
        assert_string_equal(peer->sandbox.access_token, "");
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
    }
}

static void test_connect_is_sent_again_on_a_dead_kept_link(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_answer_reset(peer);
    api_peer_answer(peer, 200, API_PEER_SANDBOX);
    api_peer_check(peer, connect(peer, (e2b_connect_options){0, 0}), E2B_OK);
    api_peer_check(peer, connect(peer, (e2b_connect_options){0, 0}), E2B_OK);
    assert_int_equal(peer->request_count, 3);
    assert_int_equal(peer->port.opened, 2);
}

static void test_resume(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox before;
    assert_int_equal(e2b_sandbox_resume(&peer->sandbox, NULL), E2B_STATE);
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_answer(peer, 500, "{\"code\":500,\"message\":\"sorry\"}");
    api_peer_answer(peer, 200, "{}");
    api_peer_answer(peer, 201, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.14\",\"envdAccessToken\":\"new\"}");
    api_peer_check(peer, connect(peer, (e2b_connect_options){0, 0}), E2B_OK);
    before = peer->sandbox;
    api_peer_check(peer, e2b_sandbox_resume(&peer->sandbox, NULL), E2B_SERVER);
    assert_memory_equal(&before, &peer->sandbox, sizeof before);
    api_peer_check_words(&peer->client.error, E2B_SERVER, "resume sandbox: 500: sorry");
    api_peer_check(peer, e2b_sandbox_resume(&peer->sandbox, NULL), E2B_PROTOCOL);
    assert_memory_equal(&before, &peer->sandbox, sizeof before);
    api_peer_check(peer, e2b_sandbox_resume(&peer->sandbox, &(e2b_connect_options){.timeout_s = 5}), E2B_OK);
    api_peer_check_body(peer, 3, "{\"timeout\":5}");
    assert_string_equal(peer->sandbox.access_token, "new");
    assert_string_equal(peer->sandbox.envd_version, "0.6.14");
    assert_int_equal(peer->sandbox.version[2], 14);
}

/* A link that was made to the former name is not used for the new one. */
static void test_resume_under_another_domain(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 201, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"domain\":\"one.test\"}");
    api_peer_answer(peer, 201, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"domain\":\"one.test\"}");
    api_peer_answer(peer, 201, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"domain\":\"two.test\"}");
    api_peer_check(peer, connect(peer, (e2b_connect_options){0, 0}), E2B_OK);
    uint32_t destination = peer->sandbox.destination;
    api_peer_check(peer, e2b_sandbox_resume(&peer->sandbox, NULL), E2B_OK);
    assert_int_equal(peer->sandbox.destination, destination);
    api_peer_check(peer, e2b_sandbox_resume(&peer->sandbox, NULL), E2B_OK);
    assert_true(peer->sandbox.destination != destination);
}

/* The newer route and then the older one have one time limit between them. */
static void test_connect_by_both_routes_in_time(void **state)
{
    api_peer *peer = *state;
    api_peer_answer_after(peer, 40000, 404, API_PEER_NO_ROUTE);
    api_peer_answer_nothing(peer);
    api_peer_check(peer, connect(peer, (e2b_connect_options){0, 0}), E2B_REPLY_TIMEOUT);
    assert_int_equal(peer->port.now_ms, 60000);
}

static void test_debug_asks_nobody(void **state)
{
    api_peer *peer = *state;
    api_peer_restart(peer, &(e2b_client_options){.debug = E2B_YES});
    api_peer_check(peer, connect(peer, (e2b_connect_options){0, 0}), E2B_OK);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
    assert_string_equal(peer->sandbox.id, "isandbox1");
    assert_int_equal(peer->sandbox.version[0], 99);
    api_peer_check(peer, e2b_sandbox_resume(&peer->sandbox, NULL), E2B_OK);
    api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 5), E2B_OK);
    assert_int_equal(peer->port.calls, 0);
}

/* ---- Timeout --------------------------------------------------------------------------- */

static void test_set_timeout(void **state)
{
    api_peer *peer = *state;
    assert_int_equal(e2b_sandbox_set_timeout(&peer->sandbox, 5), E2B_STATE);
    refer(peer);
    assert_int_equal(e2b_sandbox_set_timeout(&peer->sandbox, 0), E2B_INVALID);
    api_peer_check_words(&peer->client.error, E2B_INVALID, "use kill");
    assert_int_equal(e2b_sandbox_set_timeout(&peer->sandbox, 2147483648u), E2B_INVALID);
    assert_int_equal(peer->port.calls, 0);
    api_peer_answer(peer, 204, "");
    api_peer_answer(peer, 204, "");
    api_peer_answer(peer, 404, "{\"code\":404,\"message\":\"Sandbox \\\"isandbox1\\\" doesn't exist\"}");
    api_peer_answer(peer, 400, "{\"code\":400,\"message\":\"Max instance length exceeded\"}");
    api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 1), E2B_OK);
    api_peer_check_line(peer, 0, "POST /sandboxes/isandbox1/timeout");
    api_peer_check_body(peer, 0, "{\"timeout\":1}");
    api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 2147483647), E2B_OK);
    api_peer_check_body(peer, 1, "{\"timeout\":2147483647}");
    api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 60), E2B_NOT_FOUND);
    api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 60), E2B_BAD_REQUEST);
    api_peer_check_words(&peer->client.error, E2B_BAD_REQUEST, "400: Max instance length exceeded");
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
}

static void test_set_timeout_is_sent_again_on_a_dead_kept_link(void **state)
{
    api_peer *peer = *state;
    refer(peer);
    api_peer_answer(peer, 204, "");
    api_peer_answer_reset(peer);
    api_peer_answer(peer, 204, "");
    api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 1), E2B_OK);
    api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 2), E2B_OK);
    api_peer_check_body(peer, 2, "{\"timeout\":2}");
    /* A pause is not. */
    api_peer_answer_reset(peer);
    assert_int_equal(e2b_sandbox_pause(&peer->sandbox, 0), E2B_NO_REPLY);
    assert_int_equal(peer->request_count, 4);
}

/* ---- Pause ------------------------------------------------------------------------------- */

static void test_pause(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int32_t memory;
        const char *newer, *older;
    } rows[] = {{0, "{}", "{\"memory\":true}"}, {E2B_NO, "{\"memory\":false}", "{\"memory\":false}"}, {E2B_YES, "{\"memory\":true}", "{\"memory\":true}"}};
    assert_int_equal(e2b_sandbox_pause(&peer->sandbox, 0), E2B_STATE);
    for (size_t i = 0; i < 3; i++) {
        api_peer_restart(peer, NULL);
        refer(peer);
        api_peer_answer(peer, 204, "");
        api_peer_answer(peer, 204, "");
        api_peer_check(peer, e2b_sandbox_pause(&peer->sandbox, rows[i].memory), E2B_OK);
        api_peer_check_line(peer, 0, "POST /sandboxes/isandbox1/pause");
        api_peer_check_body(peer, 0, rows[i].newer);
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
        peer->client.routes = E2B_ROUTES_OLDER;
        api_peer_check(peer, e2b_sandbox_pause(&peer->sandbox, rows[i].memory), E2B_OK);
        api_peer_check_body(peer, 1, rows[i].older);
    }
}

static void test_pause_answers(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int status;
        const char *body;
        e2b_err err;
    } rows[] = {
        {409, "{\"code\":409,\"message\":\"Error pausing sandbox - sandbox 'isandbox1' is already paused\"}", E2B_OK},
        {409, "{\"code\":409,\"message\":\"Sandbox 'isandbox1' cannot be paused while in 'killing' state\"}", E2B_CONFLICT},
        {409, "", E2B_CONFLICT},
        {409, "it is already paused", E2B_OK},
        {409, "it is already pause", E2B_CONFLICT},
        {300, "", E2B_REDIRECT},
        {404, "", E2B_NOT_FOUND},
        {404, "{\"code\":404,\"message\":\"already paused\"}", E2B_NOT_FOUND},
        {500, "{\"code\":500,\"message\":\"Error pausing sandbox\"}", E2B_SERVER},
        {502, "", E2B_GATEWAY},
        {429, "{\"code\":429,\"message\":\"Rate limit exceeded\"}", E2B_RATE_LIMITED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        api_peer_restart(peer, NULL);
        refer(peer);
        api_peer_answer(peer, rows[i].status, rows[i].body);
        api_peer_check(peer, e2b_sandbox_pause(&peer->sandbox, 0), rows[i].err);
        assert_int_equal(peer->client.error.code, rows[i].err);
        assert_int_equal(peer->client.conns[0].use, E2B_USE_KEPT);
    }
}

static void test_retry_after_is_kept(void **state)
{
    api_peer *peer = *state;
    refer(peer);
    api_peer_answer_with(peer, 429, "Retry-After: 7\r\n", "{\"code\":429,\"message\":\"Rate limit exceeded\"}");
    api_peer_check(peer, e2b_sandbox_pause(&peer->sandbox, 0), E2B_RATE_LIMITED);
    assert_int_equal(peer->client.error.retry_after_s, 7);
}

/* The key is no part of an error, even if a server sends it back. */
static void test_the_key_is_hidden(void **state)
{
    api_peer *peer = *state;
    refer(peer);
    api_peer_answer(peer, 401, "{\"code\":401,\"message\":\"bad key " API_PEER_KEY " here\"}");
    api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 5), E2B_UNAUTHENTICATED);
    assert_null(strstr(peer->client.error.text, API_PEER_KEY));
    assert_non_null(strstr(peer->client.error.text, "bad key ***"));
}

/* However much stands before it, no part of a secret is left that a bound has cut off. */
static void test_secrets_cut_off_are_hidden(void **state)
{
    api_peer *peer = *state;
    static const char token[] = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";
    static const char *const secrets[] = {API_PEER_KEY, token};
    static const char *const forms[] = {"{\"code\":400,\"message\":\"%.*s%s and more\"}", "%.*s%s"};
    char padding[200], body[400];
    memset(padding, '.', sizeof padding);
    for (size_t form = 0; form < 2; form++)
        for (size_t secret = 0; secret < 2; secret++)
            for (int before = 0; before < 170; before++) {
                api_peer_restart(peer, NULL);
                refer(peer);
                snprintf(body, sizeof body, forms[form], before, padding, secrets[secret]);
                api_peer_answer(peer, 400, body);
                api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 5), E2B_BAD_REQUEST);
                char start[25];
                snprintf(start, sizeof start, "%.*s", secret == 0 ? 8 : 24, secrets[secret]);
                if (strstr(peer->client.error.text, start)) fail_msg("%s", peer->client.error.text);
            }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, api_peer_setup, api_peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_refer),
        TEST(test_ids_that_are_none),
        TEST(test_connect),
        TEST(test_connect_options_in_both_generations),
        TEST(test_connect_that_fails_keeps_the_id),
        TEST(test_connect_cut_at_every_byte),
        TEST(test_connect_is_sent_again_on_a_dead_kept_link),
        TEST(test_resume), TEST(test_resume_under_another_domain), TEST(test_connect_by_both_routes_in_time),
        TEST(test_debug_asks_nobody),
        TEST(test_set_timeout),
        TEST(test_set_timeout_is_sent_again_on_a_dead_kept_link),
        TEST(test_pause),
        TEST(test_pause_answers),
        TEST(test_retry_after_is_kept),
        TEST(test_the_key_is_hidden),
        TEST(test_secrets_cut_off_are_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
