/* What every call of the control plane has in common. */
#include "cloud/api.h"

#include "api_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- Where it goes and with which headers ---------------------------------------- */

static void go(api_peer *peer, const char *api_url, const char *line, const char *host, const char *connected_host, uint16_t port)
{
    e2b_call call;
    api_peer_restart(peer, &(e2b_client_options){.api_url = api_url, .api_address = "127.0.0.9"});
    api_peer_answer(peer, 204, "");
    e2b_api_call(&peer->client, &call, "test", "GET");
    e2b_api_path(&call, "/things/", (e2b_str){"i1", 2}, "/end");
    api_peer_check(peer, e2b_call_simple(&call), E2B_OK);
    api_peer_check_line(peer, 0, line);
    if (!api_peer_contains(peer, 0, host)) fail_msg("%s", peer->requests[0]);
    assert_string_equal(peer->connections[0].host, connected_host);
    assert_string_equal(peer->connections[0].address, "127.0.0.9");
    assert_int_equal(peer->connections[0].tcp_port, port);
    assert_int_equal(peer->connections[0].tls, strncmp(api_url, "https", 5) == 0);
}

static void test_base_urls(void **state)
{
    api_peer *peer = *state;
    go(peer, "http://api.example.test", "GET /things/i1/end", "\r\nHost: api.example.test\r\n", "api.example.test", 80);
    go(peer, "http://api.example.test:3000/", "GET /things/i1/end", "\r\nHost: api.example.test:3000\r\n", "api.example.test", 3000);
    go(peer, "http://127.0.0.1:3000/v9/", "GET /v9/things/i1/end", "\r\nHost: 127.0.0.1:3000\r\n", "127.0.0.1", 3000);
    go(peer, "http://[::1]:3000/a/b", "GET /a/b/things/i1/end", "\r\nHost: [::1]:3000\r\n", "::1", 3000);
    go(peer, "https://api.example.test", "GET /things/i1/end", "\r\nHost: api.example.test\r\n", "api.example.test", 443);
    go(peer, "https://api.example.test:8443", "GET /things/i1/end", "\r\nHost: api.example.test:8443\r\n", "api.example.test", 8443);
}

static void number(e2b_text *text, const void *subject)
{
    e2b_text_u64(text, *(const uint32_t *)subject);
}

static void test_headers_and_body(void **state)
{
    api_peer *peer = *state;
    e2b_call call;
    uint32_t subject = 12345;
    api_peer_answer(peer, 204, "");
    e2b_api_call(&peer->client, &call, "test", "POST");
    e2b_api_path(&call, "/x", (e2b_str){NULL, 0}, NULL);
    e2b_api_body(&call, number, &subject);
    api_peer_check(peer, e2b_call_simple(&call), E2B_OK);
    api_peer_check_line(peer, 0, "POST /x");
    assert_true(api_peer_contains(peer, 0, "\r\nX-API-Key: " API_PEER_KEY "\r\n"));
    assert_true(api_peer_contains(peer, 0, "\r\nUser-Agent: libe2b/" E2B_VERSION "\r\n"));
    assert_true(api_peer_contains(peer, 0, "\r\nContent-Type: application/json\r\nContent-Length: 5\r\n"));
    api_peer_check_body(peer, 0, "12345");
    assert_false(api_peer_contains(peer, 0, "E2b-Sandbox-Id"));
}

static void test_the_limit_of_a_call(void **state)
{
    api_peer *peer = *state;
    static const struct {
        uint32_t limit;
        uint64_t ends;
    } rows[] = {{0, 60000}, {1500, 1500}};
    for (size_t i = 0; i < 2; i++) {
        e2b_call call;
        api_peer_restart(peer, NULL);
        peer->client.limits.request_ms = rows[i].limit;
        api_peer_answer_nothing(peer);
        e2b_api_call(&peer->client, &call, "test", "GET");
        e2b_api_path(&call, "/x", (e2b_str){NULL, 0}, NULL);
        api_peer_check(peer, e2b_call_simple(&call), E2B_REPLY_TIMEOUT);
        assert_int_equal(peer->port.now_ms, rows[i].ends);
    }
}

/* ---- Missing routes ---------------------------------------------------------------- */

static const struct {
    int status;
    const char *body;
    bool missing;
} answers[] = {
    {404, "{\"code\":404,\"message\":\"validation error: no matching operation was found\"}", true},
    {404, "{\"message\":\"validation error: no matching operation was found\",\"code\":404,\"more\":[1]}", true},
    {404, "{\"code\":404,\"message\":\"validation error: method not allowed\"}", true},
    {400, "{\"code\":400,\"message\":\"validation error: method not allowed\"}", true},
    {405, "{\"code\":405,\"message\":\"validation error: method not allowed\"}", true},
    {404, "", true},
    {404, "404 page not found\n", true},
    {404, "<html><body>not here</body></html>", true},
    {404, "[]", true},
    {404, "\"text\"", true},
    {404, "{broken", true},
    /* The thing, not the route. */
    {404, "{\"code\":404,\"message\":\"template 'x' not found\"}", false},
    {404, "{\"code\":404,\"message\":\"Sandbox \\\"i1\\\" doesn't exist or you don't have access to it\"}", false},
    {404, "{\"code\":404,\"message\":\"validation error: no matching operation was found.\"}", false},
    {404, "{\"code\":404,\"message\":\"Validation error: no matching operation was found\"}", false},
    {404, "{\"code\":404,\"message\":\"tag validation error: method not allowed\"}", false},
    {404, "{\"code\":404}", false},
    {404, "{}", false},
    {400, "{\"code\":400,\"message\":\"validation error: no matching operation was found\"}", false},
    {405, "{\"code\":405,\"message\":\"validation error: no matching operation was found\"}", false},
    {400, "{\"code\":400,\"message\":\"Invalid template reference\"}", false},
    {400, "", false},
    {405, "", false},
    {401, "{\"code\":401,\"message\":\"validation error: method not allowed\"}", false},
    {500, "{\"code\":500,\"message\":\"validation error: no matching operation was found\"}", false},
    {410, "", false},
    {300, "", false},
    {301, "", false},
    {501, "", false},
};

static void test_missing_route(void **state)
{
    api_peer *peer = *state;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        e2b_call call;
        e2b_err err = E2B_OK;
        api_peer_restart(peer, NULL);
        api_peer_answer(peer, answers[i].status, answers[i].body);
        e2b_api_call(&peer->client, &call, "test", "POST");
        e2b_api_path(&call, "/v2/x", (e2b_str){NULL, 0}, NULL);
        api_peer_check(peer, e2b_call_begin(&call), E2B_OK);
        bool missing = e2b_api_lacks_route(&call, &err);
        if (missing != answers[i].missing) fail_msg("%d %s: missing: %d", answers[i].status, answers[i].body, missing);
        assert_int_equal(peer->client.routes, missing ? E2B_ROUTES_OLDER : E2B_ROUTES_UNKNOWN);
        /* Either way the slot is given back; a refusal that stands is written down. */
        assert_null(call.conn);
        assert_int_equal(peer->client.error.code, err);
        assert_int_equal(err == E2B_OK, missing);
        assert_int_equal(peer->client.error.http_status, missing ? 0 : answers[i].status);
    }
}

static void test_a_route_that_is_there(void **state)
{
    api_peer *peer = *state;
    static const int statuses[] = {200, 201, 204, 299};
    for (size_t i = 0; i < 4; i++) {
        e2b_call call;
        e2b_err err = E2B_OK;
        api_peer_restart(peer, NULL);
        api_peer_answer(peer, statuses[i], "{}");
        e2b_api_call(&peer->client, &call, "test", "POST");
        e2b_api_path(&call, "/v2/x", (e2b_str){NULL, 0}, NULL);
        api_peer_check(peer, e2b_call_begin(&call), E2B_OK);
        assert_false(e2b_api_lacks_route(&call, &err));
        assert_int_equal(err, E2B_OK);
        assert_non_null(call.conn);
        assert_int_equal(peer->client.routes, E2B_ROUTES_NEWER);
        e2b_call_end(&call);
    }
}

/* ---- Ids --------------------------------------------------------------------------- */

static void test_ids(void **state)
{
    (void)state;
    char id[4096];
    static const size_t lengths[] = {0, 1, 63, 64, 65, 129, 255, 4096};
    memset(id, 'i', sizeof id);
    for (size_t i = 0; i < 8; i++) assert_int_equal(e2b_sandbox_id_valid((e2b_str){id, lengths[i]}), lengths[i] >= 1 && lengths[i] <= 64);
    for (int byte = 0; byte < 256; byte++) {
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '_';
        for (size_t at = 0; at < 3; at++) {
            memcpy(id, "abc", 3);
            id[at] = (char)byte;
            if (e2b_sandbox_id_valid((e2b_str){id, 3}) != letter) fail_msg("byte %d", byte);
        }
    }
}

static void test_what_needs_a_sandbox(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int32_t state;
        const char *words;
    } rows[] = {{E2B_SANDBOX_NONE, "test: there is no sandbox"}, {E2B_SANDBOX_MAYBE, "settle or kill first"}, {E2B_SANDBOX_GONE, "is gone"}};
    assert_int_equal(e2b_sandbox_require(&peer->sandbox, "test"), E2B_STATE);
    peer->sandbox.client = &peer->client;
    for (size_t i = 0; i < 3; i++) {
        peer->sandbox.state = rows[i].state;
        assert_int_equal(e2b_sandbox_require(&peer->sandbox, "test"), E2B_STATE);
        api_peer_check_words(&peer->client.error, E2B_STATE, rows[i].words);
    }
    peer->sandbox.state = E2B_SANDBOX_LIVE;
    assert_int_equal(e2b_sandbox_require(&peer->sandbox, "test"), E2B_OK);
    strcpy(peer->sandbox.id, "i1");
    assert_int_equal(e2b_sandbox_id(&peer->sandbox).len, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, api_peer_setup, api_peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_base_urls),
        TEST(test_headers_and_body),
        TEST(test_the_limit_of_a_call),
        TEST(test_missing_route),
        TEST(test_a_route_that_is_there),
        cmocka_unit_test(test_ids),
        TEST(test_what_needs_a_sandbox),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
