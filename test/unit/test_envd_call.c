/* What every call to the daemon has in common: where it goes, what it carries,
 * and for which sandboxes it can be made at all. */
#include "envd_peer.h"

#include "envd/envd_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- Where it goes ------------------------------------------------------------- */

/* A client of the test's own over the peer's port. */
static void other_client(envd_peer *peer, e2b_client *client, void *memory, size_t size, const e2b_client_options *options)
{
    e2b_client_options own = *options;
    own.api_key = "e2b_00";
    own.connections = 2;
    assert_int_equal(e2b_client_init(client, &peer->port.port, &own, memory, size), E2B_OK);
}

static void name_sandbox(e2b_client *client, e2b_sandbox *sandbox, const char *id, const char *domain)
{
    assert_int_equal(e2b_sandbox_refer(client, sandbox, id), E2B_OK);
    sandbox->version[1] = 6;
    strcpy(sandbox->domain, domain);
}

static void test_shared_host(void **state)
{
    envd_peer *peer = *state;
    envd_peer_reply(peer, "/health", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    assert_string_equal(peer->connections[0].host, "sandbox.example.test");
    assert_int_equal(peer->connections[0].tcp_port, 80);
    assert_false(peer->connections[0].tls);
    assert_true(envd_peer_contains(peer, 0, "\r\nHost: sandbox.example.test\r\n"));
    assert_true(envd_peer_contains(peer, 0, "\r\nE2b-Sandbox-Id: isandbox1\r\n"));
    assert_true(envd_peer_contains(peer, 0, "\r\nE2b-Sandbox-Port: 49983\r\n"));
    assert_true(envd_peer_contains(peer, 0, "\r\nX-Access-Token: " ENVD_PEER_TOKEN "\r\n"));
    assert_true(envd_peer_contains(peer, 0, "\r\nAccept: application/json\r\n"));
    assert_false(envd_peer_contains(peer, 0, "X-API-Key"));
}

static void test_open_sandbox_has_no_token(void **state)
{
    envd_peer *peer = *state;
    peer->sandbox.access_token[0] = '\0';
    envd_peer_reply(peer, "/health", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    assert_false(envd_peer_contains(peer, 0, "X-Access-Token"));
}

/* E2B's own clusters have one host for all; elsewhere each sandbox has a name. */
static void test_by_domain(void **state)
{
    static const struct { const char *domain, *host; } cases[] = {
        {"e2b.app", "sandbox.e2b.app"},
        {"e2b.dev", "sandbox.e2b.dev"},
        {"e2b.pro", "sandbox.e2b.pro"},
        {"e2b-staging.dev", "sandbox.e2b-staging.dev"},
        {"example.test", "49983-isandbox1.example.test"},
    };
    envd_peer *peer = *state;
    static uint8_t memory[E2B_CLIENT_MEMORY(2, 1024)];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        e2b_client client;
        e2b_sandbox sandbox;
        envd_peer_restart(peer, NULL);
        envd_peer_reply(peer, "/health", 200, "{}");
        other_client(peer, &client, memory, sizeof memory, &(e2b_client_options){.domain = cases[i].domain});
        name_sandbox(&client, &sandbox, "isandbox1", cases[i].domain);
        envd_peer_check(peer, e2b_sandbox_health(&sandbox), E2B_OK);
        assert_string_equal(peer->connections[0].host, cases[i].host);
        assert_int_equal(peer->connections[0].tcp_port, 443);
        assert_true(peer->connections[0].tls);
        assert_true(envd_peer_contains(peer, 0, "\r\nE2b-Sandbox-Id: isandbox1\r\n"));
        e2b_client_close(&client);
    }
}

static void test_address_and_path_of_options(void **state)
{
    envd_peer *peer = *state;
    static uint8_t memory[E2B_CLIENT_MEMORY(2, 1024)];
    e2b_client client;
    e2b_sandbox sandbox;
    envd_peer_reply(peer, "/base/health", 200, "{}");
    other_client(peer, &client, memory, sizeof memory,
                 &(e2b_client_options){.sandbox_url = "http://gate.test:8080/base/", .sandbox_address = "127.0.0.9"});
    name_sandbox(&client, &sandbox, "isandbox1", "example.test");
    envd_peer_check(peer, e2b_sandbox_health(&sandbox), E2B_OK);
    assert_string_equal(peer->connections[0].host, "gate.test");
    assert_string_equal(peer->connections[0].address, "127.0.0.9");
    assert_int_equal(peer->connections[0].tcp_port, 8080);
    assert_true(envd_peer_contains(peer, 0, "\r\nHost: gate.test:8080\r\n"));
    e2b_client_close(&client);
}

/* A kept link to a shared host serves another sandbox; one to a sandbox's own
 * name does not, even if a later sandbox has the same id and place in memory. */
static void test_links_are_remembered_by_destination(void **state)
{
    envd_peer *peer = *state;
    static uint8_t memory[E2B_CLIENT_MEMORY(2, 1024)];
    e2b_client client;
    e2b_sandbox other, own;
    envd_peer_reply_always(peer, "/health", 200, "{}");
    envd_peer_sandbox(peer, &other, "isandbox2", "0.6.13");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    envd_peer_check(peer, e2b_sandbox_health(&other), E2B_OK);
    assert_int_equal(peer->port.opened, 1);
    other_client(peer, &client, memory, sizeof memory, &(e2b_client_options){.domain = "example.test"});
    name_sandbox(&client, &own, "isandbox1", "example.test");
    envd_peer_check(peer, e2b_sandbox_health(&own), E2B_OK);
    envd_peer_check(peer, e2b_sandbox_health(&own), E2B_OK);
    assert_int_equal(peer->port.opened, 2);
    name_sandbox(&client, &own, "isandbox1", "example.test");
    envd_peer_check(peer, e2b_sandbox_health(&own), E2B_OK);
    assert_int_equal(peer->port.opened, 3);
    e2b_client_close(&client);
}

/* ---- For which sandboxes --------------------------------------------------------- */

static void test_only_live_sandboxes_that_are_known(void **state)
{
    envd_peer *peer = *state;
    e2b_sandbox none;
    memset(&none, 0, sizeof none);
    assert_int_equal(e2b_sandbox_health(&none), E2B_STATE);
    static const int32_t states[] = {E2B_SANDBOX_NONE, E2B_SANDBOX_MAYBE, E2B_SANDBOX_GONE};
    for (size_t i = 0; i < 3; i++) {
        peer->sandbox.state = states[i];
        envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_STATE);
        envd_peer_words(peer, E2B_STATE, "no live sandbox");
    }
    envd_peer_check(peer, e2b_sandbox_refer(&peer->client, &peer->sandbox, "isandbox1"), E2B_OK);
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_STATE);
    envd_peer_words(peer, E2B_STATE, "attach or connect first");
    /* A token exists and is not known: every call would be refused. */
    peer->sandbox.version[1] = 6;
    peer->sandbox.secret = true;
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_STATE);
    envd_peer_words(peer, E2B_STATE, "access token");
    assert_int_equal(peer->port.calls, 0);
}

/* Each call of this floor asks the same question first. */
static void test_every_call_requires_it(void **state)
{
    envd_peer *peer = *state;
    static const char *const argv[] = {"ls"};
    e2b_process process;
    e2b_process_list list;
    e2b_process_info info;
    e2b_run_result result = {0};
    peer->sandbox.state = E2B_SANDBOX_GONE;
    envd_peer_check(peer, e2b_process_start(&peer->sandbox, &process, argv, 1, NULL), E2B_STATE);
    assert_int_equal(e2b_process_next(&process, &(e2b_event){0}, 0), E2B_CLOSED);
    envd_peer_check(peer, e2b_process_shell(&peer->sandbox, &process, "ls", NULL), E2B_STATE);
    envd_peer_check(peer, e2b_process_connect(&peer->sandbox, &process, 7, NULL, NULL), E2B_STATE);
    envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, 7, NULL, E2B_SIGNAL_TERM), E2B_STATE);
    envd_peer_check(peer, e2b_process_list_open(&peer->sandbox, &list, NULL), E2B_STATE);
    envd_peer_check(peer, e2b_process_list_next(&list, &info), E2B_STATE);
    envd_peer_check(peer, e2b_run(&peer->sandbox, "ls", NULL, &result), E2B_STATE);
    assert_int_equal(peer->port.calls, 0);
}

static void test_versions(void **state)
{
    (void)state;
    static const struct { uint16_t version[3]; bool at_least; } cases[] = {
        {{0, 5, 1}, false}, {{0, 5, 2}, true}, {{0, 5, 3}, true}, {{0, 4, 9}, false}, {{0, 6, 0}, true}, {{1, 0, 0}, true}, {{0, 0, 9}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        e2b_sandbox sandbox;
        memset(&sandbox, 0, sizeof sandbox);
        memcpy(sandbox.version, cases[i].version, sizeof sandbox.version);
        assert_int_equal(e2b_envd_at_least(&sandbox, 0, 5, 2), cases[i].at_least);
    }
}

/* ---- What it carries --------------------------------------------------------------- */

static void test_headers_of_calls_and_streams(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_restart(peer, &(envd_peer_options){.codec = E2B_CODEC_PROTO});
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    assert_true(envd_peer_contains(peer, 0, "POST /process.Process/Start HTTP/1.1\r\n"));
    assert_true(envd_peer_contains(peer, 0, "\r\nContent-Type: application/connect+proto\r\n"));
    assert_true(envd_peer_contains(peer, 0, "\r\nConnect-Protocol-Version: 1\r\n"));
    assert_true(envd_peer_contains(peer, 0, "\r\nKeepalive-Ping-Interval: 50\r\n"));
    assert_false(envd_peer_contains(peer, 0, "Connect-Timeout-Ms"));
    envd_peer_reply(peer, "/SendSignal", 200, "");
    envd_peer_check(peer, e2b_process_signal(&process, E2B_SIGNAL_TERM), E2B_OK);
    assert_true(envd_peer_contains(peer, 1, "\r\nContent-Type: application/proto\r\n"));
    assert_true(envd_peer_contains(peer, 1, "\r\nConnect-Protocol-Version: 1\r\n"));
    assert_false(envd_peer_contains(peer, 1, "Keepalive-Ping-Interval"));
    e2b_process_close(&process);

    envd_peer_restart(peer, NULL);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    assert_true(envd_peer_contains(peer, 0, "\r\nContent-Type: application/connect+json\r\n"));
    envd_peer_reply(peer, "/SendSignal", 200, "{}");
    envd_peer_check(peer, e2b_process_signal(&process, E2B_SIGNAL_TERM), E2B_OK);
    assert_true(envd_peer_contains(peer, 1, "\r\nContent-Type: application/json\r\n"));
    e2b_process_close(&process);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_shared_host),
        TEST(test_open_sandbox_has_no_token),
        TEST(test_by_domain),
        TEST(test_address_and_path_of_options),
        TEST(test_links_are_remembered_by_destination),
        TEST(test_only_live_sandboxes_that_are_known),
        TEST(test_every_call_requires_it),
        TEST(test_versions),
        TEST(test_headers_of_calls_and_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
