/* What the API tells about a sandbox. */
#include "cloud/info.h"

#include "api_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void refer(api_peer *peer)
{
    api_peer_check(peer, e2b_sandbox_refer(&peer->client, &peer->sandbox, "isandbox1"), E2B_OK);
}

static e2b_err ask(api_peer *peer, const char *body, e2b_sandbox_info *info, e2b_arena *arena)
{
    refer(peer);
    api_peer_answer(peer, 200, body);
    return e2b_sandbox_get_info(&peer->sandbox, info, arena);
}

static void check_text(e2b_str found, const char *expected)
{
    assert_int_equal(found.len, strlen(expected));
    assert_memory_equal(found.ptr, expected, found.len);
}

/* ---- Fields ------------------------------------------------------------------------ */

#define EVERY_FIELD \
    "{\"alias\":\"my-base\",\"allowInternetAccess\":true,\"clientID\":\"6532622b\",\"cpuCount\":2,\"diskSizeMB\":5120," \
    "\"endAt\":\"2026-03-04T05:11:07Z\",\"envdAccessToken\":\"9f2c\",\"envdVersion\":\"0.6.4\"," \
    "\"lifecycle\":{\"autoResume\":true,\"onTimeout\":\"pause\"},\"memoryMB\":1024,\"metadata\":{\"workspace_id\" : \"ws-42\"}," \
    "\"network\":{\"allowOut\":[\"example.com\"],\"denyOut\":[\"0.0.0.0/0\"]},\"sandboxID\":\"isandbox1\"," \
    "\"startedAt\":\"2026-03-04T06:06:07.123456789+01:00\",\"state\":\"running\",\"templateID\":\"rki5dems9wqfm4r03t7g\",\"volumeMounts\":[]}"

static void check_every_field(const e2b_sandbox_info *info)
{
    assert_string_equal(info->id, "isandbox1");
    assert_string_equal(info->template_id, "rki5dems9wqfm4r03t7g");
    assert_string_equal(info->alias, "my-base");
    assert_string_equal(info->envd_version, "0.6.4");
    assert_int_equal(info->state, E2B_STATE_RUNNING);
    assert_int_equal(info->started_ms, INT64_C(1772600767123));
    assert_int_equal(info->end_ms, INT64_C(1772601067000));
    assert_int_equal(info->cpu_count, 2);
    assert_int_equal(info->memory_mb, 1024);
    assert_int_equal(info->disk_mb, 5120);
    assert_int_equal(info->internet_access, E2B_YES);
    assert_int_equal(info->on_timeout_pause, E2B_YES);
    assert_int_equal(info->auto_resume, E2B_YES);
}

static void test_every_field(void **state)
{
    api_peer *peer = *state;
    uint8_t memory[256];
    e2b_arena arena;
    e2b_sandbox_info info;
    e2b_arena_init(&arena, memory, sizeof memory);
    api_peer_check(peer, ask(peer, EVERY_FIELD, &info, &arena), E2B_OK);
    api_peer_check_line(peer, 0, "GET /sandboxes/isandbox1");
    check_every_field(&info);
    check_text(info.metadata, "{\"workspace_id\" : \"ws-42\"}");
    check_text(info.network, "{\"allowOut\":[\"example.com\"],\"denyOut\":[\"0.0.0.0/0\"]}");
    /* Info changes nothing about the sandbox. */
    assert_string_equal(peer->sandbox.access_token, "");
    api_peer_check(peer, ask(peer, EVERY_FIELD, &info, NULL), E2B_OK);
    check_every_field(&info);
    assert_int_equal(info.metadata.len, 0);
    assert_int_equal(info.network.len, 0);
}

/* Bytes arriving in any pieces give the same. */
static void test_every_piece_size(void **state)
{
    api_peer *peer = *state;
    uint8_t memory[256];
    for (size_t size = 1; size < 80; size++) {
        e2b_arena arena;
        e2b_sandbox_info info;
        e2b_arena_init(&arena, memory, sizeof memory);
        api_peer_restart(peer, NULL);
        peer->port.recv_max = size;
        api_peer_check(peer, ask(peer, EVERY_FIELD, &info, &arena), E2B_OK);
        check_every_field(&info);
        check_text(info.metadata, "{\"workspace_id\" : \"ws-42\"}");
    }
}

static void test_what_is_unset(void **state)
{
    api_peer *peer = *state;
    static const char *const bodies[] = {
        "{\"sandboxID\":\"isandbox1\"}",
        "{\"sandboxID\":\"isandbox1\",\"alias\":null,\"envdVersion\":null,\"state\":null,\"startedAt\":null,\"endAt\":null,"
        "\"cpuCount\":null,\"memoryMB\":null,\"diskSizeMB\":null,\"allowInternetAccess\":null,\"metadata\":null,\"network\":null,"
        "\"lifecycle\":null,\"envdAccessToken\":null,\"domain\":null,\"templateID\":null}",
        "{\"sandboxID\":\"isandbox1\",\"lifecycle\":{\"autoResume\":null,\"onTimeout\":null},\"metadata\":[1],\"network\":\"x\",\"state\":{}}",
        "{\"sandboxID\":\"isandbox1\",\"unknown\":{\"state\":\"paused\",\"cpuCount\":7,\"deep\":[{\"alias\":\"x\"}]},\"stateX\":\"paused\","
        "\"metadata\":{\"alias\":\"x\",\"cpuCount\":\"5\",\"onTimeout\":\"pause\"},\"volumeMounts\":[{\"name\":\"x\",\"state\":\"paused\"}],"
        "\"network\":{\"onTimeout\":\"pause\",\"autoResume\":true}}",
    };
    for (size_t i = 0; i < 4; i++) {
        e2b_sandbox_info info, expected;
        memset(&expected, 0, sizeof expected);
        strcpy(expected.id, "isandbox1");
        api_peer_check(peer, ask(peer, bodies[i], &info, NULL), E2B_OK);
        assert_memory_equal(&info, &expected, sizeof info);
    }
}

static void test_states_and_lifecycles(void **state)
{
    api_peer *peer = *state;
    static const struct {
        const char *rest;
        int32_t state, internet, pause, resume;
    } rows[] = {
        {"\"state\":\"running\"", E2B_STATE_RUNNING, 0, 0, 0},
        {"\"state\":\"paused\"", E2B_STATE_PAUSED, 0, 0, 0},
        {"\"state\":\"p\\u0061used\"", E2B_STATE_PAUSED, 0, 0, 0},
        {"\"state\":\"snapshotting\"", E2B_STATE_UNKNOWN, 0, 0, 0},
        {"\"state\":\"Running\"", E2B_STATE_UNKNOWN, 0, 0, 0},
        {"\"state\":\"\"", E2B_STATE_UNKNOWN, 0, 0, 0},
        {"\"state\":\"running\",\"state\":\"paused\"", E2B_STATE_PAUSED, 0, 0, 0},
        {"\"allowInternetAccess\":false", 0, E2B_NO, 0, 0},
        {"\"lifecycle\":{\"onTimeout\":\"kill\",\"autoResume\":false}", 0, 0, E2B_NO, E2B_NO},
        {"\"lifecycle\":{\"onTimeout\":\"hibernate\",\"more\":{\"autoResume\":true}}", 0, 0, E2B_NO, 0},
        {"\"lifecycle\":{\"onTimeout\":\"pause\",\"more\":\"kill\",\"deep\":{\"onTimeout\":\"kill\"}}", 0, 0, E2B_YES, 0},
        {"\"lifecycle\":{\"onTimeout\":\"pause\"},\"metadata\":{\"onTimeout\":\"kill\"}", 0, 0, E2B_YES, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char body[200];
        e2b_sandbox_info info;
        snprintf(body, sizeof body, "{\"sandboxID\":\"isandbox1\",%s}", rows[i].rest);
        api_peer_check(peer, ask(peer, body, &info, NULL), E2B_OK);
        if (info.state != rows[i].state || info.internet_access != rows[i].internet || info.on_timeout_pause != rows[i].pause ||
            info.auto_resume != rows[i].resume)
            fail_msg("%s: %d %d %d %d", rows[i].rest, (int)info.state, (int)info.internet_access, (int)info.on_timeout_pause, (int)info.auto_resume);
    }
}

static void test_numbers(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_info info;
    api_peer_check(peer, ask(peer, "{\"sandboxID\":\"isandbox1\",\"cpuCount\":2147483647,\"memoryMB\":-2147483648,\"diskSizeMB\":5.12e3}", &info, NULL), E2B_OK);
    assert_int_equal(info.cpu_count, INT32_MAX);
    assert_int_equal(info.memory_mb, INT32_MIN);
    assert_int_equal(info.disk_mb, 5120);
}

static void test_malformed(void **state)
{
    api_peer *peer = *state;
    static const char *const rests[] = {
        "\"startedAt\":\"yesterday\"", "\"startedAt\":\"\"", "\"endAt\":\"2026-13-01T00:00:00Z\"", "\"endAt\":5",
        "\"startedAt\":\"2026-03-04T05:06:07.123456789123456789123456789123456789Z\"",
        "\"cpuCount\":2147483648", "\"cpuCount\":2.5", "\"memoryMB\":true", "\"diskSizeMB\":1e99",
        "\"allowInternetAccess\":1", "\"allowInternetAccess\":\"true\\ud800\",\"cpuCount\":false",
        "\"lifecycle\":{\"autoResume\":1}", "\"alias\":7", "\"alias\":\"\\ud800\"", "\"alias\":\"\xff\"",
        "\"envdVersion\":\"0.6.13-a-rather-long-build\"", "\"sandboxID\":\"a b\"", "\"sandboxID\":\"\"", "\"state\":1",
        "\"state\":\"running\\u0000\"", "\"sandboxID\":\"i1\\u0000x\"", "\"alias\":\"\\u0000\"",
        "\"sandboxID\":\"i2345678901234567890123456789012345678901234567890123456789012345\"",
        "\"templateID\":\"i2345678901234567890123456789012345678901234567890123456789012345\"",
    };
    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
        char body[300];
        e2b_sandbox_info info;
        snprintf(body, sizeof body, "{\"sandboxID\":\"isandbox1\",%s}", rests[i]);
        e2b_err err = ask(peer, body, &info, NULL);
        if (err != E2B_PROTOCOL) fail_msg("%s: %s", rests[i], e2b_err_name(err));
        api_peer_check_words(&peer->client.error, E2B_PROTOCOL, "get sandbox info: ");
    }
}

static void test_answers_that_are_no_info(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int status;
        const char *body;
        e2b_err err;
    } rows[] = {
        {200, "", E2B_PROTOCOL}, {200, "[]", E2B_PROTOCOL}, {200, "null", E2B_PROTOCOL}, {200, "{}", E2B_PROTOCOL}, {200, "<html>", E2B_PROTOCOL},
        {200, "{\"sandboxID\":\"isandbox1\"", E2B_PROTOCOL}, {200, "{\"sandboxID\":\"isandbox1\"}}", E2B_PROTOCOL}, {204, "", E2B_PROTOCOL},
        {404, "{\"code\":404,\"message\":\"Sandbox doesn't exist\"}", E2B_NOT_FOUND}, {400, "{\"code\":400,\"message\":\"Invalid sandbox ID\"}", E2B_BAD_REQUEST},
        {502, "<html>", E2B_GATEWAY},
        {300, API_PEER_INFO, E2B_REDIRECT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        e2b_sandbox_info info;
        refer(peer);
        api_peer_answer(peer, rows[i].status, rows[i].body);
        e2b_err err = e2b_sandbox_get_info(&peer->sandbox, &info, NULL);
        if (err != rows[i].err) fail_msg("%d %s: %s", rows[i].status, rows[i].body, e2b_err_name(err));
    }
    memset(&peer->sandbox, 0, sizeof peer->sandbox);
    assert_int_equal(e2b_sandbox_get_info(&peer->sandbox, NULL, NULL), E2B_STATE);
}

static void test_asked_again_on_a_dead_kept_link(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_info info;
    api_peer_check(peer, ask(peer, API_PEER_INFO, &info, NULL), E2B_OK);
    api_peer_answer_reset(peer);
    api_peer_check(peer, ask(peer, API_PEER_INFO, &info, NULL), E2B_OK);
    assert_int_equal(peer->request_count, 3);
    assert_int_equal(peer->port.opened, 2);
}

/* ---- The arena ------------------------------------------------------------------------ */

/* The nth byte of the arena is the one that lacks: everything else is filled,
 * and the size asked for is the size that does. */
static void test_every_arena_size(void **state)
{
    api_peer *peer = *state;
    static const char metadata[] = "{\"workspace_id\" : \"ws-42\"}", network[] = "{\"allowOut\":[\"example.com\"],\"denyOut\":[\"0.0.0.0/0\"]}";
    size_t first = sizeof metadata - 1, both = first + sizeof network - 1;
    for (size_t used = 0; used < 2; used++)
        for (size_t size = 0; size <= both + 1; size++) {
            uint8_t *memory = malloc(used + size + 1);
            e2b_arena arena;
            e2b_sandbox_info info;
            e2b_arena_init(&arena, memory, used + size);
            arena.used = used;
            api_peer_restart(peer, NULL);
            e2b_err err = ask(peer, EVERY_FIELD, &info, &arena);
            api_peer_check(peer, err, size < both ? E2B_TOO_SMALL : E2B_OK);
            check_every_field(&info);
            if (size >= first) check_text(info.metadata, metadata);
            else assert_int_equal(info.metadata.len, 0);
            if (size >= both) check_text(info.network, network);
            if (err) assert_int_equal(peer->client.error.needed, used + both);
            if (err) api_peer_check_words(&peer->client.error, E2B_TOO_SMALL, "arena");
            assert_true(arena.used <= used + size);
            assert_int_equal(peer->client.conns[0].use, E2B_USE_KEPT);
            free(memory);
        }
}

/* 1 MiB of metadata through a slot of 1 KiB. */
static void test_long_metadata(void **state)
{
    api_peer *peer = *state;
    static const char piece[] = "0123456789abcdef\\\"\\\\\\u00e4\xc3\xa4.";
    static uint8_t memory[(1u << 20) + 4096];
    const uint32_t times = (1u << 20) / (sizeof piece - 1) + 1;
    size_t length = strlen("{\"long\":\"\",\"n\":\"v\"}") + times * (sizeof piece - 1);
    e2b_arena arena;
    e2b_sandbox_info info;
    e2b_str name, value;
    char head[200];
    size_t at = 0;
    refer(peer);
    e2b_memory_script *script = api_peer_begin(peer);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n{\"metadata\":{\"long\":\"",
             strlen("{\"metadata\":,\"sandboxID\":\"isandbox1\"}") + length);
    e2b_memory_text(script, head);
    e2b_memory_repeat(script, times);
    e2b_memory_text(script, piece);
    e2b_memory_repeat_end(script);
    e2b_memory_text(script, "\",\"n\":\"v\"},\"sandboxID\":\"isandbox1\"}");
    api_peer_end(peer);
    api_peer_always(peer);
    e2b_arena_init(&arena, memory, sizeof memory);
    api_peer_check(peer, e2b_sandbox_get_info(&peer->sandbox, &info, &arena), E2B_OK);
    assert_int_equal(info.metadata.len, length);
    assert_true(e2b_json_pairs(info.metadata, &at, &name, &value));
    assert_int_equal(value.len, times * strlen("0123456789abcdef\"\\\xc3\xa4\xc3\xa4."));
    assert_true(e2b_json_pairs(info.metadata, &at, &name, &value));
    assert_int_equal(value.len, 1);
    /* One byte less, and it says how much it was. */
    e2b_arena_init(&arena, memory, length - 1);
    assert_int_equal(e2b_sandbox_get_info(&peer->sandbox, &info, &arena), E2B_TOO_SMALL);
    assert_int_equal(peer->client.error.needed, length);
    assert_string_equal(info.id, "isandbox1");
}

/* ---- Attach ---------------------------------------------------------------------------------- */

static void test_attach(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 200, API_PEER_INFO);
    api_peer_check(peer, e2b_sandbox_attach(&peer->client, &peer->sandbox, "isandbox1"), E2B_OK);
    api_peer_check_line(peer, 0, "GET /sandboxes/isandbox1");
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
    assert_string_equal(peer->sandbox.access_token, "token-of-envd");
    assert_string_equal(peer->sandbox.domain, "e2b.app");
    assert_string_equal(peer->sandbox.envd_version, "0.6.13");
    assert_int_equal(peer->sandbox.version[2], 13);
    assert_true(peer->sandbox.secret);
    api_peer_answer(peer, 200, "{\"sandboxID\":\"isandbox1\",\"state\":\"running\",\"envdVersion\":\"0.5.0\",\"domain\":\"own.example\"}");
    api_peer_check(peer, e2b_sandbox_attach(&peer->client, &peer->sandbox, "isandbox1"), E2B_OK);
    assert_string_equal(peer->sandbox.access_token, "");
    assert_string_equal(peer->sandbox.domain, "own.example");
    assert_false(peer->sandbox.secret);
}

static void test_attach_that_fails(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int status;
        const char *body;
        e2b_err err;
    } rows[] = {
        {404, "{\"code\":404,\"message\":\"Sandbox doesn't exist\"}", E2B_NOT_FOUND},
        {200, "{\"sandboxID\":\"isandbox1\",\"state\":\"paused\",\"envdVersion\":\"0.6.13\"}", E2B_NOT_RUNNING},
        {200, "{\"sandboxID\":\"isandbox1\",\"state\":\"running\"}", E2B_PROTOCOL},
        {200, "{\"sandboxID\":\"isandbox1\",\"state\":\"running\",\"envdVersion\":\"x\"}", E2B_PROTOCOL},
        {200, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"domain\":\"a/b\"}", E2B_PROTOCOL},
        {200, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"domain\":\"a\\r\\nX: y\"}", E2B_PROTOCOL},
        {200, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"a\\r\\nX: y\"}", E2B_PROTOCOL},
        {200, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"a\\u0000b\"}", E2B_PROTOCOL},
        {200, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"domain\":\"a\\u0000b\"}", E2B_PROTOCOL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        e2b_process_list list;
        api_peer_restart(peer, NULL);
        api_peer_answer(peer, rows[i].status, rows[i].body);
        e2b_err err = e2b_sandbox_attach(&peer->client, &peer->sandbox, "isandbox1");
        if (err != rows[i].err) fail_msg("%s: %s", rows[i].body, e2b_err_name(err));
        assert_string_equal(peer->sandbox.id, "isandbox1");
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
        /* Nothing malformed goes out. */
        assert_null(strpbrk(peer->sandbox.access_token, "\r\n"));
        assert_null(strpbrk(peer->sandbox.domain, "\r\n/"));
        if (err == E2B_PROTOCOL) assert_int_equal(e2b_process_list_open(&peer->sandbox, &list, NULL), E2B_STATE);
        assert_int_equal(peer->request_count, 1);
    }
}

static void test_tokens_and_domains_of_many_lengths(void **state)
{
    api_peer *peer = *state;
    static const size_t lengths[] = {0, 1, 63, 64, 65, 128, 129, 253, 254, 255, 4096};
    static char value[4097], body[4300];
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int domain = 0; domain < 2; domain++) {
            size_t length = lengths[i];
            api_peer_restart(peer, NULL);
            memset(value, 'a', length);
            for (size_t dot = 10; domain && dot < length; dot += 10) value[dot] = '.';
            value[length] = '\0';
            snprintf(body, sizeof body, "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"%s\":\"%s\"}",
                     domain ? "domain" : "envdAccessToken", value);
            api_peer_answer(peer, 200, body);
            e2b_err err = e2b_sandbox_attach(&peer->client, &peer->sandbox, "isandbox1");
            if (domain) {
                api_peer_check(peer, err, length <= 253 ? E2B_OK : E2B_PROTOCOL);
                if (length <= 253) assert_string_equal(peer->sandbox.domain, length ? value : "e2b.app");
            } else {
                api_peer_check(peer, err, length <= 128 ? E2B_OK : E2B_TOO_SMALL);
                assert_string_equal(peer->sandbox.access_token, length <= 128 ? value : "");
                assert_int_equal(peer->sandbox.secret, length > 0);
                if (err) assert_int_equal(peer->client.error.needed, length + 1);
                if (err) api_peer_check_words(&peer->client.error, E2B_TOO_SMALL, "access token");
            }
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, api_peer_setup, api_peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_field),
        TEST(test_every_piece_size),
        TEST(test_what_is_unset),
        TEST(test_states_and_lifecycles),
        TEST(test_numbers),
        TEST(test_malformed),
        TEST(test_answers_that_are_no_info),
        TEST(test_asked_again_on_a_dead_kept_link),
        TEST(test_every_arena_size),
        TEST(test_long_metadata),
        TEST(test_attach),
        TEST(test_attach_that_fails),
        TEST(test_tokens_and_domains_of_many_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
