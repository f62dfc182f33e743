/* TERM and KILL, the two signals that the protocol has. */
#include "envd_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_requests(void **state)
{
    static const struct { uint32_t pid; const char *tag; int32_t signal, codec; const char *body; size_t length; } cases[] = {
        {7, NULL, E2B_SIGNAL_KILL, E2B_CODEC_JSON, "{\"process\":{\"pid\":7},\"signal\":\"SIGNAL_SIGKILL\"}", 47},
        {UINT32_MAX, "ignored", E2B_SIGNAL_TERM, E2B_CODEC_JSON, "{\"process\":{\"pid\":4294967295},\"signal\":\"SIGNAL_SIGTERM\"}", 56},
        {0, "a\"b", E2B_SIGNAL_TERM, E2B_CODEC_JSON, "{\"process\":{\"tag\":\"a\\\"b\"},\"signal\":\"SIGNAL_SIGTERM\"}", 52},
        {7, NULL, E2B_SIGNAL_KILL, E2B_CODEC_PROTO, "\x0a\x02\x08\x07\x10\x09", 6},
        {0, "t", E2B_SIGNAL_TERM, E2B_CODEC_PROTO, "\x0a\x03\x12\x01t\x10\x0f", 7},
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        envd_peer_restart(peer, &(envd_peer_options){.codec = cases[i].codec});
        envd_peer_reply(peer, "/process.Process/SendSignal", 200, cases[i].codec ? "" : "{}");
        envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, cases[i].pid, cases[i].tag, cases[i].signal), E2B_OK);
        assert_int_equal(strlen(cases[i].body), cases[i].length);
        assert_int_equal(peer->body_length[0], cases[i].length);
        assert_memory_equal(envd_peer_body(peer, 0), cases[i].body, cases[i].length);
        envd_peer_slots_free(peer);
    }
}

static void test_what_is_refused(void **state)
{
    envd_peer *peer = *state;
    static const int32_t others[] = {0, 1, 2, -9, 10, 14, 16, INT32_MAX};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, 7, NULL, others[i]), E2B_INVALID);
        envd_peer_words(peer, E2B_INVALID, "E2B_SIGNAL_TERM");
    }
    envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, 0, NULL, E2B_SIGNAL_TERM), E2B_INVALID);
    envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, 0, "", E2B_SIGNAL_TERM), E2B_INVALID);
    envd_peer_words(peer, E2B_INVALID, "pid");
    envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, 0, "\xff", E2B_SIGNAL_TERM), E2B_INVALID);
    e2b_process zeroed = {0};
    assert_int_equal(e2b_process_signal(&zeroed, E2B_SIGNAL_TERM), E2B_CLOSED);
    assert_int_equal(peer->port.calls, 0);
}

static void test_answers(void **state)
{
    static const struct { int status; const char *body; e2b_err err; } cases[] = {
        {404, "{\"code\":\"not_found\",\"message\":\"process with pid 7 not found\"}", E2B_NOT_FOUND},
        {500, "{\"code\":\"internal\",\"message\":\"error sending signal: os: process already finished\"}", E2B_SERVER},
        {502, "{\"sandboxId\":\"isandbox1\",\"message\":\"The sandbox was not found\",\"code\":502}", E2B_NOT_RUNNING},
        {502, "<html>", E2B_GATEWAY},
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        envd_peer_reply(peer, "/SendSignal", cases[i].status, cases[i].body);
        envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, 7, NULL, E2B_SIGNAL_TERM), cases[i].err);
        envd_peer_slots_free(peer);
    }
    /* It is not repeated: a second TERM is not the same as one. */
    envd_peer_reply(peer, "/SendSignal", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, 7, NULL, E2B_SIGNAL_TERM), E2B_OK);
    size_t before = peer->request_count;
    e2b_memory_reset(envd_peer_answer(peer, "/SendSignal"));
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, 7, NULL, E2B_SIGNAL_TERM), E2B_NO_REPLY);
    assert_int_equal(peer->request_count, before + 1);
}

/* A handle's pid outlives its stream. */
static void test_of_a_handle(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    e2b_process_close(&process);
    envd_peer_reply(peer, "/SendSignal", 200, "{}");
    envd_peer_check(peer, e2b_process_signal(&process, E2B_SIGNAL_TERM), E2B_OK);
    assert_string_equal(envd_peer_body(peer, 1), "{\"process\":{\"pid\":7},\"signal\":\"SIGNAL_SIGTERM\"}");
}

/* It takes the slot of an input piece and of nothing else. */
static void test_slots(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    e2b_process_list list;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 1});
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    envd_peer_check(peer, e2b_process_signal(&process, E2B_SIGNAL_KILL), E2B_BUSY);
    envd_peer_nothing(peer, &process, 10); /* the stream is untouched */
    e2b_process_close(&process);
    envd_peer_reply(peer, "/List", 200, "{\"processes\":[{\"pid\":1}]}");
    envd_peer_check(peer, e2b_process_list_open(&peer->sandbox, &list, NULL), E2B_OK);
    envd_peer_check(peer, e2b_sandbox_signal(&peer->sandbox, 1, NULL, E2B_SIGNAL_KILL), E2B_BUSY);
    e2b_process_list_close(&list);

    envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_silence(peer, "/SendInput");
    envd_peer_check(peer, e2b_process_send(&process, "x", 1), E2B_OK);
    envd_peer_nothing(peer, &process, 10);
    envd_peer_reply(peer, "/SendSignal", 200, "{}");
    envd_peer_check(peer, e2b_process_signal(&process, E2B_SIGNAL_KILL), E2B_OK);
    e2b_event event = envd_peer_next(peer, &process, E2B_EVENT_INPUT_END);
    assert_int_equal(event.code, E2B_NO_REPLY);
    e2b_process_close(&process);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_requests), TEST(test_what_is_refused), TEST(test_answers), TEST(test_of_a_handle), TEST(test_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
