/* Input: pieces beside the stream, and that it fails alone. */
#include "envd_peer.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PIECE 32768u
#define BYTES (3 * PIECE + 1696)

static uint8_t bytes[BYTES];

static int fill(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 31 + (i >> 9));
    return 0;
}

/* ---- What goes out -------------------------------------------------------------- */

static void check_piece(envd_peer *peer, size_t nth, size_t start, size_t length)
{
    static char expected[50000];
    size_t number = envd_peer_find(peer, "/process.Process/SendInput", nth);
    e2b_text text = {expected, sizeof expected, 0, 0};
    if (peer->codec == E2B_CODEC_PROTO) {
        const char *body = envd_peer_body(peer, number);
        assert_memory_equal(body, "\x0a\x02\x08\x07\x12", 5); /* pid 7, then the input */
        assert_memory_equal(body + peer->body_length[number] - length, bytes + start, length);
        return;
    }
    e2b_text_string(&text, "{\"process\":{\"pid\":7},\"input\":{\"stdin\":\"");
    e2b_text_base64(&text, bytes + start, length);
    e2b_text_string(&text, "\"}}");
    e2b_text_terminate(&text);
    assert_string_equal(envd_peer_body(peer, number), expected);
}

static void test_pieces(void **state)
{
    envd_peer *peer = *state;
    for (int32_t codec = E2B_CODEC_JSON; codec <= E2B_CODEC_PROTO; codec++) {
        e2b_process process;
        envd_peer_restart(peer, &(envd_peer_options){.codec = codec, .connections = 2});
        envd_peer_quiet_stream(peer);
        envd_peer_start(peer, &process, true);
        for (int i = 0; i < 4; i++) {
            e2b_memory_script *script = envd_peer_answer(peer, "/SendInput");
            e2b_memory_advance(script, 10);
            envd_write_reply(script, 200, codec == E2B_CODEC_PROTO ? "" : "{}");
            envd_peer_done(peer);
        }
        uint64_t calls = peer->port.calls;
        envd_peer_check(peer, e2b_process_send(&process, bytes, BYTES), E2B_OK);
        assert_int_equal(peer->port.calls, calls); /* it returns at once */
        envd_peer_nothing(peer, &process, 39);
        envd_peer_check(peer, e2b_process_send(&process, bytes, 1), E2B_BUSY);
        envd_peer_next(peer, &process, E2B_EVENT_SENT);
        assert_int_equal(envd_peer_count(peer, "/SendInput"), 4);
        for (size_t i = 0; i < 4; i++) {
            check_piece(peer, i, i * PIECE, i < 3 ? PIECE : BYTES - 3 * PIECE);
            assert_int_equal(peer->arrived_ms[envd_peer_find(peer, "/SendInput", i)], 10 * i); /* one at a time */
            assert_int_equal(peer->connection[envd_peer_find(peer, "/SendInput", i)], 1);
        }
        envd_peer_nothing(peer, &process, 5); /* SENT comes once */
        e2b_process_close(&process);
    }
}

static void test_busy_until_the_event_is_taken(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_reply_always(peer, "/SendInput", 200, "{}");
    envd_peer_check(peer, e2b_process_send(&process, bytes, 5), E2B_OK);
    envd_peer_check(peer, e2b_wait(&peer->client, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 1); /* it was taken, but nobody has said so yet */
    envd_peer_check(peer, e2b_process_send(&process, bytes, 5), E2B_BUSY);
    envd_peer_next(peer, &process, E2B_EVENT_SENT);
    envd_peer_check(peer, e2b_process_send(&process, bytes, 5), E2B_OK);
    envd_peer_next(peer, &process, E2B_EVENT_SENT);
    e2b_process_close(&process);
}

/* Never the resolver: the side link goes where the stream's link went. */
static void test_the_side_link(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, moved;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_reply_always(peer, "/SendInput", 200, "{}");
    envd_peer_check(peer, e2b_process_send(&process, bytes, 5), E2B_OK);
    moved = process;
    memset(&process, 0x5a, sizeof process);
    envd_peer_next(peer, &moved, E2B_EVENT_SENT);
    assert_false(peer->connections[0].beside);
    assert_true(peer->connections[1].beside);
    /* Used a moment ago: the same link. Idle for over 5 s: another. */
    peer->port.now_ms += 4999;
    envd_peer_check(peer, e2b_process_send(&moved, bytes, 5), E2B_OK);
    envd_peer_next(peer, &moved, E2B_EVENT_SENT);
    assert_int_equal(peer->port.opened, 2);
    peer->port.now_ms += 5001;
    envd_peer_check(peer, e2b_process_send(&moved, bytes, 5), E2B_OK);
    envd_peer_next(peer, &moved, E2B_EVENT_SENT);
    assert_int_equal(peer->port.opened, 3);
    assert_true(peer->connections[2].beside);
    e2b_process_close(&moved);
}

static void test_what_is_refused(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, zeroed = {0};
    assert_int_equal(e2b_process_send(&zeroed, bytes, 1), E2B_CLOSED);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    envd_peer_check(peer, e2b_process_send(&process, bytes, 1), E2B_STATE);
    envd_peer_words(peer, E2B_STATE, "without input");
    envd_peer_check(peer, e2b_process_end_input(&process), E2B_STATE);
    e2b_process_close(&process);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_check(peer, e2b_process_send(&process, NULL, 1), E2B_INVALID);
    envd_peer_check(peer, e2b_process_send(&process, bytes, 0), E2B_INVALID);
    envd_peer_nothing(peer, &process, 10);
    assert_int_equal(peer->request_count, 2);
    e2b_process_close(&process);
}

/* ---- Input and output side by side --------------------------------------------------- */

/* An answer that never comes has no limit while the stream lives; its END ends the loan. */
static void test_an_answer_that_never_comes(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_repeat(script, 20);
    e2b_memory_advance(script, 50000);
    envd_write_keepalive(peer);
    e2b_memory_repeat_end(script);
    envd_write_text(peer, E2B_EVENT_OUT, "still here");
    envd_write_finish(peer, 0);
    envd_peer_done(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_silence(peer, "/SendInput");
    envd_peer_check(peer, e2b_process_send(&process, bytes, BYTES), E2B_OK);
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "still here");
    assert_int_equal(peer->port.now_ms, 1000000);
    envd_peer_check(peer, e2b_process_send(&process, bytes, 1), E2B_BUSY);
    envd_peer_next(peer, &process, E2B_EVENT_END);
    envd_peer_slots_free(peer);
    envd_peer_next(peer, &process, E2B_EVENT_END); /* and no INPUT_END after it */
    envd_peer_check(peer, e2b_process_send(&process, bytes, 1), E2B_STATE);
    assert_int_equal(envd_peer_count(peer, "/SendInput"), 1);
}

static void test_a_stream_error_ends_the_loan(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_advance(script, 100);
    e2b_memory_reset(script);
    envd_peer_done(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_silence(peer, "/SendInput");
    envd_peer_check(peer, e2b_process_send(&process, bytes, BYTES), E2B_OK);
    envd_peer_fails(peer, &process, E2B_TRUNCATED);
    envd_peer_check(peer, e2b_process_send(&process, bytes, 1), E2B_TRUNCATED);
    envd_peer_check(peer, e2b_process_end_input(&process), E2B_TRUNCATED);
    envd_peer_slots_free(peer);
}

/* Two processes and one slot for both their inputs: one after the other. */
static void test_one_slot_for_two_inputs(void **state)
{
    envd_peer *peer = *state;
    e2b_process first, second;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &first, true);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &second, true);
    e2b_memory_script *script = envd_peer_answer(peer, "/SendInput");
    e2b_memory_advance(script, 100);
    envd_write_reply(script, 200, "{}");
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_process_send(&first, bytes, 5), E2B_OK);
    envd_peer_nothing(peer, &first, 0);
    envd_peer_check(peer, e2b_process_send(&second, bytes, 6), E2B_OK);
    envd_peer_nothing(peer, &second, 50);
    assert_int_equal(envd_peer_count(peer, "/SendInput"), 1);
    envd_peer_next(peer, &first, E2B_EVENT_SENT);
    envd_peer_reply(peer, "/SendInput", 200, "{}");
    envd_peer_next(peer, &second, E2B_EVENT_SENT);
    e2b_process_close(&first);
    e2b_process_close(&second);
}

/* ---- Failures ---------------------------------------------------------------------- */

enum { REFUSED, GONE, HTML, RESET, CUT, ENDED, FAILURES };

static void write_failure(e2b_memory_script *script, int which)
{
    switch (which) {
    case REFUSED: envd_write_reply(script, 500, "{\"code\":\"internal\",\"message\":\"error writing to stdin: broken pipe\"}"); break;
    case GONE: envd_write_reply(script, 404, "{\"code\":\"not_found\",\"message\":\"process with pid 7 not found\"}"); break;
    case HTML: envd_write_reply(script, 502, "<html>Bad gateway</html>"); break;
    case RESET: e2b_memory_reset(script); break;
    case CUT:
        e2b_memory_text(script, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{");
        e2b_memory_end(script);
        break;
    default: e2b_memory_end(script); break;
    }
}

/* One event with the code and the bytes surely taken; output goes on to END. */
static void test_failures(void **state)
{
    static const e2b_err codes[] = {E2B_SERVER, E2B_NOT_FOUND, E2B_GATEWAY, E2B_NO_REPLY, E2B_TRUNCATED, E2B_NO_REPLY};
    envd_peer *peer = *state;
    for (int which = 0; which < 2 * FAILURES; which++) {
        e2b_process process;
        bool second = which >= FAILURES; /* the second piece fails, not the first */
        e2b_err code = codes[which % FAILURES];
        envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
        e2b_memory_script *script = envd_peer_answer(peer, "/Start");
        envd_write_head(script);
        envd_write_started(peer, 7);
        e2b_memory_advance(script, 100);
        envd_write_text(peer, E2B_EVENT_OUT, "goes on");
        envd_write_finish(peer, 0);
        envd_peer_done(peer);
        envd_peer_start(peer, &process, true);
        if (second) envd_peer_reply(peer, "/SendInput", 200, "{}");
        write_failure(envd_peer_answer(peer, "/SendInput"), which % FAILURES);
        envd_peer_done(peer);
        envd_peer_check(peer, e2b_process_send(&process, bytes, BYTES), E2B_OK);
        envd_peer_check(peer, e2b_process_end_input(&process), E2B_OK); /* it is not to be sent any more */
        e2b_event event = envd_peer_next(peer, &process, E2B_EVENT_INPUT_END);
        assert_int_equal(event.code, code);
        assert_int_equal(event.taken, second ? PIECE : 0);
        assert_int_equal(envd_peer_count(peer, "/SendInput"), second ? 2 : 1); /* never repeated */
        envd_peer_check(peer, e2b_process_send(&process, bytes, 1), code);
        envd_peer_check(peer, e2b_process_end_input(&process), code);
        envd_peer_text(peer, &process, E2B_EVENT_OUT, "goes on");
        envd_peer_next(peer, &process, E2B_EVENT_END);
        assert_int_equal(envd_peer_count(peer, "/CloseStdin"), 0);
        envd_peer_slots_free(peer);
    }
}

/* The side link does not come up. */
static void test_no_side_link(void **state)
{
    envd_peer *peer = *state;
    for (int hangs = 0; hangs < 2; hangs++) {
        uint8_t steps[8];
        e2b_memory_script links;
        e2b_process process;
        e2b_memory_script_init(&links, steps, sizeof steps);
        e2b_memory_accept(&links);
        if (hangs) e2b_memory_hang(&links);
        else e2b_memory_refuse(&links);
        envd_peer_restart(peer, &(envd_peer_options){.links = &links});
        envd_peer_quiet_stream(peer);
        envd_peer_start(peer, &process, true);
        envd_peer_check(peer, e2b_process_send(&process, bytes, 5), E2B_OK);
        e2b_event event = envd_peer_next(peer, &process, E2B_EVENT_INPUT_END);
        assert_int_equal(event.code, hangs ? E2B_CONNECT_TIMEOUT : E2B_CONNECT);
        assert_int_equal(peer->port.now_ms, hangs ? 10000 : 0); /* in time, though the stream is silent */
        assert_int_equal(event.taken, 0);
        assert_false(e2b_err_may_have_run(event.code));
        envd_peer_nothing(peer, &process, 10);
        e2b_process_close(&process);
    }
}

/* A signal and a kill take the slot of a piece; that input is over, the stream is not. */
static void test_the_slot_is_taken(void **state)
{
    envd_peer *peer = *state;
    for (int kill = 0; kill < 2; kill++) {
        e2b_process process;
        envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
        e2b_memory_script *script = envd_peer_answer(peer, "/Start");
        envd_write_head(script);
        envd_write_started(peer, 7);
        e2b_memory_advance(script, 100);
        envd_write_ended(peer, -1, false, "signal: killed");
        envd_write_last(peer, "{}");
        envd_write_close(peer);
        envd_peer_done(peer);
        envd_peer_start(peer, &process, true);
        envd_peer_silence(peer, "/SendInput");
        envd_peer_check(peer, e2b_process_send(&process, bytes, BYTES), E2B_OK);
        envd_peer_nothing(peer, &process, 1);
        envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_BUSY); /* other calls do not */
        if (kill) {
            e2b_memory_text(envd_peer_answer(peer, "/sandboxes/isandbox1"), "HTTP/1.1 204 No Content\r\n\r\n");
            envd_peer_done(peer);
            envd_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
        } else {
            envd_peer_reply(peer, "/SendSignal", 200, "{}");
            envd_peer_check(peer, e2b_process_signal(&process, E2B_SIGNAL_KILL), E2B_OK);
        }
        e2b_event event = envd_peer_next(peer, &process, E2B_EVENT_INPUT_END);
        assert_int_equal(event.code, E2B_NO_REPLY); /* it may have been delivered */
        assert_int_equal(event.taken, 0);
        event = envd_peer_next(peer, &process, E2B_EVENT_END);
        assert_int_equal(event.exit_code, -1);
    }
}

/* ---- The end of input --------------------------------------------------------------------- */

static void test_end_after_the_pieces(void **state)
{
    envd_peer *peer = *state;
    for (int32_t codec = E2B_CODEC_JSON; codec <= E2B_CODEC_PROTO; codec++) {
        e2b_process process;
        envd_peer_restart(peer, &(envd_peer_options){.codec = codec});
        e2b_memory_script *script = envd_peer_answer(peer, "/Start");
        envd_write_head(script);
        envd_write_started(peer, 7);
        e2b_memory_after(script, 1, 1); /* the program ends when its input does */
        envd_write_finish(peer, 0);
        envd_peer_done(peer);
        envd_peer_start(peer, &process, true);
        envd_peer_reply_always(peer, "/SendInput", 200, "{}");
        e2b_memory_pass(envd_peer_answer(peer, "/CloseStdin"), 1);
        envd_write_reply(&peer->script, 200, "{}");
        envd_peer_done(peer);
        envd_peer_check(peer, e2b_process_send(&process, bytes, PIECE + 1), E2B_OK);
        envd_peer_check(peer, e2b_process_end_input(&process), E2B_OK);
        envd_peer_check(peer, e2b_process_end_input(&process), E2B_OK);
        envd_peer_check(peer, e2b_process_send(&process, bytes, 1), E2B_STATE); /* ended, if not yet sent */
        envd_peer_words(peer, E2B_STATE, "ended");
        assert_int_equal(peer->request_count, 1);
        envd_peer_next(peer, &process, E2B_EVENT_SENT);
        envd_peer_next(peer, &process, E2B_EVENT_END); /* no event for the end */
        size_t number = envd_peer_find(peer, "/process.Process/CloseStdin", 0);
        assert_true(number > envd_peer_find(peer, "/SendInput", 1));
        assert_string_equal(envd_peer_body(peer, number), codec == E2B_CODEC_PROTO ? "\x0a\x02\x08\x07" : "{\"process\":{\"pid\":7}}");
        assert_int_equal(envd_peer_count(peer, "/CloseStdin"), 1);
    }
}

static void test_end_that_fails(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_reply(peer, "/CloseStdin", 404, "{\"code\":\"not_found\",\"message\":\"process with pid 7 not found\"}");
    envd_peer_check(peer, e2b_process_end_input(&process), E2B_OK);
    e2b_event event = envd_peer_next(peer, &process, E2B_EVENT_INPUT_END);
    assert_int_equal(event.code, E2B_NOT_FOUND);
    assert_int_equal(event.taken, 0);
    envd_peer_check(peer, e2b_process_end_input(&process), E2B_NOT_FOUND);
    envd_peer_nothing(peer, &process, 10);
    e2b_process_close(&process);
}

static void test_end_with_an_old_daemon(void **state)
{
    static const struct { const char *version; e2b_err err; } cases[] = {{"0.5.1", E2B_UNSUPPORTED}, {"0.5.2", E2B_OK}, {"0.3.0", E2B_UNSUPPORTED}};
    envd_peer *peer = *state;
    for (size_t i = 0; i < 3; i++) {
        e2b_process process;
        envd_peer_restart(peer, &(envd_peer_options){.version = cases[i].version});
        envd_peer_quiet_stream(peer);
        envd_peer_start(peer, &process, true);
        envd_peer_reply_always(peer, "/CloseStdin", 200, "{}");
        envd_peer_reply_always(peer, "/SendInput", 200, "{}");
        envd_peer_check(peer, e2b_process_end_input(&process), cases[i].err);
        if (cases[i].err) {
            envd_peer_words(peer, E2B_UNSUPPORTED, "rebuild the template");
            envd_peer_check(peer, e2b_process_send(&process, bytes, 5), E2B_OK); /* and it still takes input */
            envd_peer_next(peer, &process, E2B_EVENT_SENT);
        } else {
            envd_peer_nothing(peer, &process, 10);
        }
        assert_int_equal(envd_peer_count(peer, "/CloseStdin"), cases[i].err == E2B_OK);
        e2b_process_close(&process);
    }
}

static void test_input_needs_two_connections(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 1});
    envd_peer_check(peer, e2b_process_shell(&peer->sandbox, &process, "cat", &(e2b_process_options){.input = true}), E2B_INVALID);
    envd_peer_words(peer, E2B_INVALID, "two connections");
    envd_peer_check(peer, e2b_process_connect(&peer->sandbox, &process, 7, NULL, &(e2b_process_options){.input = true}), E2B_INVALID);
    assert_int_equal(peer->port.calls, 0);
    envd_peer_quiet_stream(peer);
    envd_peer_check(peer, e2b_process_shell(&peer->sandbox, &process, "true", NULL), E2B_OK); /* with one slot a stream may hold it */
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_BUSY);
    e2b_process_close(&process);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_input_needs_two_connections), TEST(test_pieces), TEST(test_busy_until_the_event_is_taken), TEST(test_the_side_link), TEST(test_what_is_refused),
        TEST(test_an_answer_that_never_comes), TEST(test_a_stream_error_ends_the_loan), TEST(test_one_slot_for_two_inputs),
        TEST(test_failures), TEST(test_no_side_link), TEST(test_the_slot_is_taken),
        TEST(test_end_after_the_pieces), TEST(test_end_that_fails), TEST(test_end_with_an_old_daemon),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
