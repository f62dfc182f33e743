/* The answer of create, connect and resume, read into a sandbox; version numbers. */
#include "cloud/sandbox_reply.h"

#include "api_peer.h"
#include "cloud/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- Versions ------------------------------------------------------------------ */

static void test_versions_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint16_t version[3];
    } good[] = {{"0.6.13", {0, 6, 13}}, {"0.1.5", {0, 1, 5}}, {"99.99.99", {99, 99, 99}}, {"0.0.0", {0, 0, 0}},
                {"65535.0.65535", {65535, 0, 65535}}, {"1.2.3-dev", {1, 2, 3}}, {"1.2.3+build", {1, 2, 3}}, {"01.02.03", {1, 2, 3}}};
    static const char *const bad[] = {"", "1", "1.", "1.2", "1.2.", "a.b.c", ".1.2", "1..2", "-1.2.3", "1.2.x", "65536.0.0", "0.0.99999999999999999999", "v1.2.3", " 1.2.3"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint16_t version[3];
        assert_true(e2b_version_parse(good[i].text, version));
        assert_memory_equal(version, good[i].version, sizeof version);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint16_t version[3];
        if (e2b_version_parse(bad[i], version)) fail_msg("%s", bad[i]);
    }
}

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

static void test_versions_are_compared_as_numbers(void **state)
{
    (void)state;
    static const uint16_t rising[][3] = {{0, 1, 5}, {0, 1, 10}, {0, 2, 0}, {0, 10, 0}, {0, 10, 1}, {1, 0, 0}, {9, 9, 9}, {10, 0, 0}};
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 8; j++)
            assert_int_equal(sign(e2b_version_compare(rising[i], rising[j][0], rising[j][1], rising[j][2])), (i > j) - (i < j));
}

/* ---- Answers --------------------------------------------------------------------- */

static e2b_err read_reply(api_peer *peer, const char *body)
{
    e2b_call call;
    memset(&peer->sandbox, 0, sizeof peer->sandbox);
    peer->sandbox.client = &peer->client;
    api_peer_answer(peer, 201, body);
    e2b_api_call(&peer->client, &call, "test", "GET");
    e2b_api_path(&call, "/", (e2b_str){NULL, 0}, NULL);
    api_peer_check(peer, e2b_call_begin(&call), E2B_OK);
    e2b_err err = e2b_sandbox_read(&call, &peer->sandbox);
    assert_null(call.conn);
    return err;
}

#define TOKEN64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_every_field(void **state)
{
    api_peer *peer = *state;
    const e2b_sandbox *sandbox = &peer->sandbox;
    api_peer_check(peer, read_reply(peer,
        " {\"alias\":\"\",\"unknown\":{\"sandboxID\":\"inner\",\"list\":[{\"envdAccessToken\":\"x\"},null,1.5e3,true]},"
        "\"trafficAccessToken\":\"" TOKEN64 "\",\"envdAccessToken\":\"a\\u0062c\",\"domain\":\"own.example\","
        "\"envdVersion\":\"0.6.13\",\"sandboxID\":\"i1a2b3\",\"domains\":\"other\"} \r\n"), E2B_OK);
    assert_string_equal(sandbox->id, "i1a2b3");
    assert_string_equal(sandbox->access_token, "abc");
    assert_string_equal(sandbox->traffic_token, TOKEN64);
    assert_string_equal(sandbox->domain, "own.example");
    assert_string_equal(sandbox->envd_version, "0.6.13");
    assert_true(sandbox->secret);
    assert_int_equal(sandbox->version[0], 0);
    assert_int_equal(sandbox->version[1], 6);
    assert_int_equal(sandbox->version[2], 13);
    assert_int_equal(peer->client.conns[0].use, E2B_USE_KEPT);
}

static void test_what_may_be_absent(void **state)
{
    api_peer *peer = *state;
    static const char *const bodies[] = {
        "{\"sandboxID\":\"i1\",\"envdVersion\":\"0.1.0\"}",
        "{\"sandboxID\":\"i1\",\"envdVersion\":\"0.1.0\",\"envdAccessToken\":null,\"trafficAccessToken\":null,\"domain\":null}",
        "{\"sandboxID\":\"i1\",\"envdVersion\":\"0.1.0\",\"envdAccessToken\":\"\",\"trafficAccessToken\":\"\",\"domain\":\"\"}",
    };
    for (size_t i = 0; i < 3; i++) {
        api_peer_check(peer, read_reply(peer, bodies[i]), E2B_OK);
        assert_string_equal(peer->sandbox.access_token, "");
        assert_string_equal(peer->sandbox.traffic_token, "");
        assert_string_equal(peer->sandbox.domain, "e2b.app");
        assert_false(peer->sandbox.secret);
    }
}

static void test_the_last_of_two_wins(void **state)
{
    api_peer *peer = *state;
    api_peer_check(peer, read_reply(peer,
        "{\"sandboxID\":\"ilonger\",\"envdAccessToken\":\"first\",\"sandboxID\":\"i2\",\"envdAccessToken\":\"t\","
        "\"envdVersion\":\"bad\",\"envdVersion\":\"0.2.0\",\"domain\":\"first.example\",\"domain\":null}"), E2B_OK);
    assert_string_equal(peer->sandbox.id, "i2");
    assert_string_equal(peer->sandbox.access_token, "t");
    assert_string_equal(peer->sandbox.envd_version, "0.2.0");
    assert_string_equal(peer->sandbox.domain, "e2b.app");
}

/* Each malformed in one way. The id is there whatever else is wrong. */
static void test_malformed(void **state)
{
    api_peer *peer = *state;
    static const struct {
        const char *rest;
        e2b_err err;
    } rows[] = {
        {"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.0.9\"", E2B_UNSUPPORTED},
        {",\"envdVersion\":null", E2B_PROTOCOL},
        {",\"envdVersion\":6", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"a\\r\\nX: y\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"a b\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"a\\u0000\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"\\u00e4\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"trafficAccessToken\":\"a\\n\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"domain\":\"a\\nb\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"domain\":\"evil.example/x\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"domain\":\"a:80\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"domain\":[\"a\"]", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"domain\":{}", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"domain\":true", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",\"domain\":\"\\ud800\"", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13\",,", E2B_PROTOCOL},
        {",\"envdVersion\":\"0.6.13-a-rather-long-build\"", E2B_LIMIT},
        {",\"envdVersion\":\"0.6.13\",\"trafficAccessToken\":\"" TOKEN64 "0\"", E2B_LIMIT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char body[512];
        snprintf(body, sizeof body, "{\"sandboxID\":\"i1\"%s}", rows[i].rest);
        e2b_err err = read_reply(peer, body);
        if (err != rows[i].err) fail_msg("%s: %s", rows[i].rest, e2b_err_name(err));
        assert_int_equal(peer->client.error.code, err);
        assert_string_equal(peer->sandbox.id, "i1");
        /* Nothing of it goes into a request. */
        e2b_process_list list;
        peer->sandbox.state = E2B_SANDBOX_LIVE;
        assert_int_equal(e2b_process_list_open(&peer->sandbox, &list, NULL), E2B_STATE);
    }
}

static void test_nested_values_are_not_taken(void **state)
{
    api_peer *peer = *state;
    assert_int_equal(read_reply(peer, "{\"a\":{\"sandboxID\":\"i1\",\"envdVersion\":\"0.6.13\"}}"), E2B_PROTOCOL);
    assert_string_equal(peer->sandbox.id, "");
    assert_int_equal(read_reply(peer, "[{\"sandboxID\":\"i1\",\"envdVersion\":\"0.6.13\"}]"), E2B_PROTOCOL);
    assert_string_equal(peer->sandbox.id, "");
}

/* Any way of cutting the answer gives the same sandbox. */
static void test_every_piece_size(void **state)
{
    api_peer *peer = *state;
    for (size_t size = 1; size < 60; size++) {
        api_peer_restart(peer, NULL);
        peer->port.recv_max = size;
        api_peer_check(peer, read_reply(peer, API_PEER_SANDBOX), E2B_OK);
        assert_string_equal(peer->sandbox.id, "isandbox1");
        assert_string_equal(peer->sandbox.access_token, "token-of-envd");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, api_peer_setup, api_peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_are_parsed),
        cmocka_unit_test(test_versions_are_compared_as_numbers),
        TEST(test_every_field),
        TEST(test_what_may_be_absent),
        TEST(test_the_last_of_two_wins),
        TEST(test_malformed),
        TEST(test_nested_values_are_not_taken),
        TEST(test_every_piece_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
