/* How a sandbox ends, and how a lost create is settled. */
#include "api_peer.h"

#include "cloud/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TAG "00112233445566778899aabbccddeeff"
#define MATCH(id) "{\"sandboxID\":\"" id "\",\"metadata\":{\"a\":\"b\",\"libe2b.create\":\"" TAG "\"},\"state\":\"running\"}"
#define STRANGER "{\"sandboxID\":\"istranger\",\"metadata\":{\"libe2b.create\":\"ffffffffffffffffffffffffffffffff\"}}"

/* A struct as a lost create leaves it, its last byte gone at this moment. */
static void lose(api_peer *peer)
{
    memset(&peer->sandbox, 0, sizeof peer->sandbox);
    peer->sandbox.client = &peer->client;
    peer->sandbox.state = E2B_SANDBOX_MAYBE;
    peer->sandbox.sent_ms = peer->port.now_ms;
    strcpy(peer->sandbox.create_tag, TAG);
}

static void live(api_peer *peer)
{
    api_peer_check(peer, e2b_sandbox_refer(&peer->client, &peer->sandbox, "isandbox1"), E2B_OK);
}

/* ---- Kill ------------------------------------------------------------------------ */

static void test_kill_answers(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int status;
        const char *body;
        e2b_err err;
    } rows[] = {
        {204, "", E2B_OK},
        {200, "{}", E2B_OK},
        {404, "{\"code\":404,\"message\":\"Sandbox \\\"isandbox1\\\" doesn't exist or you don't have access to it\"}", E2B_OK},
        /* Pages of something in between say nothing about the sandbox. */
        {404, "<html>not found</html>", E2B_NOT_FOUND},
        {404, "404 page not found", E2B_NOT_FOUND},
        {404, "", E2B_NOT_FOUND},
        {404, API_PEER_NO_ROUTE, E2B_NOT_FOUND},
        {404, "{\"code\":404,\"message\":\"validation error: method not allowed\"}", E2B_NOT_FOUND},
        {400, "{\"code\":400,\"message\":\"Invalid sandbox ID\"}", E2B_BAD_REQUEST},
        {401, "{\"code\":401,\"message\":\"no\"}", E2B_UNAUTHENTICATED},
        {429, "{\"code\":429,\"message\":\"Rate limit exceeded\"}", E2B_RATE_LIMITED},
        {500, "{\"code\":500,\"message\":\"Error killing sandbox: gone wrong\"}", E2B_SERVER},
        {502, "<html>", E2B_GATEWAY},
        {301, "", E2B_REDIRECT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        api_peer_restart(peer, NULL);
        live(peer);
        peer->client.error.code = E2B_TRUNCATED;
        api_peer_answer(peer, rows[i].status, rows[i].body);
        e2b_err err = e2b_sandbox_kill(&peer->sandbox);
        if (err != rows[i].err) fail_msg("%d %s: %s", rows[i].status, rows[i].body, e2b_err_name(err));
        api_peer_check_line(peer, 0, "DELETE /sandboxes/isandbox1");
        assert_int_equal(peer->sandbox.state, err ? E2B_SANDBOX_LIVE : E2B_SANDBOX_GONE);
        assert_int_equal(peer->client.cleanup_error.code, err);
        assert_int_equal(peer->client.error.code, E2B_TRUNCATED);
        assert_int_equal(peer->client.cleaning, 0);
    }
}

static void test_kill_of_nothing(void **state)
{
    api_peer *peer = *state;
    static const int32_t states[] = {E2B_SANDBOX_NONE, E2B_SANDBOX_GONE};
    assert_int_equal(e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    for (size_t i = 0; i < 2; i++) {
        live(peer);
        peer->sandbox.state = states[i];
        assert_int_equal(e2b_sandbox_kill(&peer->sandbox), E2B_OK);
        assert_int_equal(e2b_sandbox_settle(&peer->sandbox, E2B_NO_LIMIT), E2B_OK);
        assert_int_equal(peer->sandbox.state, states[i]);
    }
    live(peer);
    assert_int_equal(e2b_sandbox_settle(&peer->sandbox, E2B_NO_LIMIT), E2B_OK);
    assert_int_equal(peer->port.calls, 0);
}

static void test_kill_is_sent_again_on_a_dead_kept_link(void **state)
{
    api_peer *peer = *state;
    live(peer);
    api_peer_answer(peer, 204, "");
    api_peer_answer_reset(peer);
    api_peer_answer(peer, 404, "{\"code\":404,\"message\":\"Sandbox doesn't exist\"}");
    api_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 5), E2B_OK);
    api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    api_peer_check_line(peer, 1, "DELETE /sandboxes/isandbox1");
    api_peer_check_line(peer, 2, "DELETE /sandboxes/isandbox1");
    assert_int_equal(peer->port.opened, 2);
    /* Once: a fresh link that dies is an error. */
    live(peer);
    api_peer_answer_reset(peer);
    api_peer_answer_reset(peer);
    assert_int_equal(e2b_sandbox_kill(&peer->sandbox), E2B_NO_REPLY);
    assert_int_equal(peer->request_count, 5);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
}

static void test_kill_does_not_look_at_the_flag(void **state)
{
    api_peer *peer = *state;
    volatile int cancel = 1;
    api_peer_restart(peer, &(e2b_client_options){.cancel = &cancel});
    live(peer);
    api_peer_answer_after(peer, 500, 204, "");
    api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    assert_int_equal(peer->port.now_ms, 500);
}

/* What went wrong before is not hidden, whatever the port says in the kill. */
static void test_an_earlier_failure_stays(void **state)
{
    api_peer *peer = *state;
    e2b_error before;
    uint8_t steps[4];
    e2b_memory_script script;
    e2b_memory_script_init(&script, steps, sizeof steps);
    e2b_memory_refuse(&script);
    live(peer);
    memset(&peer->client.error, 0, sizeof peer->client.error);
    peer->client.error.code = E2B_RATE_LIMITED;
    peer->client.error.port_error = 77;
    before = peer->client.error;
    peer->port.script = script.memory;
    peer->port.script_length = (uint32_t)script.length;
    assert_int_equal(e2b_sandbox_kill(&peer->sandbox), E2B_CONNECT);
    assert_int_not_equal(peer->client.cleanup_error.port_error, 0);
    assert_memory_equal(&before, &peer->client.error, sizeof before);
    peer->port.fail_call = peer->port.calls + 1; /* of open itself */
    peer->port.fail_outcome = E2B_IO_RESOLVE;
    assert_int_equal(e2b_sandbox_kill(&peer->sandbox), E2B_RESOLVE);
    assert_memory_equal(&before, &peer->client.error, sizeof before);
}

/* ---- Settle ------------------------------------------------------------------------ */

static void test_the_look(void **state)
{
    api_peer *peer = *state;
    lose(peer);
    api_peer_answer(peer, 200, "[" MATCH("ifound") "]");
    api_peer_answer(peer, 200, "{\"sandboxID\":\"ifound\",\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"tok\",\"state\":\"running\"}");
    api_peer_check(peer, e2b_sandbox_settle(&peer->sandbox, 0), E2B_OK);
    api_peer_check_line(peer, 0, "GET /v2/sandboxes?metadata=libe2b.create%3D" TAG);
    api_peer_check_line(peer, 1, "GET /sandboxes/ifound");
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
    assert_string_equal(peer->sandbox.id, "ifound");
    assert_string_equal(peer->sandbox.access_token, "tok");
    assert_string_equal(peer->sandbox.envd_version, "0.6.13");
    assert_string_equal(peer->sandbox.domain, "e2b.app");
    assert_int_equal(peer->port.now_ms, 0);
}

/* What a create's malformed answer left behind is not taken for the sandbox's. */
static void test_the_look_forgets(void **state)
{
    api_peer *peer = *state;
    lose(peer);
    strcpy(peer->sandbox.access_token, "stale");
    strcpy(peer->sandbox.domain, "stale.example");
    peer->sandbox.secret = true;
    api_peer_answer(peer, 200, "[" MATCH("ifound") "]");
    api_peer_answer(peer, 200, "{\"sandboxID\":\"ifound\",\"envdVersion\":\"0.6.13\",\"state\":\"running\"}");
    api_peer_check(peer, e2b_sandbox_settle(&peer->sandbox, 0), E2B_OK);
    assert_string_equal(peer->sandbox.access_token, "");
    assert_string_equal(peer->sandbox.domain, "e2b.app");
    assert_false(peer->sandbox.secret);
}

/* At once, then after 1, 2, 4, 8, 8 ... s; certain 80 s after the last byte. */
static void test_the_times_of_the_looks(void **state)
{
    api_peer *peer = *state;
    static const uint64_t times[] = {0, 1000, 3000, 7000, 15000, 23000, 31000, 39000, 47000, 55000, 63000, 71000, 79000, 80000};
    peer->port.now_ms = 12345;
    lose(peer);
    api_peer_answer(peer, 200, "[]");
    api_peer_always(peer);
    api_peer_check(peer, e2b_sandbox_settle(&peer->sandbox, E2B_NO_LIMIT), E2B_OK);
    assert_int_equal(peer->request_count, sizeof times / sizeof times[0]);
    for (size_t i = 0; i < peer->request_count; i++) assert_int_equal(peer->arrived_ms[i] - 12345, times[i]);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_GONE);
}

static void test_the_times_are_limits(void **state)
{
    api_peer *peer = *state;
    lose(peer);
    peer->client.limits.settle_ms = 100;
    peer->client.limits.poll_ms = 10;
    api_peer_answer(peer, 200, "[]");
    api_peer_always(peer);
    api_peer_check(peer, e2b_sandbox_settle(&peer->sandbox, E2B_NO_LIMIT), E2B_OK);
    assert_int_equal(peer->port.now_ms, 100);
    assert_int_equal(peer->request_count, 5); /* at 0, 10, 30, 70 and 100 */
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_GONE);
}

static void test_settle_for_a_while(void **state)
{
    api_peer *peer = *state;
    static const struct {
        uint32_t wait_ms;
        size_t looks;
        uint64_t ends;
    } rows[] = {{0, 1, 0}, {1, 2, 1}, {1000, 2, 1000}, {1001, 3, 1001}, {79999, 14, 79999}, {80000, 14, 80000}, {200000, 14, 80000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        api_peer_restart(peer, NULL);
        lose(peer);
        api_peer_answer(peer, 200, "[]");
        api_peer_always(peer);
        api_peer_check(peer, e2b_sandbox_settle(&peer->sandbox, rows[i].wait_ms), E2B_OK);
        assert_int_equal(peer->request_count, rows[i].looks);
        assert_int_equal(peer->port.now_ms, rows[i].ends);
        assert_int_equal(peer->sandbox.state, rows[i].wait_ms < 80000 ? E2B_SANDBOX_MAYBE : E2B_SANDBOX_GONE);
    }
}

/* Found at last, however late. */
static void test_found_at_any_look(void **state)
{
    api_peer *peer = *state;
    for (size_t empty = 0; empty < 14; empty++) {
        api_peer_restart(peer, NULL);
        lose(peer);
        for (size_t i = 0; i < empty; i++) api_peer_answer(peer, 200, "[]");
        api_peer_answer(peer, 200, "[" MATCH("ilate") "]");
        api_peer_answer(peer, 204, "");
        api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_GONE);
        api_peer_check_line(peer, empty + 1, "DELETE /sandboxes/ilate");
    }
}

/* Nobody else's sandbox is taken, and what is no list proves nothing. */
static void test_lists(void **state)
{
    api_peer *peer = *state;
    static const struct {
        const char *list, *id; /* NULL: proves that there is none */
        e2b_err err;
    } rows[] = {
        {"[]", NULL, E2B_OK},
        {"[" STRANGER "]", NULL, E2B_OK},
        {"[" STRANGER "," MATCH("imine") "," STRANGER "]", "imine", E2B_OK},
        {"[{\"metadata\":{\"libe2b.create\":\"" TAG "\"},\"sandboxID\":\"ibefore\"}]", "ibefore", E2B_OK},
        {"[{\"sandboxID\":\"i1\"}]", NULL, E2B_OK},
        {"[{\"sandboxID\":\"i1\",\"metadata\":null}]", NULL, E2B_OK},
        {"[{\"sandboxID\":\"i1\",\"metadata\":{\"libe2b.create\":\"" TAG "0\"}}]", NULL, E2B_OK},
        {"[{\"sandboxID\":\"i1\",\"metadata\":{\"libe2b.create\":\"00112233\"}}]", NULL, E2B_OK},
        {"[{\"sandboxID\":\"i1\",\"metadata\":{\"libe2b.creator\":\"" TAG "\"}}]", NULL, E2B_OK},
        {"[{\"sandboxID\":\"i1\",\"libe2b.create\":\"" TAG "\"}]", NULL, E2B_OK},
        {"[{\"sandboxID\":\"i1\",\"labels\":{\"libe2b.create\":\"" TAG "\"}}]", NULL, E2B_OK},
        {"[{\"sandboxID\":\"i1\",\"metadata\":{\"x\":{\"libe2b.create\":\"" TAG "\"}}}]", NULL, E2B_OK},
        {"[{\"sandboxID\":\"i1\",\"metadata\":[\"libe2b.create\",\"" TAG "\"]}]", NULL, E2B_OK},
        {"[[" MATCH("i1") "]]", "", E2B_PROTOCOL},
        {"[null]", "", E2B_PROTOCOL},
        {"[" STRANGER ",7]", "", E2B_PROTOCOL},
        {"[{\"sandboxID\":\"istranger\"},{\"metadata\":{\"libe2b.create\":\"" TAG "\"}}]", "", E2B_PROTOCOL},
        {"[{\"metadata\":{\"libe2b.create\":\"" TAG "\"},\"more\":[\"x\",\"" TAG "\"],\"sandboxID\":\"imore\"}]", "imore", E2B_OK},
        {"[{\"metadata\":{\"libe2b.create\":\"" TAG "\"},\"more\":{\"sandboxID\":\"iinner\"},\"sandboxID\":\"iouter\"}]", "iouter", E2B_OK},
        {"[{\"metadata\":{\"libe2b.create\":\"x\",\"libe2b.create\":\"" TAG "\"},\"sandboxID\":\"ifirst\",\"sandboxID\":\"isecond\"}]", "isecond", E2B_OK},
        {"[{\"metadata\":{\"libe2b\\u002ecreate\":\"\\u0030" "0112233445566778899aabbccddeeff" "\"},\"sandboxID\":\"iescaped\"}]", "iescaped", E2B_OK},
        {"[" MATCH("bad/id") "]", "", E2B_PROTOCOL},
        {"[" MATCH("bad/id") "," STRANGER "]", "", E2B_PROTOCOL},
        {"[" MATCH("bad/id") "," MATCH("igood") "]", "igood", E2B_OK},
        {"[{\"metadata\":{\"libe2b.create\":\"" TAG "\"},\"sandboxID\":\"imine\"}," STRANGER "]", "imine", E2B_OK},
        {"[{\"sandboxID\":\"ifirst\",\"metadata\":{\"libe2b.create\":\"" TAG "\"},\"sandboxID\":\"ilast\"}]", "ilast", E2B_OK},
        {"[" MATCH("") "]", "", E2B_PROTOCOL},
        {"[" MATCH("i23456789012345678901234567890123456789012345678901234567890123456") "]", "", E2B_PROTOCOL},
        {"[" MATCH("i234567890123456789012345678901234567890123456789012345678901234") "]",
         "i234567890123456789012345678901234567890123456789012345678901234", E2B_OK},
        {"{}", "", E2B_PROTOCOL},
        {"null", "", E2B_PROTOCOL},
        {"\"\"", "", E2B_PROTOCOL},
        {"", "", E2B_PROTOCOL},
        {"[", "", E2B_PROTOCOL},
        {"<html>", "", E2B_PROTOCOL},
        {"[" MATCH("i1") "", "i1", E2B_OK}, /* found is found */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        api_peer_restart(peer, NULL);
        lose(peer);
        /* As an answer without a usable id leaves it. */
        memset(peer->sandbox.id + 1, 'x', 20);
        peer->port.now_ms = 80000;
        api_peer_answer(peer, 200, rows[i].list);
        if (rows[i].id && rows[i].id[0]) api_peer_answer(peer, 204, "");
        e2b_err err = e2b_sandbox_kill(&peer->sandbox);
        if (err != rows[i].err) fail_msg("%s: %s %s", rows[i].list, e2b_err_name(err), peer->client.cleanup_error.text);
        assert_int_equal(peer->sandbox.state, err ? E2B_SANDBOX_MAYBE : E2B_SANDBOX_GONE);
        assert_int_equal(peer->request_count, rows[i].id && rows[i].id[0] ? 2 : 1);
        if (peer->request_count == 1) continue;
        char line[100];
        snprintf(line, sizeof line, "DELETE /sandboxes/%s", rows[i].id);
        api_peer_check_line(peer, 1, line);
    }
}

/* A server that ignores the filter and tells in pages: the first proves nothing. */
static void test_more_pages_than_one(void **state)
{
    api_peer *peer = *state;
    peer->port.now_ms = 100000;
    lose(peer);
    peer->port.now_ms += 80000;
    api_peer_answer_with(peer, 200, "X-Next-Token: more\r\n", "[" STRANGER "]");
    assert_int_equal(e2b_sandbox_settle(&peer->sandbox, 0), E2B_PROTOCOL);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_MAYBE);
    api_peer_answer_with(peer, 200, "X-Next-Token: more\r\n", "[" MATCH("imine") "]");
    api_peer_answer(peer, 200, API_PEER_INFO);
    api_peer_check(peer, e2b_sandbox_settle(&peer->sandbox, 0), E2B_OK);
    assert_string_equal(peer->sandbox.id, "imine");
}

/* The look that was under way at the limit proves nothing either. */
static void test_slow_looks(void **state)
{
    api_peer *peer = *state;
    lose(peer);
    api_peer_answer_after(peer, 7000, 200, "[]");
    api_peer_always(peer);
    api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_GONE);
    assert_true(peer->arrived_ms[peer->request_count - 1] >= 80000);
    assert_int_equal(peer->port.now_ms, peer->arrived_ms[peer->request_count - 1] + 7000);
}

static void test_failing_looks(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int status;
        const char *body;
        e2b_err err;
        bool again;
    } rows[] = {
        {500, "{\"code\":500,\"message\":\"sorry\"}", E2B_SERVER, true},
        {502, "", E2B_GATEWAY, true},
        {429, "{\"code\":429,\"message\":\"slow down\"}", E2B_RATE_LIMITED, true},
        {401, "{\"code\":401,\"message\":\"no\"}", E2B_UNAUTHENTICATED, false},
        {400, "{\"code\":400,\"message\":\"no\"}", E2B_BAD_REQUEST, false},
        {404, API_PEER_NO_ROUTE, E2B_NOT_FOUND, false},
        {300, "[]", E2B_REDIRECT, false},
        {301, "", E2B_REDIRECT, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        api_peer_restart(peer, NULL);
        lose(peer);
        api_peer_answer(peer, rows[i].status, rows[i].body);
        api_peer_always(peer);
        assert_int_equal(e2b_sandbox_kill(&peer->sandbox), rows[i].err);
        assert_int_equal(peer->client.cleanup_error.code, rows[i].err);
        assert_int_equal(peer->client.error.code, 0);
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_MAYBE);
        assert_int_equal(peer->request_count, rows[i].again ? 14 : 1);
        assert_int_equal(peer->port.now_ms, rows[i].again ? 80000 : 0);
        /* A later kill goes on from there. */
        peer->answer_count = peer->answer_next = 0;
        api_peer_answer(peer, 200, "[]");
        api_peer_always(peer);
        api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_GONE);
        assert_int_equal(peer->port.now_ms, 80000);
    }
}

/* Failures in between do not count against what the last look proves. */
static void test_a_look_that_fails_is_made_up_for(void **state)
{
    api_peer *peer = *state;
    lose(peer);
    api_peer_answer_reset(peer);
    api_peer_answer(peer, 503, "");
    api_peer_answer_nothing(peer); /* 60 s */
    api_peer_answer(peer, 200, "[" MATCH("ilate") "]");
    api_peer_answer(peer, 204, "");
    api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    assert_int_equal(peer->arrived_ms[2], 3000);
    assert_int_equal(peer->arrived_ms[3], 67000);
}

/* The only connection is held by a list: the look takes it, and the kill after it. */
static void test_kill_takes_the_only_slot(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    api_peer_answer(peer, 200, "[{\"sandboxID\":\"i1\"},{\"sandboxID\":\"i2\"}]");
    api_peer_answer(peer, 200, "[" MATCH("imine") "]");
    api_peer_answer(peer, 204, "");
    api_peer_check(peer, e2b_sandbox_list_open(&peer->client, &list, NULL), E2B_OK);
    api_peer_check(peer, e2b_sandbox_list_next(&list, &info), E2B_OK);
    lose(peer);
    /* Settling is not worth that. */
    assert_int_equal(e2b_sandbox_settle(&peer->sandbox, 0), E2B_BUSY);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_MAYBE);
    api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    api_peer_check_line(peer, 2, "DELETE /sandboxes/imine");
    assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_CLOSED);
}

static void test_a_look_is_sent_again_on_a_dead_kept_link(void **state)
{
    api_peer *peer = *state;
    lose(peer);
    api_peer_answer(peer, 200, "[]");
    api_peer_answer_reset(peer);
    api_peer_answer(peer, 200, "[" MATCH("imine") "]");
    api_peer_answer(peer, 204, "");
    api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    assert_int_equal(peer->arrived_ms[1], 1000);
    assert_int_equal(peer->arrived_ms[2], 1000);
}

static void test_untagged(void **state)
{
    api_peer *peer = *state;
    lose(peer);
    peer->sandbox.create_tag[0] = '\0';
    assert_int_equal(e2b_sandbox_settle(&peer->sandbox, E2B_NO_LIMIT), E2B_STATE);
    api_peer_check_words(&peer->client.cleanup_error, E2B_STATE, "without a tag");
    assert_int_equal(e2b_sandbox_kill(&peer->sandbox), E2B_STATE);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_MAYBE);
    assert_int_equal(peer->port.calls, 0);
}

/* Found, but paused or unreadable: the state says so, and kill works. */
static void test_found_but_not_reached(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int status;
        const char *info;
        e2b_err err;
    } rows[] = {
        {200, "{\"sandboxID\":\"ifound\",\"envdVersion\":\"0.6.13\",\"state\":\"paused\"}", E2B_NOT_RUNNING},
        {500, "{\"code\":500,\"message\":\"sorry\"}", E2B_SERVER},
        {200, "{\"sandboxID\":\"ifound\",\"envdVersion\":\"0.6.13\",\"state\":\"running\",\"envdAccessToken\":\"0123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678\"}", E2B_TOO_SMALL},
        {200, "{}", E2B_PROTOCOL},
    };
    for (size_t i = 0; i < 4; i++) {
        api_peer_restart(peer, NULL);
        lose(peer);
        api_peer_answer(peer, 200, "[" MATCH("ifound") "]");
        api_peer_answer(peer, rows[i].status, rows[i].info);
        api_peer_answer(peer, 204, "");
        assert_int_equal(e2b_sandbox_settle(&peer->sandbox, 0), rows[i].err);
        assert_int_equal(peer->client.cleanup_error.code, rows[i].err);
        assert_int_equal(peer->client.error.code, 0);
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
        assert_string_equal(peer->sandbox.access_token, "");
        api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
        api_peer_check_line(peer, 2, "DELETE /sandboxes/ifound");
    }
}

/* ---- Create, settle and kill, with a fault at every call of the port ---------------- */

/* A service of one sandbox: what exists is known. */
typedef struct service {
    api_peer *peer;
    char tag[33];
    bool exists, answers_create;
} service;

static int serve(void *context, const e2b_memory_request_seen *request, e2b_memory_script *reply)
{
    service *s = context;
    char text[700], body[400] = "";
    const char *status = "200 OK";
    if (memcmp(request->head.ptr, "POST", 4) == 0) {
        const char *at = strstr(request->body.ptr, "libe2b.create");
        assert_non_null(at);
        memcpy(s->tag, at + strlen("libe2b.create\":\""), 32);
        s->exists = true;
        if (!s->answers_create) return 1;
        status = "201 Created";
        strcpy(body, API_PEER_SANDBOX);
    } else if (memcmp(request->head.ptr, "DELETE", 6) == 0) {
        status = s->exists ? "204 No Content" : "404 Not Found";
        if (!s->exists) strcpy(body, "{\"code\":404,\"message\":\"Sandbox doesn't exist\"}");
        s->exists = false;
    } else if (memcmp(request->head.ptr, "GET /v2", 7) == 0) {
        snprintf(body, sizeof body, s->exists ? "[{\"sandboxID\":\"isandbox1\",\"metadata\":{\"libe2b.create\":\"%s\"}}]" : "[]", s->tag);
    } else {
        strcpy(body, API_PEER_INFO);
    }
    int length = snprintf(text, sizeof text, "HTTP/1.1 %s\r\n", status);
    if (status[0] != '2' || status[2] != '4') length += snprintf(text + length, sizeof text - (size_t)length, "Content-Length: %zu\r\n", strlen(body));
    length += snprintf(text + length, sizeof text - (size_t)length, "\r\n%s", body);
    e2b_memory_data(reply, text, (size_t)length);
    return 0;
}

/* True while the fault came before the end. */
static bool run_with_fault(api_peer *peer, uint64_t nth, int32_t outcome, bool answers_create)
{
    service s = {peer, "", false, answers_create};
    api_peer_restart(peer, NULL);
    peer->port.respond = serve;
    peer->port.respond_context = &s;
    peer->port.recv_max = 20;
    peer->port.fail_call = nth;
    peer->port.fail_outcome = outcome;
    e2b_err err = e2b_sandbox_create(&peer->client, &peer->sandbox, NULL);
    /* No sandbox is lost: what exists is LIVE or MAYBE. */
    if (s.exists) assert_true(peer->sandbox.state == E2B_SANDBOX_LIVE || peer->sandbox.state == E2B_SANDBOX_MAYBE);
    if (err) assert_int_equal(peer->client.error.code, err);
    bool maybe = peer->sandbox.state == E2B_SANDBOX_MAYBE;
    if (maybe) {
        err = e2b_sandbox_settle(&peer->sandbox, 3000);
        assert_int_equal(err, err ? peer->client.cleanup_error.code : 0);
        if (s.exists) assert_int_not_equal(peer->sandbox.state, E2B_SANDBOX_GONE);
    }
    for (int tries = 0; peer->sandbox.state == E2B_SANDBOX_LIVE || peer->sandbox.state == E2B_SANDBOX_MAYBE; tries++) {
        assert_true(tries < 3);
        err = e2b_sandbox_kill(&peer->sandbox);
        assert_int_equal(err == E2B_OK, peer->sandbox.state == E2B_SANDBOX_GONE);
    }
    assert_false(s.exists);
    assert_true(peer->port.now_ms <= 90000);
    assert_int_equal(peer->client.cleaning, 0);
    return peer->port.calls >= nth;
}

static void test_every_port_call_fails(void **state)
{
    api_peer *peer = *state;
    static const int32_t outcomes[] = {E2B_IO_FAILED, E2B_IO_RESET, E2B_IO_END, E2B_IO_END_UNCLEAN, E2B_IO_CONNECT, E2B_IO_TLS};
    for (int answers = 0; answers < 2; answers++)
        for (size_t o = 0; o < sizeof outcomes / sizeof outcomes[0]; o++) {
            uint64_t nth = 1;
            while (run_with_fault(peer, nth, outcomes[o], answers)) nth++;
            if (nth < 15 || nth > 200) fail_msg("%d calls of the port", (int)nth);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, api_peer_setup, api_peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kill_answers),
        TEST(test_kill_of_nothing),
        TEST(test_kill_is_sent_again_on_a_dead_kept_link),
        TEST(test_kill_does_not_look_at_the_flag),
        TEST(test_an_earlier_failure_stays),
        TEST(test_the_look),
        TEST(test_the_look_forgets),
        TEST(test_the_times_of_the_looks),
        TEST(test_the_times_are_limits),
        TEST(test_settle_for_a_while),
        TEST(test_found_at_any_look),
        TEST(test_lists),
        TEST(test_more_pages_than_one),
        TEST(test_slow_looks),
        TEST(test_failing_looks),
        TEST(test_a_look_that_fails_is_made_up_for),
        TEST(test_kill_takes_the_only_slot),
        TEST(test_a_look_is_sent_again_on_a_dead_kept_link),
        TEST(test_untagged),
        TEST(test_found_but_not_reached),
        TEST(test_every_port_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
