/* A process's stream: opened, read event by event, closed. */
#include "envd_peer.h"

#include "wire/conn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const argv_true[] = {"/bin/true"};
static const int32_t codecs[] = {E2B_CODEC_JSON, E2B_CODEC_PROTO};

static void with_codec(envd_peer *peer, int32_t codec)
{
    envd_peer_restart(peer, &(envd_peer_options){.codec = codec});
}

static e2b_err start(envd_peer *peer, e2b_process *process, const e2b_process_options *options)
{
    return e2b_process_start(&peer->sandbox, process, argv_true, 1, options);
}

/* ---- What is sent -------------------------------------------------------------- */

static void check_envelope(envd_peer *peer, size_t number, const char *json)
{
    const char *body = envd_peer_body(peer, number);
    assert_memory_equal(body, "\0\0\0", 4);
    assert_string_equal(body + 5, json);
    assert_int_equal((uint8_t)body[4], strlen(json));
    assert_int_equal(peer->body_length[number], strlen(json) + 5);
}

static void test_start_request(void **state)
{
    envd_peer *peer = *state;
    static const char *const argv[] = {"printf", "%s\n", "", "\"q\"", "\xc3\xbc"};
    static const e2b_pair env[] = {{"A", "1"}, {"B", "x=y\r\n"}};
    e2b_process process;
    envd_peer_quiet_stream(peer);
    envd_peer_check(peer, e2b_process_start(&peer->sandbox, &process, argv, 5, &(e2b_process_options){
        .user = "root", .cwd = "/tmp/a b", .env = env, .env_count = 2, .tag = "t1", .timeout_ms = 1500}), E2B_OK);
    assert_int_equal(process.pid, 7);
    check_envelope(peer, 0, "{\"process\":{\"cmd\":\"printf\",\"args\":[\"%s\\n\",\"\",\"\\\"q\\\"\",\"\\u00fc\"],"
                            "\"envs\":{\"A\":\"1\",\"B\":\"x=y\\r\\n\"},\"cwd\":\"/tmp/a b\"},\"tag\":\"t1\",\"stdin\":false}");
    assert_true(envd_peer_contains(peer, 0, "\r\nAuthorization: Basic cm9vdDo=\r\n"));
    assert_true(envd_peer_contains(peer, 0, "\r\nConnect-Timeout-Ms: 1500\r\n"));
    e2b_process_close(&process);
}

static void test_shell_request(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_quiet_stream(peer);
    envd_peer_check(peer, e2b_process_shell(&peer->sandbox, &process, "echo 'a'\necho b", &(e2b_process_options){
        .timeout_ms = E2B_NO_LIMIT, .input = true}), E2B_OK);
    check_envelope(peer, 0, "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"echo 'a'\\necho b\"]},\"stdin\":true}");
    assert_false(envd_peer_contains(peer, 0, "Connect-Timeout-Ms"));
    assert_false(envd_peer_contains(peer, 0, "Authorization"));
    e2b_process_close(&process);
    envd_peer_check(peer, e2b_process_shell(&peer->sandbox, &process, NULL, NULL), E2B_INVALID);
}

/* Before 0.4.0 the daemon's own default is root; nothing else is the user "user". */
static void test_default_user(void **state)
{
    static const struct { const char *version, *user, *header; } cases[] = {
        {"0.3.9", NULL, "\r\nAuthorization: Basic dXNlcjo=\r\n"},
        {"0.1.5", NULL, "\r\nAuthorization: Basic dXNlcjo=\r\n"},
        {"0.3.9", "root", "\r\nAuthorization: Basic cm9vdDo=\r\n"},
        {"0.4.0", "root", "\r\nAuthorization: Basic cm9vdDo=\r\n"},
        {"0.4.0", NULL, NULL},
        {"1.0.0", NULL, NULL},
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        e2b_process process;
        envd_peer_restart(peer, &(envd_peer_options){.version = cases[i].version});
        envd_peer_quiet_stream(peer);
        envd_peer_check(peer, start(peer, &process, &(e2b_process_options){.user = cases[i].user}), E2B_OK);
        assert_int_equal(envd_peer_contains(peer, 0, cases[i].header ? cases[i].header : "Authorization"), cases[i].header != NULL);
        /* The other calls carry no user. */
        envd_peer_reply(peer, "/SendSignal", 200, "{}");
        envd_peer_check(peer, e2b_process_signal(&process, E2B_SIGNAL_KILL), E2B_OK);
        assert_false(envd_peer_contains(peer, 1, "Authorization"));
        e2b_process_close(&process);
    }
}

static void test_connect_request(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 4});
    for (uint32_t pid = 41; pid < 43; pid++) {
        envd_write_head(envd_peer_answer(peer, "/process.Process/Connect"));
        envd_write_started(peer, pid);
        envd_write_text(peer, E2B_EVENT_PTY, "tty");
        envd_write_finish(peer, 0);
        envd_peer_done(peer);
    }
    envd_peer_check(peer, e2b_process_connect(&peer->sandbox, &process, 41, "ignored", &(e2b_process_options){.timeout_ms = 9}), E2B_OK);
    assert_int_equal(process.pid, 41);
    check_envelope(peer, 0, "{\"process\":{\"pid\":41}}");
    assert_true(envd_peer_contains(peer, 0, "\r\nConnect-Timeout-Ms: 9\r\n"));
    assert_false(envd_peer_contains(peer, 0, "Authorization"));
    envd_peer_text(peer, &process, E2B_EVENT_PTY, "tty");
    envd_peer_next(peer, &process, E2B_EVENT_END);
    envd_peer_check(peer, e2b_process_connect(&peer->sandbox, &process, 0, "a \"tag\"", NULL), E2B_OK);
    check_envelope(peer, 1, "{\"process\":{\"tag\":\"a \\\"tag\\\"\"}}");
    assert_int_equal(process.pid, 42); /* a tag's pid comes with the answer */
    e2b_process_close(&process);
}

/* Streams hold at most all slots but one. */
static void test_one_slot_stays_free(void **state)
{
    envd_peer *peer = *state;
    e2b_process processes[3];
    for (int i = 0; i < 2; i++) {
        envd_peer_quiet_stream(peer);
        envd_peer_check(peer, start(peer, &processes[i], NULL), E2B_OK);
    }
    uint64_t sent = peer->port.sent;
    envd_peer_check(peer, start(peer, &processes[2], NULL), E2B_BUSY);
    assert_int_equal(peer->port.sent, sent);
    envd_peer_reply(peer, "/health", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    e2b_process_close(&processes[0]);
    envd_peer_quiet_stream(peer);
    envd_peer_check(peer, start(peer, &processes[2], NULL), E2B_OK);
    e2b_process_close(&processes[1]);
    e2b_process_close(&processes[2]);
}

/* ---- Opening that fails ---------------------------------------------------------- */

static void test_answers_that_are_no_stream(void **state)
{
    static const struct { int status; const char *body; e2b_err err; const char *words; } cases[] = {
        {502, "{\"sandboxId\":\"isandbox1\",\"message\":\"The sandbox was not found\",\"code\":502}", E2B_NOT_RUNNING, "not running"},
        {502, "<!DOCTYPE html><html><body>Bad Gateway</body></html>", E2B_GATEWAY, "between here and the service"},
        {401, "{\"code\":401,\"message\":\"unauthorized access, please provide a valid access token\"}\n", E2B_UNAUTHENTICATED, "unauthorized access"},
        {404, "404 page not found\n", E2B_UNIMPLEMENTED, "does not know"},
        {415, "", E2B_BAD_REQUEST, "refused"},
        {301, "", E2B_REDIRECT, "check the URL"},
        {204, "", E2B_HTTP, "status"},
        {500, "{\"code\":\"internal\",\"message\":\"oh\"}", E2B_SERVER, "oh"},
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        e2b_process process;
        envd_peer_restart(peer, NULL);
        envd_peer_reply(peer, "/Start", cases[i].status, cases[i].body);
        envd_peer_check(peer, start(peer, &process, NULL), cases[i].err);
        envd_peer_words(peer, cases[i].err, cases[i].words);
        assert_int_equal(peer->client.error.http_status, cases[i].status);
        assert_int_equal(process.exit_known, E2B_EXIT_UNKNOWN);
        assert_true(e2b_process_next(&process, &(e2b_event){0}, 0) != E2B_OK);
        e2b_process_close(&process);
        envd_peer_slots_free(peer);
    }
}

/* Every Connect code in the end-of-stream message, before the start event. */
static void test_errors_in_the_stream(void **state)
{
    static const struct { const char *code; e2b_err err; int32_t rpc; } cases[] = {
        {"canceled", E2B_SERVER, 1}, {"unknown", E2B_SERVER, 2}, {"invalid_argument", E2B_BAD_REQUEST, 3},
        {"deadline_exceeded", E2B_COMMAND_TIMEOUT, 4}, {"not_found", E2B_NOT_FOUND, 5}, {"already_exists", E2B_EXISTS, 6},
        {"permission_denied", E2B_FORBIDDEN, 7}, {"resource_exhausted", E2B_RATE_LIMITED, 8}, {"failed_precondition", E2B_CONFLICT, 9},
        {"aborted", E2B_CONFLICT, 10}, {"out_of_range", E2B_BAD_REQUEST, 11}, {"unimplemented", E2B_UNIMPLEMENTED, 12},
        {"internal", E2B_SERVER, 13}, {"unavailable", E2B_GATEWAY, 14}, {"data_loss", E2B_SERVER, 15}, {"unauthenticated", E2B_UNAUTHENTICATED, 16},
        {"no_such_code", E2B_PROTOCOL, 0},
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        char last[128];
        e2b_process process;
        size_t at = i / 2;
        with_codec(peer, codecs[i % 2]);
        snprintf(last, sizeof last, "{\"error\":{\"code\":\"%s\",\"message\":\"cwd '/nope' \\u003cmissing\\u003e\"}}", cases[at].code);
        envd_write_head(envd_peer_answer(peer, "/Start"));
        envd_write_last(peer, last);
        envd_write_close(peer);
        envd_peer_done(peer);
        envd_peer_check(peer, start(peer, &process, NULL), cases[at].err);
        envd_peer_words(peer, cases[at].err, "cwd '/nope' <missing>");
        assert_int_equal(peer->client.error.rpc_code, cases[at].rpc);
        envd_peer_fails(peer, &process, cases[at].err);
    }
}

static void test_open_limit(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_silence(peer, "/Start");
    envd_peer_check(peer, start(peer, &process, NULL), E2B_REPLY_TIMEOUT);
    assert_int_equal(peer->port.now_ms, 60000);
    /* A head and keepalives are no start. */
    peer->client.limits.open_ms = 2000;
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    e2b_memory_repeat(script, 1000000);
    e2b_memory_advance(script, 50);
    envd_write_keepalive(peer);
    e2b_memory_repeat_end(script);
    envd_peer_done(peer);
    envd_peer_check(peer, start(peer, &process, NULL), E2B_REPLY_TIMEOUT);
    assert_int_equal(peer->port.now_ms, 62000);
    envd_peer_slots_free(peer);
    assert_int_equal(peer->port.aborts + peer->port.closes > 0, 1);
}

static void test_never_repeated(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_reply(peer, "/health", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    e2b_memory_reset(envd_peer_answer(peer, "/Start"));
    envd_peer_done(peer);
    envd_peer_check(peer, start(peer, &process, NULL), E2B_NO_REPLY);
    assert_int_equal(envd_peer_count(peer, "/Start"), 1);
    assert_true(e2b_err_may_have_run(E2B_NO_REPLY));
    /* A kept link that was not used for 5 s is not trusted with it. */
    envd_peer_reply(peer, "/health", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    peer->port.now_ms += 5001;
    uint32_t opened = peer->port.opened;
    envd_peer_quiet_stream(peer);
    envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
    assert_int_equal(peer->port.opened, opened + 1);
    e2b_process_close(&process);
}

static void write_json(e2b_memory_script *script, const char *json)
{
    envd_write_message(script, 0, json, strlen(json));
}

/* ---- Events ------------------------------------------------------------------------ */

static void test_events(void **state)
{
    envd_peer *peer = *state;
    for (size_t i = 0; i < 2; i++) {
        e2b_process process, moved;
        with_codec(peer, codecs[i]);
        e2b_memory_script *script = envd_peer_answer(peer, "/Start");
        envd_write_head(script);
        envd_write_keepalive(peer); /* also before the start */
        envd_write_started(peer, 7);
        envd_write_text(peer, E2B_EVENT_OUT, "one");
        envd_write_keepalive(peer);
        envd_write_text(peer, E2B_EVENT_OUT, ""); /* an empty one is nothing */
        envd_write_text(peer, E2B_EVENT_ERR, "two");
        if (i == 0) write_json(script, "{\"event\":{\"news\":{\"x\":[1,{}]}},\"more\":1}");
        else envd_write_message(script, 0, "\x0a\x04\x52\x02\x08\x01", 6); /* member 10 */
        if (i == 1) envd_write_message(script, 0, "", 0); /* a message of nothing but defaults */
        e2b_memory_advance(script, 500);
        envd_write_data(peer, E2B_EVENT_OUT, "\0\xff\n", 3);
        envd_write_finish(peer, 3);
        envd_peer_done(peer);
        envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
        envd_peer_text(peer, &process, E2B_EVENT_OUT, "one");
        moved = process; /* a handle may be moved between calls */
        memset(&process, 0xa5, sizeof process);
        envd_peer_text(peer, &moved, E2B_EVENT_ERR, "two");
        envd_peer_nothing(peer, &moved, 0);
        uint64_t then = peer->port.now_ms;
        envd_peer_nothing(peer, &moved, 100);
        assert_int_equal(peer->port.now_ms, then + 100);
        e2b_event event = envd_peer_next(peer, &moved, E2B_EVENT_OUT);
        assert_int_equal(event.data.len, 3);
        assert_memory_equal(event.data.ptr, "\0\xff\n", 3);
        for (int again = 0; again < 3; again++) {
            event = envd_peer_next(peer, &moved, E2B_EVENT_END);
            assert_int_equal(event.exit_code, 3);
            assert_true(event.exited);
            assert_int_equal(event.status.len, 13);
            assert_memory_equal(event.status.ptr, "exit status 3", 13);
        }
        assert_int_equal(moved.exit_code, 3);
        assert_int_equal(moved.exit_known, E2B_EXIT_CONFIRMED);
        envd_peer_slots_free(peer);
        e2b_process_close(&moved);
        assert_int_equal(e2b_process_next(&moved, &event, 0), E2B_CLOSED);
    }
}

static void test_killed_by_a_signal(void **state)
{
    envd_peer *peer = *state;
    for (size_t i = 0; i < 2; i++) {
        e2b_process process;
        with_codec(peer, codecs[i]);
        envd_write_head(envd_peer_answer(peer, "/Start"));
        envd_write_started(peer, UINT32_MAX);
        envd_write_ended(peer, -1, false, "signal: killed");
        envd_write_last(peer, "{\"metadata\":{\"a\":[\"b\"]}}");
        envd_write_close(peer);
        envd_peer_done(peer);
        envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
        assert_true(process.pid == UINT32_MAX);
        e2b_event event = envd_peer_next(peer, &process, E2B_EVENT_END);
        assert_int_equal(event.exit_code, -1);
        assert_false(event.exited);
        assert_memory_equal(event.status.ptr, "signal: killed", event.status.len);
    }
}

/* A message larger than the buffer passes in pieces that fit it. */
static void test_large_output_through_a_small_buffer(void **state)
{
    envd_peer *peer = *state;
    static uint8_t bytes[32768];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7 + (i >> 8));
    for (size_t i = 0; i < 2; i++) {
        e2b_process process;
        size_t got = 0;
        with_codec(peer, codecs[i]);
        envd_write_head(envd_peer_answer(peer, "/Start"));
        envd_write_started(peer, 7);
        envd_write_data(peer, E2B_EVENT_OUT, bytes, sizeof bytes);
        envd_write_finish(peer, 0);
        envd_peer_done(peer);
        envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
        while (got < sizeof bytes) {
            e2b_event event = envd_peer_next(peer, &process, E2B_EVENT_OUT);
            assert_true(event.data.len > 0 && event.data.len <= 1024);
            assert_true(event.data.len <= sizeof bytes - got);
            assert_memory_equal(event.data.ptr, bytes + got, event.data.len);
            got += event.data.len;
        }
        envd_peer_next(peer, &process, E2B_EVENT_END);
    }
}

/* ---- Streams that end badly ---------------------------------------------------------- */

enum { CLEAN, UNCLEAN, RESET, BODY_END };

static void end_link(envd_peer *peer, int how)
{
    if (how == CLEAN) e2b_memory_end(&peer->script);
    if (how == UNCLEAN) e2b_memory_end_unclean(&peer->script);
    if (how == RESET) e2b_memory_reset(&peer->script);
    if (how == BODY_END) envd_write_close(peer);
}

/* However politely the socket closed: no end-of-stream message, no END. */
static void test_truncated(void **state)
{
    envd_peer *peer = *state;
    for (int i = 0; i < 16; i++) {
        e2b_process process;
        bool ended = i & 8;
        with_codec(peer, codecs[i >> 2 & 1]);
        envd_write_head(envd_peer_answer(peer, "/Start"));
        envd_write_started(peer, 7);
        envd_write_text(peer, E2B_EVENT_OUT, "some");
        if (ended) envd_write_ended(peer, 5, true, "exit status 5");
        end_link(peer, i & 3);
        envd_peer_done(peer);
        envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
        envd_peer_text(peer, &process, E2B_EVENT_OUT, "some");
        envd_peer_fails(peer, &process, E2B_TRUNCATED);
        envd_peer_words(peer, E2B_TRUNCATED, "cut off");
        assert_int_equal(process.exit_known, ended ? E2B_EXIT_UNCONFIRMED : E2B_EXIT_UNKNOWN);
        if (ended) assert_int_equal(process.exit_code, 5);
        envd_peer_slots_free(peer);
    }
}

/* An error that the stream itself names, after output, with and without an end event. */
static void test_error_at_the_end(void **state)
{
    envd_peer *peer = *state;
    for (int i = 0; i < 4; i++) {
        e2b_process process;
        with_codec(peer, codecs[i & 1]);
        envd_write_head(envd_peer_answer(peer, "/Start"));
        envd_write_started(peer, 7);
        if (i & 2) envd_write_ended(peer, 9, true, "exit status 9");
        envd_write_last(peer, "{\"error\":{\"code\":\"deadline_exceeded\",\"message\":\"context deadline exceeded\"}}");
        envd_write_close(peer);
        envd_peer_done(peer);
        envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
        envd_peer_fails(peer, &process, E2B_COMMAND_TIMEOUT);
        envd_peer_words(peer, E2B_COMMAND_TIMEOUT, "context deadline exceeded");
        assert_int_equal(process.exit_known, i & 2 ? E2B_EXIT_UNCONFIRMED : E2B_EXIT_UNKNOWN);
    }
}

static void test_no_exit(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_write_head(envd_peer_answer(peer, "/Start"));
    envd_write_started(peer, 7);
    envd_write_text(peer, E2B_EVENT_OUT, "x");
    envd_write_last(peer, "{}");
    envd_write_close(peer);
    envd_peer_done(peer);
    envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "x");
    envd_peer_fails(peer, &process, E2B_NO_EXIT);
}

static void bad_json(envd_peer *peer, int which)
{
    e2b_memory_script *script = &peer->script;
    switch (which) {
    case 0: envd_write_ended(peer, 0, true, "exit status 0"); envd_write_text(peer, E2B_EVENT_OUT, "late"); break;
    case 1: envd_write_ended(peer, 0, true, "exit status 0"); envd_write_ended(peer, 1, true, "exit status 1"); break;
    case 2: write_json(script, "{\"event\":{\"data\":{\"stdout\":\"YQ==\",\"stderr\":\"YQ==\"}}}"); break;
    case 3: write_json(script, "{\"event\":{\"data\":{\"stdout\":\"YQ\"}}}"); break;
    case 4: write_json(script, "{\"event\":"); break;
    case 5: envd_write_message(script, 4, "{}", 2); break; /* a flag nobody knows */
    case 6: envd_write_last(peer, "oh no"); break;
    case 7: envd_write_last(peer, ""); break;
    case 9: write_json(script, "{\"event\":{\"data\":{\"stdout\":\"YQ==\"}}"); break; /* a brace too few */
    default: envd_write_message(script, 1, "\x1f\x8b", 2); break; /* compressed */
    }
}

/* What breaks the protocol is an error; what was delivered before it is a true prefix. */
static void test_broken_messages(void **state)
{
    envd_peer *peer = *state;
    for (int which = 0; which < 10; which++) {
        e2b_process process;
        e2b_event event;
        e2b_err err;
        envd_peer_restart(peer, NULL);
        envd_write_head(envd_peer_answer(peer, "/Start"));
        envd_write_started(peer, 7);
        envd_write_text(peer, E2B_EVENT_OUT, "good");
        bad_json(peer, which);
        envd_write_close(peer);
        envd_peer_done(peer);
        envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
        envd_peer_text(peer, &process, E2B_EVENT_OUT, "good");
        while (!(err = e2b_process_next(&process, &event, E2B_NO_LIMIT))) {
            assert_int_equal(event.kind, E2B_EVENT_OUT);
            assert_true((which == 2 || which == 9) && event.data.len == 1 && event.data.ptr[0] == 'a');
        }
        envd_peer_check(peer, err, which == 8 ? E2B_COMPRESSED : E2B_PROTOCOL);
        envd_peer_fails(peer, &process, err);
        assert_int_equal(process.exit_known, which < 2 ? E2B_EXIT_UNCONFIRMED : E2B_EXIT_UNKNOWN);
        envd_peer_slots_free(peer);
    }
}

/* ---- Waiting and closing ---------------------------------------------------------------- */

static void test_cancelled_waits_lose_nothing(void **state)
{
    envd_peer *peer = *state;
    volatile int cancel = 0;
    e2b_process process;
    e2b_event event;
    envd_peer_restart(peer, &(envd_peer_options){.cancel = &cancel});
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_advance(script, 1000);
    envd_write_text(peer, E2B_EVENT_OUT, "after all");
    envd_write_finish(peer, 0);
    envd_peer_done(peer);
    envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
    peer->port.cancel = &cancel;
    peer->port.cancel_wait = peer->port.waits + 1;
    envd_peer_check(peer, e2b_process_next(&process, &event, E2B_NO_LIMIT), E2B_CANCELLED);
    envd_peer_check(peer, e2b_process_next(&process, &event, E2B_NO_LIMIT), E2B_CANCELLED); /* until it is cleared */
    cancel = 0;
    envd_peer_text(peer, &process, E2B_EVENT_OUT, "after all");
    envd_peer_next(peer, &process, E2B_EVENT_END);
    /* A cancelled start may have started it. */
    envd_peer_silence(peer, "/Start");
    peer->port.cancel_wait = peer->port.waits + 1;
    envd_peer_check(peer, start(peer, &process, NULL), E2B_CANCELLED);
    assert_true(e2b_err_may_have_run(E2B_CANCELLED));
    envd_peer_slots_free(peer);
    e2b_process_close(&process);
}

static void test_close(void **state)
{
    envd_peer *peer = *state;
    e2b_process zeroed = {0}, process;
    e2b_process_close(&zeroed);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, true);
    static const uint8_t byte[1];
    envd_peer_silence(peer, "/SendInput");
    envd_peer_check(peer, e2b_process_send(&process, byte, 1), E2B_OK);
    envd_peer_nothing(peer, &process, 10); /* both links are in use now */
    e2b_process_close(&process);
    envd_peer_slots_free(peer);
    assert_int_equal(peer->port.opened, peer->port.closes);
    e2b_process_close(&process);
    assert_int_equal(peer->port.opened, peer->port.closes);
    assert_int_equal(e2b_process_next(&process, &(e2b_event){0}, 0), E2B_CLOSED);
    assert_int_equal(e2b_process_send(&process, byte, 1), E2B_CLOSED);
    assert_int_equal(e2b_process_end_input(&process), E2B_CLOSED);
}

/* An open handle of a closed client is stale. Memory and port may be gone. */
static void test_after_the_client_was_closed(void **state)
{
    envd_peer *peer = *state;
    e2b_process process, other, *list[2] = {&process, &other};
    e2b_event event;
    size_t ready;
    for (int i = 0; i < 2; i++) {
        envd_peer_quiet_stream(peer);
        envd_peer_start(peer, list[i], false);
    }
    e2b_memory_port port = peer->port;
    uint8_t *memory = peer->client.conns[0].buffer;
    e2b_client_close(&peer->client);
    memset(memory - 600, 0xff, 1600);
    memset(&peer->port.port, 0, sizeof peer->port.port);
    assert_int_equal(e2b_wait(&peer->client, list, 2, 100, &ready), E2B_OK);
    assert_int_equal(ready, 2);
    assert_int_equal(e2b_process_next(&process, &event, 100), E2B_CLOSED);
    envd_peer_words(peer, E2B_CLOSED, "the client was closed");
    assert_int_equal(e2b_process_next(&process, &event, 100), E2B_CLOSED);
    e2b_process_close(&process);
    e2b_process_close(&other);
    peer->port.port = port.port;
}

/* What is bad directly behind output is so at once, not when more has come. */
static void test_broken_behind_output(void **state)
{
    envd_peer *peer = *state;
    static const char text[] = "{\"event\":{\"data\":{\"stdout\":\"Z29vZGJ5ZSEhZT{}";
    e2b_process process;
    e2b_event event;
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_text(script, "ff\r\n");
    e2b_memory_data(script, "\0\0\0\1\0", 5);
    e2b_memory_text(script, text); /* and then nothing */
    envd_peer_done(peer);
    envd_peer_check(peer, start(peer, &process, NULL), E2B_OK);
    envd_peer_check(peer, e2b_process_next(&process, &event, 1000), E2B_OK);
    assert_int_equal(event.kind, E2B_EVENT_OUT);
    envd_peer_check(peer, e2b_process_next(&process, &event, 1000), E2B_PROTOCOL);
    assert_int_equal(peer->port.now_ms, 0);
}

/* With one slot a kill takes it from the stream. */
static void test_a_kill_takes_the_stream(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 1});
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    e2b_memory_text(envd_peer_answer(peer, "/sandboxes/isandbox1"), "HTTP/1.1 204 No Content\r\n\r\n");
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    envd_peer_fails(peer, &process, E2B_CLOSED);
    envd_peer_words(peer, E2B_CLOSED, "kill");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_start_request), TEST(test_shell_request), TEST(test_default_user), TEST(test_connect_request),
        TEST(test_one_slot_stays_free),
        TEST(test_answers_that_are_no_stream), TEST(test_errors_in_the_stream), TEST(test_open_limit), TEST(test_never_repeated),
        TEST(test_events), TEST(test_killed_by_a_signal), TEST(test_large_output_through_a_small_buffer),
        TEST(test_truncated), TEST(test_error_at_the_end), TEST(test_no_exit), TEST(test_broken_messages),
        TEST(test_cancelled_waits_lose_nothing), TEST(test_after_the_client_was_closed), TEST(test_broken_behind_output),
        TEST(test_close), TEST(test_a_kill_takes_the_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
