/* A whole flow, again and again, and each time another call of the port fails:
 * every call, with every outcome. Whatever happens, errors are documented ones,
 * what was lent is given back, no slot stays in use, and nothing hangs. */
#include "envd_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char expected[] = "output before, output after";
static uint8_t bytes[40000];

typedef struct run {
    envd_peer *peer;
    e2b_process process;
    char output[64];
    size_t output_len;
    unsigned sent, input_ends;
    e2b_err start, stream, list, signal, health, kill;
} run;

/* The daemon: the process ends when its input does or when it is signalled. */
static void lay_answers(envd_peer *peer)
{
    e2b_memory_script *script = envd_peer_always(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    envd_write_text(peer, E2B_EVENT_OUT, "output before,");
    e2b_memory_after(script, 1, 1);
    envd_write_text(peer, E2B_EVENT_OUT, " output after");
    envd_write_finish(peer, 0);
    envd_peer_done(peer);
    envd_peer_reply_always(peer, "/SendInput", 200, peer->codec ? "" : "{}");
    static const char *const ends[] = {"/CloseStdin", "/SendSignal"};
    for (size_t i = 0; i < 2; i++) {
        script = envd_peer_always(peer, ends[i]);
        e2b_memory_pass(script, 1);
        envd_write_reply(script, 200, peer->codec ? "" : "{}");
        envd_peer_done(peer);
    }
    envd_peer_reply_always(peer, "/List", 200, "{\"processes\":[{\"pid\":7,\"config\":{\"cmd\":\"cat\"}},{\"pid\":8}]}");
    envd_peer_reply_always(peer, "/health", 200, "{}");
    e2b_memory_text(envd_peer_always(peer, "/sandboxes/isandbox1"), "HTTP/1.1 204 No Content\r\n\r\n");
    envd_peer_done(peer);
}

static void signal_twice(run *r)
{
    r->signal = e2b_process_signal(&r->process, E2B_SIGNAL_TERM);
    if (r->signal) assert_int_equal(e2b_process_signal(&r->process, E2B_SIGNAL_TERM), E2B_OK);
}

static void take_event(run *r, const e2b_event *event)
{
    switch (event->kind) {
    case E2B_EVENT_OUT:
        assert_true(r->output_len + event->data.len < sizeof r->output);
        memcpy(r->output + r->output_len, event->data.ptr, event->data.len);
        r->output_len += event->data.len;
        break;
    case E2B_EVENT_SENT: r->sent++; break;
    case E2B_EVENT_INPUT_END:
        r->input_ends++;
        assert_true(event->code != E2B_OK && strcmp(e2b_err_name(event->code), "E2B_?") != 0);
        assert_true(event->taken <= sizeof bytes && event->taken % 32768 == 0);
        assert_int_equal(e2b_process_send(&r->process, bytes, 1), event->code);
        signal_twice(r); /* it would wait for its input for ever */
        break;
    default: break;
    }
}

static void read_stream(run *r)
{
    e2b_event event;
    do {
        r->stream = e2b_process_next(&r->process, &event, E2B_NO_LIMIT);
        if (!r->stream) take_event(r, &event);
    } while (!r->stream && event.kind != E2B_EVENT_END);
    assert_null(r->process.lent);
    assert_int_equal(e2b_process_next(&r->process, &event, E2B_NO_LIMIT), r->stream);
    if (!r->stream) assert_int_equal(event.kind, E2B_EVENT_END);
    e2b_process_close(&r->process);
}

static void flow(run *r)
{
    static const char *const argv[] = {"/bin/cat"};
    envd_peer *peer = r->peer;
    e2b_process_options options = {.input = true};
    r->start = e2b_process_start(&peer->sandbox, &r->process, argv, 1, &options);
    if (!r->start) {
        assert_int_equal(e2b_process_send(&r->process, bytes, sizeof bytes), E2B_OK);
        assert_int_equal(e2b_process_end_input(&r->process), E2B_OK);
        read_stream(r);
        signal_twice(r);
    }
    e2b_process_close(&r->process);
    e2b_process_list list;
    e2b_process_info info = {0};
    r->list = e2b_process_list_open(&peer->sandbox, &list, NULL);
    while (!r->list && !(r->list = e2b_process_list_next(&list, &info)) && info.pid) {}
    e2b_process_list_close(&list);
    r->health = e2b_sandbox_health(&peer->sandbox);
    r->kill = e2b_sandbox_kill(&peer->sandbox);
}

static void documented(e2b_err err)
{
    assert_string_not_equal(e2b_err_name(err), "E2B_?");
}

static void check(run *r)
{
    envd_peer *peer = r->peer;
    const e2b_err all[] = {r->start, r->stream, r->list, r->signal, r->health, r->kill};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) documented(all[i]);
    assert_true(r->output_len <= strlen(expected));
    assert_memory_equal(r->output, expected, r->output_len); /* a true prefix */
    if (!r->start && !r->stream) assert_int_equal(r->output_len, strlen(expected));
    if (!r->start && !r->stream) assert_true(r->sent + r->input_ends >= 1 && r->input_ends <= 1);
    if (r->start && !e2b_err_may_have_run(r->start)) assert_int_equal(envd_peer_count(peer, "/Start"), 0);
    assert_true(envd_peer_count(peer, "/Start") <= 1);
    envd_peer_slots_free(peer);
    /* Everything can be done again. */
    assert_int_equal(peer->sandbox.state, r->kill ? E2B_SANDBOX_LIVE : E2B_SANDBOX_GONE);
    envd_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_GONE);
    envd_peer_sandbox(peer, &peer->sandbox, "isandbox1", "0.6.13");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    e2b_client_close(&peer->client);
    assert_int_equal(peer->port.opened, peer->port.closes);
}

static uint64_t play(envd_peer *peer, const envd_peer_options *options, uint64_t fail_call, int32_t outcome)
{
    run r;
    memset(&r, 0, sizeof r);
    r.peer = peer;
    envd_peer_restart(peer, options);
    peer->tolerant = true;
    peer->waits_allowed = 2000;
    lay_answers(peer);
    peer->port.fail_call = fail_call;
    peer->port.fail_outcome = outcome;
    flow(&r);
    uint64_t calls = peer->port.calls;
    if (!fail_call || fail_call > calls) {
        const e2b_err all[] = {r.start, r.stream, r.list, r.signal, r.health, r.kill};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) assert_int_equal(all[i], E2B_OK);
        assert_int_equal(r.sent, 1);
        assert_int_equal(r.input_ends, 0);
    }
    check(&r);
    return calls;
}

static void test_every_call_with_every_outcome(void **state)
{
    static const int32_t outcomes[] = {E2B_IO_AGAIN, E2B_IO_END, E2B_IO_END_UNCLEAN, E2B_IO_RESET, E2B_IO_FAILED,
                                       E2B_IO_RESOLVE, E2B_IO_CONNECT, E2B_IO_UNSUPPORTED, E2B_IO_TLS};
    envd_peer *peer = *state;
    size_t runs = 0;
    for (int way = 0; way < 4; way++) {
        envd_peer_options options = {.codec = way & 1 ? E2B_CODEC_PROTO : E2B_CODEC_JSON, .connections = way & 2 ? 2 : 3};
        uint64_t calls = play(peer, &options, 0, 0);
        assert_true(calls > 50);
        for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++)
            for (uint64_t call = 1; call <= calls; call++, runs++) play(peer, &options, call, outcomes[i]);
    }
    print_message("# %zu runs\n", runs);
}

/* The clock stands still in the port's hands: a wait may also fail every time. */
static int32_t broken_wait(void *context, e2b_wait_item *items, size_t count, uint64_t *space, uint32_t timeout_ms)
{
    (void)context;
    (void)space;
    (void)timeout_ms;
    for (size_t i = 0; i < count; i++) items[i].ready = 0;
    return E2B_IO_FAILED;
}

static void test_a_wait_that_never_works(void **state)
{
    envd_peer *peer = *state;
    run r;
    memset(&r, 0, sizeof r);
    r.peer = peer;
    peer->tolerant = true;
    lay_answers(peer);
    envd_peer_silence(peer, "/Start");
    peer->port.port.wait = broken_wait;
    static const char *const argv[] = {"/bin/cat"};
    e2b_err err = e2b_process_start(&peer->sandbox, &r.process, argv, 1, NULL);
    assert_true(err == E2B_OK || err == E2B_PORT);
    e2b_event event;
    while (!err) err = e2b_process_next(&r.process, &event, E2B_NO_LIMIT);
    assert_int_equal(err, E2B_PORT);
    envd_peer_slots_free(peer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {TEST(test_every_call_with_every_outcome), TEST(test_a_wait_that_never_works)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
