/* A command from start to end, its output into the caller's buffers. */
#include "envd_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* 10 bytes of output, 4 of errors, exit status `code`. */
static void command(envd_peer *peer, int32_t code)
{
    envd_write_head(envd_peer_answer(peer, "/Start"));
    envd_write_started(peer, 7);
    envd_write_text(peer, E2B_EVENT_OUT, "01234");
    envd_write_text(peer, E2B_EVENT_ERR, "ab");
    envd_write_text(peer, E2B_EVENT_OUT, "56789");
    envd_write_text(peer, E2B_EVENT_ERR, "cd");
    envd_write_finish(peer, code);
    envd_peer_done(peer);
}

static void test_output_and_exit(void **state)
{
    envd_peer *peer = *state;
    for (int32_t codec = E2B_CODEC_JSON; codec <= E2B_CODEC_PROTO; codec++) {
        char out[64], err[64];
        e2b_run_result result = {.out = {.ptr = out, .size = sizeof out}, .err = {.ptr = err, .size = sizeof err}};
        envd_peer_restart(peer, &(envd_peer_options){.codec = codec});
        for (int32_t code = 0; code < 256; code += 51) { /* a result, used again each time */
            command(peer, code);
            envd_peer_check(peer, e2b_run(&peer->sandbox, "x", NULL, &result), E2B_OK);
            assert_int_equal(result.exit_code, code);
            assert_true(result.exited);
            assert_int_equal(result.out.len, 10);
            assert_int_equal(result.out.total, 10);
            assert_memory_equal(out, "0123456789", 10);
            assert_int_equal(result.err.len, 4);
            assert_memory_equal(err, "abcd", 4);
            assert_int_equal(peer->client.error.code, E2B_OK);
            envd_peer_slots_free(peer);
        }
        assert_int_equal(peer->port.opened, 1); /* one link for all of them */
    }
}

static void test_every_size_of_buffer(void **state)
{
    envd_peer *peer = *state;
    for (size_t size = 0; size <= 11; size++) {
        char out[16], err[16];
        memset(out, '#', sizeof out);
        e2b_run_result result = {.out = {.ptr = out, .size = size}, .err = {.ptr = err, .size = sizeof err}};
        command(peer, 3);
        e2b_err expected = size && size < 10 ? E2B_TOO_SMALL : E2B_OK; /* size 0: nobody wants it */
        envd_peer_check(peer, e2b_run(&peer->sandbox, "x", NULL, &result), expected);
        assert_int_equal(result.exit_code, 3);
        assert_true(result.exited);
        assert_int_equal(result.out.total, 10);
        assert_int_equal(result.out.len, size < 10 ? size : 10);
        assert_memory_equal(out, "0123456789", result.out.len);
        for (size_t i = size; i < sizeof out; i++) assert_int_equal(out[i], '#');
        assert_int_equal(result.err.len, 4);
        if (expected) assert_int_equal(peer->client.error.needed, 10);
        if (expected) envd_peer_words(peer, E2B_TOO_SMALL, "longer than its buffer");
    }
    /* The errors' buffer, and none at all. */
    char small[3];
    e2b_run_result result = {.err = {.ptr = small, .size = sizeof small}};
    command(peer, 0);
    envd_peer_check(peer, e2b_run(&peer->sandbox, "x", NULL, &result), E2B_TOO_SMALL);
    assert_memory_equal(small, "abc", 3);
    assert_int_equal(result.err.total, 4);
    assert_int_equal(peer->client.error.needed, 4);
    memset(&result, 0, sizeof result);
    result.out.size = 5; /* a size without a place */
    command(peer, 0);
    envd_peer_check(peer, e2b_run(&peer->sandbox, "x", NULL, &result), E2B_TOO_SMALL);
    assert_int_equal(result.out.len, 0);
}

static void test_killed(void **state)
{
    envd_peer *peer = *state;
    e2b_run_result result = {0};
    envd_write_head(envd_peer_answer(peer, "/Start"));
    envd_write_started(peer, 7);
    envd_write_ended(peer, -1, false, "signal: killed");
    envd_write_last(peer, "{}");
    envd_write_close(peer);
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_run(&peer->sandbox, "x", NULL, &result), E2B_OK);
    assert_int_equal(result.exit_code, -1);
    assert_false(result.exited);
}

/* ---- Limits ------------------------------------------------------------------------ */

static void test_the_limit_is_sent(void **state)
{
    static const struct { uint32_t option, limit; const char *header; } cases[] = {
        {0, 0, "\r\nConnect-Timeout-Ms: 60000\r\n"}, {0, 1234, "\r\nConnect-Timeout-Ms: 1234\r\n"}, {5, 1234, "\r\nConnect-Timeout-Ms: 5\r\n"},
        {E2B_NO_LIMIT, 0, NULL}, {0, E2B_NO_LIMIT, NULL},
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        e2b_run_result result = {0};
        envd_peer_restart(peer, NULL);
        peer->client.limits.run_ms = cases[i].limit;
        command(peer, 0);
        envd_peer_check(peer, e2b_run(&peer->sandbox, "x", &(e2b_process_options){.timeout_ms = cases[i].option, .input = true}, &result), E2B_OK);
        assert_int_equal(envd_peer_contains(peer, 0, cases[i].header ? cases[i].header : "Connect-Timeout-Ms"), cases[i].header != NULL);
        assert_true(envd_peer_contains(peer, 0, "POST")); /* and nobody can send input to it */
        assert_non_null(strstr(envd_peer_body(peer, 0) + 5, "\"stdin\":false"));
    }
}

static void test_the_service_ends_it(void **state)
{
    envd_peer *peer = *state;
    char out[16];
    e2b_run_result result = {.out = {.ptr = out, .size = sizeof out}};
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    envd_write_text(peer, E2B_EVENT_OUT, "before");
    e2b_memory_advance(script, 60000);
    envd_write_last(peer, "{\"error\":{\"code\":\"deadline_exceeded\",\"message\":\"context deadline exceeded\"}}");
    envd_write_close(peer);
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_run(&peer->sandbox, "x", NULL, &result), E2B_COMMAND_TIMEOUT);
    assert_int_equal(result.out.len, 6); /* what fitted is there */
    envd_peer_slots_free(peer);
}

/* The service forgets the limit: the call ends all the same, noise or not. */
static void test_the_service_forgets_it(void **state)
{
    envd_peer *peer = *state;
    for (int noisy = 0; noisy < 2; noisy++) {
        e2b_run_result result = {0};
        envd_peer_restart(peer, NULL);
        e2b_memory_script *script = envd_peer_answer(peer, "/Start");
        envd_write_head(script);
        envd_write_started(peer, 7);
        if (noisy) {
            e2b_memory_repeat(script, 1000000);
            e2b_memory_advance(script, 777);
            envd_write_text(peer, E2B_EVENT_OUT, "more");
            e2b_memory_repeat_end(script);
        }
        envd_peer_done(peer);
        envd_peer_check(peer, e2b_run(&peer->sandbox, "x", &(e2b_process_options){.timeout_ms = 20000}, &result), E2B_REPLY_TIMEOUT);
        assert_true(peer->port.now_ms >= 20000 && peer->port.now_ms <= 30000);
        envd_peer_slots_free(peer);
        assert_int_equal(peer->port.opened, peer->port.closes);
    }
}

/* ---- Failures ------------------------------------------------------------------------- */

static void test_the_exit_code_of_a_cut_stream(void **state)
{
    envd_peer *peer = *state;
    e2b_run_result result = {.exit_code = 77, .exited = false};
    envd_write_head(envd_peer_answer(peer, "/Start"));
    envd_write_started(peer, 7);
    envd_write_ended(peer, 4, true, "exit status 4");
    e2b_memory_reset(&peer->script);
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_run(&peer->sandbox, "x", NULL, &result), E2B_TRUNCATED);
    assert_int_equal(result.exit_code, 4);
}

static void test_cancelled(void **state)
{
    envd_peer *peer = *state;
    volatile int cancel = 0;
    e2b_run_result result = {0};
    envd_peer_restart(peer, &(envd_peer_options){.cancel = &cancel});
    envd_peer_quiet_stream(peer);
    peer->port.cancel = &cancel;
    peer->port.cancel_wait = 2;
    envd_peer_check(peer, e2b_run(&peer->sandbox, "x", NULL, &result), E2B_CANCELLED);
    envd_peer_slots_free(peer);
}

static void test_what_is_refused(void **state)
{
    envd_peer *peer = *state;
    char out[4] = "###";
    e2b_run_result result = {.out = {.ptr = out, .size = 4, .len = 3, .total = 3}, .exit_code = 9, .exited = true};
    envd_peer_check(peer, e2b_run(&peer->sandbox, NULL, NULL, &result), E2B_INVALID);
    assert_int_equal(result.out.len, 0);
    assert_int_equal(result.out.total, 0);
    assert_false(result.exited);
    envd_peer_check(peer, e2b_run(&peer->sandbox, "x", &(e2b_process_options){.user = "a b"}, &result), E2B_INVALID);
    e2b_sandbox none;
    memset(&none, 0, sizeof none);
    assert_int_equal(e2b_run(&none, "x", NULL, &result), E2B_STATE);
    assert_int_equal(peer->port.calls, 0);
    e2b_process process;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    e2b_process second;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &second, false);
    envd_peer_check(peer, e2b_run(&peer->sandbox, "x", NULL, &result), E2B_BUSY);
    e2b_process_close(&process);
    e2b_process_close(&second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_output_and_exit), TEST(test_every_size_of_buffer), TEST(test_killed), TEST(test_the_limit_is_sent),
        TEST(test_the_service_ends_it), TEST(test_the_service_forgets_it), TEST(test_the_exit_code_of_a_cut_stream), TEST(test_what_is_refused), TEST(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
