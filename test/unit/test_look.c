/* A stream without a byte for two minutes: is its process still listed? */
#include "envd_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define IDLE 120000u
#define LISTED "{\"processes\":[{\"config\":{\"cmd\":\"sleep\"},\"pid\":3},{\"config\":{\"cmd\":\"true\",\"args\":[],\"envs\":{\"pid\":\"7\"}},\"pid\":7,\"tag\":\"t\"}]}"
#define NOT_LISTED "{\"processes\":[{\"config\":{\"cmd\":\"sleep\",\"envs\":{\"pid\":\"7\"},\"pid\":7},\"pid\":70},{\"pid\":17}],\"pid\":7}"

/* A stream that is silent until it says "late", `silence` ms from its start. */
static void late_stream(envd_peer *peer, uint32_t silence)
{
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_advance(script, silence);
    envd_write_text(peer, E2B_EVENT_OUT, "late");
    envd_write_finish(peer, 0);
    envd_peer_done(peer);
}

static void test_listed_restarts_the_clock(void **state)
{
    envd_peer *peer = *state;
    for (int32_t codec = E2B_CODEC_JSON; codec <= E2B_CODEC_PROTO; codec++) {
        e2b_process process;
        envd_peer_restart(peer, &(envd_peer_options){.codec = codec, .connections = 2});
        late_stream(peer, 5 * IDLE + 1000);
        envd_peer_start(peer, &process, false);
        envd_peer_reply_always(peer, "/process.Process/List", 200, LISTED);
        envd_peer_text(peer, &process, E2B_EVENT_OUT, "late");
        assert_int_equal(peer->port.now_ms, 5 * IDLE + 1000);
        assert_int_equal(envd_peer_count(peer, "/List"), 5);
        for (size_t i = 0; i < 5; i++) assert_int_equal(peer->arrived_ms[envd_peer_find(peer, "/List", i)], IDLE * (i + 1));
        assert_true(peer->connections[1].beside); /* never the resolver */
        envd_peer_next(peer, &process, E2B_EVENT_END);
        assert_true(peer->port.waits < 100);
    }
}

static void test_bytes_keep_it_away(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_repeat(script, 50);
    e2b_memory_advance(script, IDLE - 1);
    envd_write_keepalive(peer);
    e2b_memory_repeat_end(script);
    envd_write_finish(peer, 0);
    envd_peer_done(peer);
    envd_peer_start(peer, &process, false);
    envd_peer_next(peer, &process, E2B_EVENT_END);
    assert_int_equal(peer->request_count, 1);
}

static void answer_list(envd_peer *peer, int which)
{
    e2b_memory_script *script = envd_peer_answer(peer, "/List");
    switch (which) {
    case 0: envd_write_reply(script, 200, NOT_LISTED); break;
    case 1: envd_write_reply(script, 200, "{}"); break;
    case 2: envd_write_reply(script, 401, "{\"code\":401,\"message\":\"no\"}"); break;
    case 3: envd_write_reply(script, 502, "<html>"); break;
    case 4: envd_write_reply(script, 200, "<html>"); break;
    case 5: envd_write_reply(script, 200, "{\"processes\":[{\"pid\":7"); break; /* cut, whatever it said before */
    case 6: e2b_memory_reset(script); break;
    case 7: e2b_memory_end(script); break;
    case 8: break; /* silence */
    default:
        e2b_memory_text(script, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"processes\":[{\"pid\":7},");
        e2b_memory_end(script);
        break;
    }
    envd_peer_done(peer);
}

static void test_idle(void **state)
{
    envd_peer *peer = *state;
    for (int which = 0; which < 10; which++) {
        e2b_process process;
        envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
        envd_peer_quiet_stream(peer);
        envd_peer_start(peer, &process, true);
        answer_list(peer, which);
        envd_peer_fails(peer, &process, E2B_IDLE);
        envd_peer_words(peer, E2B_IDLE, "may still be running");
        assert_true(e2b_err_may_have_run(E2B_IDLE));
        assert_int_equal(peer->port.now_ms, which == 8 ? IDLE + 60000 : IDLE);
        assert_int_equal(envd_peer_count(peer, "/List"), 1); /* asked once */
        assert_int_equal(process.exit_known, E2B_EXIT_UNKNOWN);
        envd_peer_slots_free(peer);
    }
}

static void test_the_limit_is_the_clients(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    peer->client.limits.idle_ms = 500;
    peer->client.limits.request_ms = 250;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    envd_peer_nothing(peer, &process, 499);
    envd_peer_silence(peer, "/List");
    envd_peer_fails(peer, &process, E2B_IDLE);
    assert_int_equal(peer->port.now_ms, 750);
    peer->client.limits.idle_ms = E2B_NO_LIMIT;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    envd_peer_nothing(peer, &process, 100000000);
    e2b_process_close(&process);
}

/* With one slot there is none for the question. */
static void test_no_slot(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 1});
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    envd_peer_fails(peer, &process, E2B_IDLE);
    assert_int_equal(peer->port.now_ms, IDLE);
    assert_int_equal(peer->request_count, 1);
}

/* It takes the slot of an input piece; that input is over, the stream goes on. */
static void test_takes_a_pieces_slot(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
    late_stream(peer, IDLE + 500);
    envd_peer_start(peer, &process, true);
    envd_peer_silence(peer, "/SendInput");
    envd_peer_reply(peer, "/List", 200, LISTED);
    envd_peer_check(peer, e2b_process_send(&process, "abc", 3), E2B_OK);
    e2b_event event = envd_peer_next(peer, &process, E2B_EVENT_INPUT_END);
    assert_int_equal(event.code, E2B_NO_REPLY);
    assert_int_equal(peer->port.now_ms, IDLE);
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "late");
    envd_peer_next(peer, &process, E2B_EVENT_END);
}

/* A kept link that has died says nothing about the process. */
static void test_on_a_fresh_link(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    late_stream(peer, IDLE + 500);
    envd_peer_start(peer, &process, true);
    envd_peer_nothing(peer, &process, IDLE - 10000);
    e2b_memory_script *script = envd_peer_answer(peer, "/SendInput");
    envd_write_reply(script, 200, "{}");
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_process_send(&process, "abc", 3), E2B_OK);
    envd_peer_next(peer, &process, E2B_EVENT_SENT);
    envd_peer_reply(peer, "/List", 200, LISTED);
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "late");
    assert_int_not_equal(peer->connection[envd_peer_find(peer, "/List", 0)], peer->connection[envd_peer_find(peer, "/SendInput", 0)]);
    e2b_process_close(&process);
}

/* ---- Bytes that come meanwhile ---------------------------------------------------------- */

/* They count before the list does: a process that has just ended is not listed
 * any more, and its end is on the way. */
static void test_bytes_meanwhile(void **state)
{
    static const char *const lists[] = {NOT_LISTED, LISTED, "<html>"};
    envd_peer *peer = *state;
    for (int i = 0; i < 12; i++) {
        e2b_process process;
        envd_peer_restart(peer, NULL);
        /* Before the list's answer (after 200 ms), with it, and long before it. */
        static const uint32_t moments[] = {IDLE + 100, IDLE + 200, IDLE + 199, IDLE + 1};
        late_stream(peer, moments[i / 3]);
        envd_peer_start(peer, &process, false);
        e2b_memory_script *script = envd_peer_answer(peer, "/List");
        e2b_memory_advance(script, 200);
        envd_write_reply(script, 200, lists[i % 3]);
        envd_peer_done(peer);
        envd_peer_text(peer, &process, E2B_EVENT_OUT, "late");
        envd_peer_next(peer, &process, E2B_EVENT_END);
        envd_peer_slots_free(peer);
    }
}

/* One answer of the port that comes late, whichever it is, changes nothing:
 * between the look at the stream and the one at the list, bytes may come. */
static void test_the_same_moment(void **state)
{
    envd_peer *peer = *state;
    uint64_t calls = 1;
    for (uint64_t call = 0; call < calls; call++) {
        e2b_process process;
        e2b_event event;
        e2b_err err;
        envd_peer_restart(peer, NULL);
        peer->tolerant = true;
        late_stream(peer, IDLE + 200);
        envd_peer_start(peer, &process, false);
        uint64_t first = peer->port.calls;
        e2b_memory_script *script = envd_peer_answer(peer, "/List");
        e2b_memory_advance(script, 200);
        e2b_memory_text(script, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"); /* in one receive */
        envd_peer_done(peer);
        peer->port.fail_call = call ? first + call : 0;
        peer->port.fail_outcome = E2B_IO_AGAIN;
        do err = e2b_process_next(&process, &event, E2B_NO_LIMIT);
        while (!err && event.kind != E2B_EVENT_END);
        if (!call) calls = peer->port.calls - first;
        /* From open and wait it is a failure: there is no list then, or no stream. */
        if (err) assert_true(err == E2B_PORT || envd_peer_count(peer, "/List") == 0);
        e2b_process_close(&process);
    }
    assert_true(calls > 10);
}

/* Its slot is free again as soon as bytes have come. */
static void test_given_up_for_bytes(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_advance(script, IDLE + 100);
    envd_write_text(peer, E2B_EVENT_OUT, "late");
    envd_peer_done(peer);
    envd_peer_start(peer, &process, false);
    envd_peer_silence(peer, "/List");
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "late");
    envd_peer_nothing(peer, &process, 10);
    envd_peer_reply(peer, "/health", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    e2b_process_close(&process);
}

/* The same through e2b_wait, whose caller reads only what it is told is ready. */
static void test_bytes_meanwhile_in_a_wait(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    late_stream(peer, IDLE + 200);
    envd_peer_start(peer, &process, false);
    e2b_memory_script *script = envd_peer_answer(peer, "/List");
    e2b_memory_advance(script, 200);
    envd_write_reply(script, 200, NOT_LISTED);
    envd_peer_done(peer);
    do {
        envd_peer_check(peer, e2b_wait(&peer->client, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
    } while (!ready);
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "late");
    envd_peer_next(peer, &process, E2B_EVENT_END);
}

/* ---- A long list, and many looks ---------------------------------------------------------- */

static void test_a_command_line_of_a_megabyte(void **state)
{
    envd_peer *peer = *state;
    static char kilobyte[1025];
    memset(kilobyte, 'x', 1024);
    for (int listed = 0; listed < 2; listed++) {
        e2b_process process;
        envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
        late_stream(peer, IDLE + 10);
        envd_peer_start(peer, &process, false);
        e2b_memory_script *script = envd_peer_answer(peer, "/List");
        e2b_memory_text(script, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"processes\":[{\"config\":{\"cmd\":\"sh\",\"args\":[\"");
        e2b_memory_repeat(script, 1024);
        e2b_memory_text(script, kilobyte);
        e2b_memory_repeat_end(script);
        e2b_memory_text(script, listed ? "\"]},\"pid\":7}]}" : "\"]},\"pid\":8}]}");
        e2b_memory_end(script);
        envd_peer_done(peer);
        if (listed) envd_peer_text(peer, &process, E2B_EVENT_OUT, "late");
        else envd_peer_fails(peer, &process, E2B_IDLE);
        assert_true(peer->port.received > 1 << 20);
        e2b_process_close(&process);
    }
}

/* Streams that fall silent at the same moment share the one free slot. */
static void test_many_at_the_same_moment(void **state)
{
    envd_peer *peer = *state;
    e2b_process processes[5], *list[5];
    size_t ready, live = 5;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 6});
    e2b_memory_script *script = envd_peer_always(peer, "/List");
    e2b_memory_advance(script, 300);
    envd_write_reply(script, 200, LISTED);
    envd_peer_done(peer);
    for (size_t i = 0; i < 5; i++) {
        late_stream(peer, IDLE + 60000);
        envd_peer_start(peer, &processes[i], false);
        list[i] = &processes[i];
    }
    while (live) {
        envd_peer_check(peer, e2b_wait(&peer->client, list, live, E2B_NO_LIMIT, &ready), E2B_OK);
        for (size_t i = 0; i < ready; i++) {
            envd_peer_text(peer, list[i], E2B_EVENT_OUT, "late");
            envd_peer_next(peer, list[i], E2B_EVENT_END);
        }
        memmove(list, list + ready, (live - ready) * sizeof list[0]);
        live -= ready;
    }
    assert_int_equal(envd_peer_count(peer, "/List"), 5);
    for (size_t i = 0; i < 5; i++) assert_int_equal(peer->arrived_ms[envd_peer_find(peer, "/List", i)], IDLE + 300 * i);
    assert_true(peer->port.waits < 100);
}

/* One whose turn never comes, since nobody drives the other's look, is idle in the end. */
static void test_a_turn_that_never_comes(void **state)
{
    envd_peer *peer = *state;
    e2b_process first, second;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &first, false);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &second, false);
    envd_peer_silence(peer, "/List");
    envd_peer_nothing(peer, &first, IDLE + 1);
    envd_peer_fails(peer, &second, E2B_IDLE);
    assert_int_equal(peer->port.now_ms, IDLE + 60001);
    assert_true(peer->port.waits < 1000);
    e2b_process_close(&first);
}

/* A signal may take the look's slot: then it is asked again. */
static void test_a_signal_takes_the_slot(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
    late_stream(peer, IDLE + 5000);
    envd_peer_start(peer, &process, false);
    envd_peer_silence(peer, "/List");
    envd_peer_nothing(peer, &process, IDLE + 10);
    envd_peer_reply(peer, "/SendSignal", 200, "{}");
    envd_peer_reply(peer, "/List", 200, LISTED);
    envd_peer_check(peer, e2b_process_signal(&process, E2B_SIGNAL_TERM), E2B_OK);
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "late");
    assert_int_equal(envd_peer_count(peer, "/List"), 2);
    envd_peer_next(peer, &process, E2B_EVENT_END);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_listed_restarts_the_clock), TEST(test_bytes_keep_it_away), TEST(test_idle), TEST(test_the_limit_is_the_clients),
        TEST(test_no_slot), TEST(test_takes_a_pieces_slot), TEST(test_on_a_fresh_link), TEST(test_bytes_meanwhile), TEST(test_the_same_moment), TEST(test_given_up_for_bytes),
        TEST(test_bytes_meanwhile_in_a_wait), TEST(test_a_command_line_of_a_megabyte), TEST(test_many_at_the_same_moment),
        TEST(test_a_turn_that_never_comes), TEST(test_a_signal_takes_the_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
