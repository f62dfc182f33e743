/* Many live processes of one client, watched together. */
#include "envd_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static e2b_err wait(envd_peer *peer, e2b_process **list, size_t count, uint32_t wait_ms, size_t *ready)
{
    return e2b_wait(&peer->client, list, count, wait_ms, ready);
}

/* A stream that says each of these texts, `pause` ms apart, and ends. */
static void talking_stream(envd_peer *peer, uint32_t pause, uint32_t times, const char *text)
{
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_repeat(script, times);
    e2b_memory_advance(script, pause);
    envd_write_text(peer, E2B_EVENT_OUT, text);
    e2b_memory_repeat_end(script);
    e2b_memory_advance(script, pause);
    envd_write_finish(peer, 0);
    envd_peer_done(peer);
}

/* ---- Which are ready ------------------------------------------------------------- */

static void test_the_ready_ones_come_first(void **state)
{
    envd_peer *peer = *state;
    e2b_process processes[4], *list[4];
    size_t ready;
    static const uint32_t pauses[4] = {300, 100, 200, 100};
    envd_peer_restart(peer, &(envd_peer_options){.connections = 5});
    for (size_t i = 0; i < 4; i++) {
        talking_stream(peer, pauses[i], 1, "x");
        envd_peer_start(peer, &processes[i], false);
        list[i] = &processes[i];
    }
    envd_peer_check(peer, wait(peer, list, 4, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(peer->port.now_ms, 100);
    assert_int_equal(ready, 2);
    assert_true((list[0] == &processes[1] && list[1] == &processes[3]) || (list[0] == &processes[3] && list[1] == &processes[1]));
    for (size_t i = 0; i < 4; i++) /* all of them are still there */
        assert_true(list[0] == &processes[i] || list[1] == &processes[i] || list[2] == &processes[i] || list[3] == &processes[i]);
    for (size_t i = 0; i < ready; i++) envd_peer_text(peer, list[i], E2B_EVENT_OUT, "x");
    envd_peer_check(peer, wait(peer, list, 4, 99, &ready), E2B_OK);
    assert_int_equal(ready, 0);
    assert_int_equal(peer->port.now_ms, 199);
    for (size_t i = 0; i < 4; i++) e2b_process_close(&processes[i]);
}

/* Ended, closed, stale and zeroed handles are ready without asking the port. */
static void test_what_needs_no_port(void **state)
{
    envd_peer *peer = *state;
    e2b_process ended, closed, stale, zeroed, failed, *list[5] = {&ended, &closed, &stale, &zeroed, &failed};
    e2b_event event;
    size_t ready;
    memset(&zeroed, 0, sizeof zeroed);
    envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
    talking_stream(peer, 0, 0, "");
    envd_peer_start(peer, &ended, false);
    while (!e2b_process_next(&ended, &event, E2B_NO_LIMIT) && event.kind != E2B_EVENT_END) {}
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &closed, false);
    e2b_process_close(&closed);
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_reset(script);
    envd_peer_done(peer);
    envd_peer_start(peer, &failed, false);
    envd_peer_fails(peer, &failed, E2B_TRUNCATED);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &stale, false);
    e2b_client_close(&peer->client);
    for (size_t i = 0; i < 5; i++) {
        e2b_process *one[1] = {list[i]};
        uint64_t calls = peer->port.calls;
        envd_peer_check(peer, wait(peer, one, 1, E2B_NO_LIMIT, &ready), E2B_OK);
        assert_int_equal(ready, 1);
        assert_int_equal(peer->port.calls, calls);
    }
    envd_peer_check(peer, wait(peer, list, 5, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 5);
    assert_int_equal(e2b_process_next(&stale, &event, 0), E2B_CLOSED);
    assert_int_equal(e2b_process_next(&zeroed, &event, 0), E2B_CLOSED);
    assert_int_equal(e2b_process_next(&failed, &event, 0), E2B_TRUNCATED);
}

/* The start and two outputs, all in one receive. */
static void three_in_one(envd_peer *peer)
{
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    static const char raw[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                              "24\r\n\0\0\0\0\x1f{\"event\":{\"start\":{\"pid\":777}}}\r\n"
                              "29\r\n\0\0\0\0\x24{\"event\":{\"data\":{\"stdout\":\"aGkK\"}}}\r\n"
                              "29\r\n\0\0\0\0\x24{\"event\":{\"data\":{\"stderr\":\"aGkK\"}}}\r\n";
    e2b_memory_data(script, raw, sizeof raw - 1);
    envd_peer_done(peer);
}

/* Unread bytes lie in the slot: the port knows nothing of them. */
static void test_unread_bytes(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    three_in_one(peer);
    envd_peer_start(peer, &process, false);
    for (int i = 0; i < 2; i++) {
        uint64_t calls = peer->port.calls;
        envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
        assert_int_equal(ready, 1);
        assert_int_equal(peer->port.calls, calls);
        envd_peer_text(peer, &process, i ? E2B_EVENT_ERR : E2B_EVENT_OUT, "hi\n");
    }
    /* What is left is the end of a chunk, which is no news. */
    envd_peer_check(peer, wait(peer, list, 1, 100, &ready), E2B_OK);
    assert_int_equal(ready, 0);
    e2b_process_close(&process);
}

/* The body is complete by its length and the link stays open: that it was cut is known. */
static void test_an_end_by_length(void **state)
{
    envd_peer *peer = *state;
    for (int separate = 0; separate < 2; separate++) {
        e2b_process process, *list[1] = {&process};
        size_t ready;
        envd_peer_restart(peer, NULL);
        e2b_memory_script *script = envd_peer_answer(peer, "/Start");
        static const char message[] = "\0\0\0\0\x1e{\"event\":{\"start\":{\"pid\":77}}}";
        char head[80];
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", sizeof message - 1);
        e2b_memory_text(script, head);
        e2b_memory_data(script, message, 20);
        if (separate) e2b_memory_would_block(script);
        e2b_memory_data(script, message + 20, sizeof message - 1 - 20);
        envd_peer_done(peer);
        envd_peer_start(peer, &process, false);
        envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
        assert_int_equal(ready, 1);
        assert_int_equal(peer->port.now_ms, 0);
        envd_peer_fails(peer, &process, E2B_TRUNCATED);
    }
}

static void test_other_clients_and_none(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[1] = {&process};
    size_t ready = 9;
    e2b_client other;
    memset(&other, 0, sizeof other);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    other = peer->client;
    assert_int_equal(e2b_wait(&other, list, 1, 0, &ready), E2B_INVALID);
    assert_int_equal(ready, 0);
    envd_peer_check(peer, wait(peer, NULL, 0, 70, &ready), E2B_OK); /* it sleeps */
    assert_int_equal(peer->port.now_ms, 70);
    envd_peer_check(peer, wait(peer, list, 1, 0, &ready), E2B_OK);
    assert_int_equal(peer->port.now_ms, 70);
    e2b_process_close(&process);
}

/* ---- Fairness -------------------------------------------------------------------------- */

/* All that have news are told in the same wait, whatever the others have. */
static void test_none_is_starved(void **state)
{
    enum { COUNT = 7, ROUNDS = 300 };
    envd_peer *peer = *state;
    e2b_process processes[COUNT], *list[COUNT];
    size_t ready;
    envd_peer_restart(peer, &(envd_peer_options){.connections = COUNT + 1});
    for (size_t i = 0; i < COUNT; i++) {
        talking_stream(peer, 0, 1000000, "some output");
        envd_peer_start(peer, &processes[i], false);
        list[i] = &processes[i];
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        envd_peer_check(peer, wait(peer, list, COUNT, E2B_NO_LIMIT, &ready), E2B_OK);
        assert_int_equal(ready, COUNT);
        for (size_t i = 0; i < COUNT; i++) { /* some are read, others not */
            e2b_event event = {0};
            if ((round + i) % 3) envd_peer_check(peer, e2b_process_next(list[i], &event, 0), E2B_OK);
            assert_int_equal(event.kind, (round + i) % 3 ? E2B_EVENT_OUT : E2B_EVENT_NONE);
        }
    }
    for (size_t i = 0; i < COUNT; i++) e2b_process_close(&processes[i]);
}

/* A quiet one's word among noisy ones is reported in the very next wait. */
static void test_a_quiet_one_is_heard(void **state)
{
    envd_peer *peer = *state;
    e2b_process noisy, quiet, *list[2] = {&noisy, &quiet};
    size_t ready;
    e2b_event event;
    talking_stream(peer, 0, 1000000, "noise");
    envd_peer_start(peer, &noisy, false);
    talking_stream(peer, 0, 1, "word");
    envd_peer_start(peer, &quiet, false);
    bool heard = false;
    for (int round = 0; round < 3 && !heard; round++) {
        envd_peer_check(peer, wait(peer, list, 2, E2B_NO_LIMIT, &ready), E2B_OK);
        for (size_t i = 0; i < ready; i++) {
            envd_peer_check(peer, e2b_process_next(list[i], &event, 0), E2B_OK);
            heard = heard || (list[i] == &quiet && event.kind == E2B_EVENT_OUT);
        }
    }
    assert_true(heard);
    e2b_process_close(&noisy);
    e2b_process_close(&quiet);
}

/* Also with one at hand that needs no port, it is asked about the others. */
static void test_the_port_is_asked_all_the_same(void **state)
{
    envd_peer *peer = *state;
    e2b_process closed, talking, *list[2] = {&closed, &talking};
    size_t ready;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &closed, false);
    e2b_process_close(&closed);
    talking_stream(peer, 0, 1, "word");
    envd_peer_start(peer, &talking, false);
    envd_peer_check(peer, wait(peer, list, 2, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 2);
    assert_int_equal(peer->port.now_ms, 0);
    e2b_process_close(&talking);
}

/* ---- What runs beside the streams --------------------------------------------------------- */

static void test_input_is_stepped(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[1] = {&process};
    static uint8_t bytes[100000];
    size_t ready;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, true);
    e2b_memory_script *script = envd_peer_always(peer, "/SendInput");
    e2b_memory_advance(script, 25);
    envd_write_reply(script, 200, "{}");
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_process_send(&process, bytes, sizeof bytes), E2B_OK);
    envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 1);
    assert_int_equal(peer->port.now_ms, 100);
    envd_peer_next(peer, &process, E2B_EVENT_SENT);
    e2b_process_close(&process);
}

/* Also that of a process whose output nobody reads at the moment. */
static void test_input_is_stepped_beside_unread_output(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    three_in_one(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_reply_always(peer, "/SendInput", 200, "{}");
    envd_peer_check(peer, e2b_process_send(&process, "x", 1), E2B_OK);
    for (int i = 0; i < 5; i++) envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(envd_peer_count(peer, "/SendInput"), 1);
    envd_peer_next(peer, &process, E2B_EVENT_SENT);
    e2b_process_close(&process);
}

/* The end of one's input gives no event; the slot it gives back is used at once. */
static void test_a_freed_slot_is_used(void **state)
{
    envd_peer *peer = *state;
    e2b_process first, second, *list[2] = {&second, &first};
    size_t ready;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &first, true);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &second, true);
    e2b_memory_script *script = envd_peer_answer(peer, "/CloseStdin");
    e2b_memory_advance(script, 50);
    envd_write_reply(script, 200, "{}");
    envd_peer_done(peer);
    envd_peer_reply(peer, "/SendInput", 200, "{}");
    envd_peer_check(peer, e2b_process_end_input(&first), E2B_OK);
    envd_peer_nothing(peer, &first, 0);
    envd_peer_check(peer, e2b_process_send(&second, "x", 1), E2B_OK);
    envd_peer_check(peer, wait(peer, list, 2, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 1);
    assert_ptr_equal(list[0], &second);
    assert_int_equal(peer->port.now_ms, 50);
    envd_peer_next(peer, &second, E2B_EVENT_SENT);
    e2b_process_close(&first);
    e2b_process_close(&second);
}

static void test_a_connect_limit_ends_the_wait(void **state)
{
    envd_peer *peer = *state;
    uint8_t steps[8];
    e2b_memory_script links;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    e2b_memory_script_init(&links, steps, sizeof steps);
    e2b_memory_accept(&links);
    e2b_memory_hang(&links);
    envd_peer_restart(peer, &(envd_peer_options){.links = &links});
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_check(peer, e2b_process_send(&process, "x", 1), E2B_OK);
    envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 1);
    assert_int_equal(peer->port.now_ms, 10000);
    e2b_event event = envd_peer_next(peer, &process, E2B_EVENT_INPUT_END);
    assert_int_equal(event.code, E2B_CONNECT_TIMEOUT);
    e2b_process_close(&process);
}

static void test_silence_is_looked_into(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    envd_peer_reply(peer, "/List", 200, "{\"processes\":[{\"pid\":7}]}");
    envd_peer_reply(peer, "/List", 200, "{}");
    envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 1);
    assert_int_equal(peer->port.now_ms, 240000);
    envd_peer_fails(peer, &process, E2B_IDLE);
    assert_true(peer->port.waits < 30);
}

/* ---- How a wait ends -------------------------------------------------------------------------- */

/* A handle given many times: no link stands in the table twice as often as there is room for. */
static void test_one_handle_many_times(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[300];
    char strings[512];
    size_t ready;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
    talking_stream(peer, 100, 1, "x");
    envd_peer_start(peer, &process, false);
    for (size_t i = 0; i < 300; i++) list[i] = &process;
    size_t kept = peer->client.api_key.len + peer->client.user_agent.len;
    memcpy(strings, peer->client.api_key.ptr, kept);
    envd_peer_check(peer, wait(peer, list, 300, 50, &ready), E2B_OK);
    assert_int_equal(ready, 0);
    assert_memory_equal(peer->client.api_key.ptr, strings, kept);
    envd_peer_check(peer, wait(peer, list, 300, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_true(ready > 0);
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "x");
    e2b_process_close(&process);
}

static void test_cancelled(void **state)
{
    envd_peer *peer = *state;
    volatile int cancel = 0;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    envd_peer_restart(peer, &(envd_peer_options){.cancel = &cancel});
    talking_stream(peer, 100, 1, "x");
    envd_peer_start(peer, &process, false);
    peer->port.cancel = &cancel;
    peer->port.cancel_wait = peer->port.waits + 1;
    envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_CANCELLED);
    assert_int_equal(ready, 0);
    cancel = 0;
    envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 1);
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "x");
    e2b_process_close(&process);
}

/* Without a wake descriptor each of the port's waits is short; the flag is looked at in between. */
static void test_short_waits(void **state)
{
    envd_peer *peer = *state;
    volatile int cancel = 0;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    envd_peer_restart(peer, &(envd_peer_options){.cancel = &cancel});
    peer->port.port.wake_ms = 100;
    talking_stream(peer, 1050, 1, "x");
    envd_peer_start(peer, &process, false);
    uint64_t waits = peer->port.waits;
    envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 1); /* a cut-off wait is no early end */
    assert_int_equal(peer->port.now_ms, 1050);
    assert_int_equal(peer->port.waits - waits, 11);
    e2b_process_close(&process);
}

static int32_t woken_wait(void *context, e2b_wait_item *items, size_t count, uint64_t *space, uint32_t timeout_ms)
{
    e2b_memory_port *port = context;
    (void)space;
    (void)timeout_ms;
    for (size_t i = 0; i < count; i++) items[i].ready = 0;
    port->now_ms++; /* a signal after a millisecond */
    return E2B_IO_OK;
}

/* A signal, or a descriptor of the caller's own: the caller gets its turn. */
static void test_woken(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    peer->port.port.wait = woken_wait;
    envd_peer_check(peer, wait(peer, list, 1, E2B_NO_LIMIT, &ready), E2B_OK);
    assert_int_equal(ready, 0);
    assert_int_equal(peer->port.now_ms, 1);
    envd_peer_nothing(peer, &process, E2B_NO_LIMIT);
    assert_int_equal(peer->port.now_ms, 2);
    e2b_process_close(&process);
}

static void test_the_port_fails(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, *list[1] = {&process};
    size_t ready;
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    peer->port.fail_call = peer->port.calls + 1;
    peer->port.fail_outcome = E2B_IO_FAILED;
    envd_peer_check(peer, wait(peer, list, 1, 10, &ready), E2B_PORT);
    assert_int_equal(ready, 0);
    e2b_process_close(&process);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_the_ready_ones_come_first), TEST(test_what_needs_no_port), TEST(test_unread_bytes), TEST(test_an_end_by_length),
        TEST(test_other_clients_and_none), TEST(test_none_is_starved), TEST(test_a_quiet_one_is_heard), TEST(test_the_port_is_asked_all_the_same), TEST(test_input_is_stepped),
        TEST(test_input_is_stepped_beside_unread_output), TEST(test_a_freed_slot_is_used), TEST(test_a_connect_limit_ends_the_wait),
        TEST(test_silence_is_looked_into), TEST(test_one_handle_many_times), TEST(test_cancelled), TEST(test_short_waits), TEST(test_woken), TEST(test_the_port_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
