/* Health: one GET, and what its answers mean. */
#include "envd_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_healthy(void **state)
{
    envd_peer *peer = *state;
    e2b_memory_script *script = envd_peer_answer(peer, "/health");
    e2b_memory_text(script, "HTTP/1.1 204 No Content\r\n\r\n");
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    assert_true(envd_peer_contains(peer, 0, "GET /health HTTP/1.1\r\n"));
    assert_string_equal(envd_peer_body(peer, 0), "");
    assert_false(envd_peer_contains(peer, 0, "Content-Length"));
    assert_false(envd_peer_contains(peer, 0, "Content-Type"));
}

/* What proxies and the daemon say, and what it means. */
static void test_refusals(void **state)
{
    static const struct { int status; const char *body; e2b_err err; } cases[] = {
        {502, "{\"sandboxId\":\"isandbox1\",\"message\":\"The sandbox was not found\",\"code\":502}", E2B_NOT_RUNNING},
        {502, "{\"sandboxId\":\"isandbox1\",\"message\":\"The sandbox is running but port is not open\",\"port\":49983,\"code\":502}", E2B_GATEWAY},
        {502, "<html><body>Bad gateway</body></html>", E2B_GATEWAY},
        {503, "", E2B_GATEWAY},
        {401, "{\"code\":401,\"message\":\"unauthorized access\"}", E2B_UNAUTHENTICATED},
        {409, "{\"sandboxId\":\"isandbox1\",\"message\":\"The sandbox is still transitioning. Try again in a moment.\",\"code\":409}", E2B_CONFLICT},
        {429, "{\"sandboxId\":\"isandbox1\",\"message\":\"limit\",\"code\":429,\"connectionLimit\":9}", E2B_RATE_LIMITED},
        {404, "404 page not found\n", E2B_UNIMPLEMENTED},
        {302, "", E2B_REDIRECT},
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        envd_peer_reply(peer, "/health", cases[i].status, cases[i].body);
        envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), cases[i].err);
        assert_int_equal(peer->client.error.http_status, cases[i].status);
        /* The state is what the service's own answers say; a proxy's word does not change it. */
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
        envd_peer_slots_free(peer);
    }
}

/* Sent once more on a fresh link if the kept one died before an answer; a fresh one's death is an answer. */
static void test_a_kept_link_that_died(void **state)
{
    envd_peer *peer = *state;
    envd_peer_reply(peer, "/health", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    e2b_memory_reset(envd_peer_answer(peer, "/health"));
    envd_peer_done(peer);
    envd_peer_reply(peer, "/health", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    assert_int_equal(peer->request_count, 3);
    assert_int_equal(peer->port.opened, 2);
    envd_peer_restart(peer, NULL);
    e2b_memory_reset(envd_peer_answer(peer, "/health"));
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_NO_REPLY);
    assert_int_equal(peer->request_count, 1);
}

static void test_a_silent_daemon(void **state)
{
    envd_peer *peer = *state;
    envd_peer_silence(peer, "/health");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_REPLY_TIMEOUT);
    assert_int_equal(peer->port.now_ms, 60000);
    peer->client.limits.request_ms = 250;
    envd_peer_silence(peer, "/health");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_REPLY_TIMEOUT);
    assert_int_equal(peer->port.now_ms, 60250);
    envd_peer_slots_free(peer);
}

/* The terminator that comes alone after the end: waited for a moment by the next
 * call, which else takes a new link. */
static void test_after_a_stream(void **state)
{
    static const struct { uint32_t late; uint32_t opened; } cases[] = {{0, 1}, {30, 1}, {51, 2}};
    envd_peer *peer = *state;
    for (size_t i = 0; i < 3; i++) {
        e2b_process process;
        envd_peer_restart(peer, NULL);
        e2b_memory_script *script = envd_peer_answer(peer, "/Start");
        envd_write_head(script);
        envd_write_started(peer, 7);
        envd_write_ended(peer, 0, true, "exit status 0");
        envd_write_last(peer, "{}");
        e2b_memory_advance(script, cases[i].late);
        envd_write_close(peer);
        envd_peer_done(peer);
        envd_peer_check(peer, e2b_process_shell(&peer->sandbox, &process, "true", NULL), E2B_OK);
        envd_peer_next(peer, &process, E2B_EVENT_END);
        assert_int_equal(peer->port.now_ms, 0); /* END does not wait for it */
        envd_peer_reply(peer, "/health", 200, "{}");
        envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
        assert_int_equal(peer->port.opened, cases[i].opened);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_healthy), TEST(test_refusals), TEST(test_a_kept_link_that_died), TEST(test_a_silent_daemon),
        TEST(test_after_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
