#include "recorded_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recorded_call.h"
#include "recorded_oracle.h"

/* Longer than any limit of the client. */
#define LONG_WAIT_MS 600000u

/* ---- States -------------------------------------------------------------------- */

void recorded_save(const recorded_stream *stream, recorded_state *state, size_t slot)
{
    state->port = stream->run.port;
    memcpy(state->connections, stream->run.connections, sizeof state->connections);
    state->client = stream->run.client;
    state->process = stream->process;
    state->log = stream->log;
    state->script_length = stream->run.script.length;
    memcpy(state->memory, stream->run.memory, E2B_CLIENT_MEMORY(RECORDED_CONNECTIONS, slot));
}

void recorded_restore(recorded_stream *stream, const recorded_state *state, size_t slot)
{
    stream->run.port = state->port;
    memcpy(stream->run.connections, state->connections, sizeof state->connections);
    stream->run.client = state->client;
    stream->process = state->process;
    stream->log = state->log;
    stream->run.script.length = state->script_length;
    memcpy(stream->run.memory, state->memory, E2B_CLIENT_MEMORY(RECORDED_CONNECTIONS, slot));
}

/* ---- Reading ------------------------------------------------------------------- */

e2b_err recorded_open_stream(recorded_stream *stream, const recorded_reply *reply, const e2b_process_options *options)
{
    memset(&stream->log, 0, sizeof stream->log);
    if (recorded_is_call(reply, "process-connect"))
        return e2b_process_connect(&stream->run.sandbox, &stream->process, 22026, NULL, options);
    return e2b_process_shell(&stream->run.sandbox, &stream->process, "true", options);
}

static void take(size_t *at, e2b_str expected, e2b_str data, const recorded_reply *reply, const recorded_way *way)
{
    RECORDED_CHECK(data.len > 0);
    RECORDED_CHECK(data.len <= expected.len - *at);
    RECORDED_CHECK(memcmp(data.ptr, expected.ptr + *at, data.len) == 0);
    *at += data.len;
}

bool recorded_log_event(recorded_log *log, const e2b_event *event, const recorded_reply *reply, const recorded_way *way)
{
    switch (event->kind) {
    case E2B_EVENT_NONE: return false;
    case E2B_EVENT_OUT: take(&log->out, reply->out, event->data, reply, way); break;
    case E2B_EVENT_ERR: take(&log->err, reply->err, event->data, reply, way); break;
    case E2B_EVENT_PTY: take(&log->pty, reply->pty, event->data, reply, way); break;
    case E2B_EVENT_END:
        RECORDED_CHECK(event->exit_code == reply->exit_code);
        RECORDED_CHECK(event->exited == reply->exited);
        RECORDED_CHECK(event->status.len == reply->exit_status.len);
        RECORDED_CHECK(memcmp(event->status.ptr, reply->exit_status.ptr, event->status.len) == 0);
        log->ended = true;
        break;
    default: recorded_complain(reply, way, "an event of another kind", __LINE__);
    }
    return true;
}

static void read_on(recorded_stream *stream, const recorded_reply *reply, const recorded_way *way, uint32_t wait_ms)
{
    e2b_event event;
    recorded_log *log = &stream->log;
    while (!log->ended && !log->failed) {
        log->failed = e2b_process_next(&stream->process, &event, wait_ms);
        if (!log->failed && !recorded_log_event(log, &event, reply, way)) return;
    }
}

void recorded_read(recorded_stream *stream, const recorded_reply *reply, const recorded_way *way)
{
    uint64_t before;
    do {
        before = stream->run.port.received;
        read_on(stream, reply, way, 0);
    } while (stream->run.port.received != before);
}

/* ---- What must hold ------------------------------------------------------------- */

static void check_output(const recorded_log *log, const recorded_stream_verdict *verdict, const recorded_reply *reply,
                         const recorded_way *way)
{
    RECORDED_CHECK(log->out >= verdict->least.out && log->out <= verdict->most.out);
    RECORDED_CHECK(log->err >= verdict->least.err && log->err <= verdict->most.err);
    RECORDED_CHECK(log->pty >= verdict->least.pty && log->pty <= verdict->most.pty);
}

static void check_error(const recorded_stream *stream, e2b_err err, const recorded_verdict *verdict,
                        const recorded_reply *reply, const recorded_way *way)
{
    const e2b_client *client = &stream->run.client;
    if (err != verdict->err && err != verdict->or_err) {
        print_message("given: %s, expected: %s\n", e2b_err_name(err), e2b_err_name(verdict->err));
        recorded_complain(reply, way, "another error", __LINE__);
    }
    if (!err) return;
    RECORDED_CHECK(strcmp(e2b_reason(client, err), e2b_err_text(err)) != 0);
    if (verdict->refused && reply->status != 0) {
        if (reply->message.len) recorded_check_refusal(&client->error, reply, way);
        return;
    }
    RECORDED_CHECK(e2b_err_may_have_run(err));
    uint64_t now = stream->run.port.now_ms;
    if (err == E2B_REPLY_TIMEOUT) RECORDED_CHECK(now == 60000);
    /* Silence for 120 s, and then a List that nobody answers within a minute. */
    else if (err == E2B_IDLE) RECORDED_CHECK(now >= 120000 && now <= 181000);
    else RECORDED_CHECK(now == 0);
}

static void check_exit(const recorded_stream *stream, uint8_t known, const recorded_reply *reply, const recorded_way *way)
{
    RECORDED_CHECK(stream->process.exit_known == known);
    if (known == E2B_EXIT_UNKNOWN) return;
    RECORDED_CHECK(stream->process.exit_code == reply->exit_code);
    RECORDED_CHECK(stream->process.exited == reply->exited);
}

void recorded_finish(recorded_stream *stream, const recorded_reply *reply, const recorded_way *way)
{
    e2b_event event;
    recorded_stream_verdict verdict = recorded_judge_stream(reply, way);
    RECORDED_CHECK(stream->process.pid == reply->pid);
    read_on(stream, reply, way, LONG_WAIT_MS);
    RECORDED_CHECK(stream->log.ended || stream->log.failed);
    check_error(stream, stream->log.failed, &verdict.final, reply, way);
    check_output(&stream->log, &verdict, reply, way);
    check_exit(stream, verdict.exit_known, reply, way);
    /* What was last stays. */
    RECORDED_CHECK(e2b_process_next(&stream->process, &event, 0) == stream->log.failed);
    RECORDED_CHECK(stream->log.failed || event.kind == E2B_EVENT_END);
    e2b_process_close(&stream->process);
    recorded_end(&stream->run, reply, way);
}

void recorded_play(recorded_stream *stream, const recorded_reply *reply, const recorded_way *way)
{
    recorded_stream_verdict verdict = recorded_judge_stream(reply, way);
    recorded_begin(&stream->run, reply, way);
    e2b_err err = recorded_open_stream(stream, reply, NULL);
    /* Never sent again, whatever became of it. */
    RECORDED_CHECK(recorded_requests(&stream->run) == 1u + way->kept);
    check_error(stream, err, &verdict.start, reply, way);
    if (!err) {
        recorded_finish(stream, reply, way);
        return;
    }
    RECORDED_CHECK(e2b_process_next(&stream->process, &(e2b_event){0}, 0) != E2B_OK);
    recorded_end(&stream->run, reply, way);
}

void recorded_play_run(recorded_stream *stream, const recorded_reply *reply, const recorded_way *way)
{
    static char out[400000], err_out[400000];
    e2b_run_result result = {.out = {.ptr = out, .size = sizeof out}, .err = {.ptr = err_out, .size = sizeof err_out}};
    recorded_stream_verdict verdict = recorded_judge_stream(reply, way);
    recorded_begin(&stream->run, reply, way);
    e2b_err err = e2b_run(&stream->run.sandbox, "true", NULL, &result);
    bool started = verdict.start.err == E2B_OK;
    recorded_verdict final = started ? verdict.final : verdict.start;
    /* The command's own limit ends a silent stream before the idle rule does. */
    if (final.err == E2B_IDLE) RECORDED_CHECK(err == E2B_REPLY_TIMEOUT && stream->run.port.now_ms == 65000);
    else check_error(stream, err, &final, reply, way);
    RECORDED_CHECK(memcmp(result.err.ptr, reply->err.ptr, result.err.len) == 0);
    /* A terminal has one output. */
    e2b_str expected = reply->pty.len ? reply->pty : reply->out;
    RECORDED_CHECK(memcmp(result.out.ptr, expected.ptr, result.out.len) == 0);
    recorded_log log = {.out = reply->pty.len ? 0 : result.out.len, .err = result.err.len,
                        .pty = reply->pty.len ? result.out.len : 0};
    if (started) check_output(&log, &verdict, reply, way);
    if (started && verdict.exit_known) RECORDED_CHECK(result.exit_code == reply->exit_code && result.exited == reply->exited);
    recorded_end(&stream->run, reply, way);
}

/* ---- Cuts and splits -------------------------------------------------------------- */

size_t recorded_cut_start(recorded_stream *stream, const recorded_reply *reply, size_t slot)
{
    size_t runs = 0, last = reply->started < reply->bytes.len ? reply->started : reply->bytes.len;
    for (size_t cut = 0; cut <= last; cut++)
        for (int ending = 0; ending < RECORDED_ENDINGS; ending++)
            for (int kept = 0; kept < 2; kept++, runs++)
                recorded_play(stream, reply, &(recorded_way){cut, 0, 0, ending, slot, kept != 0});
    return runs;
}

/* The state right after start, of which no byte more than the start event was read. */
static void begin_started(recorded_stream *stream, const recorded_reply *reply, size_t slot)
{
    recorded_way way = {reply->started, 0, 0, RECORDED_STALL, slot, false};
    e2b_memory_script_init(&stream->run.script, stream->run.steps, sizeof stream->run.steps);
    e2b_memory_accept(&stream->run.script);
    e2b_memory_request(&stream->run.script);
    recorded_add_pieces(&stream->run.script, reply, &way);
    recorded_ready(&stream->run, slot, reply->binary);
    assert_int_equal(recorded_open_stream(stream, reply, NULL), E2B_OK);
    recorded_read(stream, reply, &way);
}

/* More of the reply: the link stands at the script's end, which moves. */
static void give(recorded_stream *stream, const recorded_reply *reply, size_t from, size_t to)
{
    if (to > from) e2b_memory_data(&stream->run.script, reply->bytes.ptr + from, to - from);
    assert_false(stream->run.script.full);
    stream->run.port.script_length = (uint32_t)stream->run.script.length;
}

typedef size_t try_at(recorded_stream *stream, const recorded_reply *reply, const recorded_state *state, size_t from,
                      size_t at, size_t slot);

static void try_ending(recorded_stream *stream, const recorded_reply *reply, const recorded_state *state, size_t from,
                       const recorded_way *way)
{
    recorded_restore(stream, state, way->slot);
    give(stream, reply, from, way->cut);
    recorded_add_ending(&stream->run.script, way->ending);
    give(stream, reply, way->cut, way->cut);
    recorded_finish(stream, reply, way);
}

static size_t try_endings(recorded_stream *stream, const recorded_reply *reply, const recorded_state *state, size_t from,
                          size_t at, size_t slot)
{
    for (int ending = 0; ending < RECORDED_ENDINGS; ending++)
        try_ending(stream, reply, state, from, &(recorded_way){at, 0, 0, ending, slot, false});
    return RECORDED_ENDINGS;
}

/* The same with everything read, byte by byte, before the link ends. A stall
 * looks for a second link through all steps of the script, which takes long in
 * a long reply: of these few are tried. */
static size_t try_endings_later(recorded_stream *stream, const recorded_reply *reply, const recorded_state *state,
                                size_t from, size_t at, size_t slot)
{
    enum { LONG = 4096, EACH = 101 };
    static recorded_state read;
    int endings = reply->bytes.len > LONG && at % EACH ? RECORDED_STALL : RECORDED_ENDINGS;
    recorded_way way = recorded_whole(reply, slot);
    recorded_restore(stream, state, slot);
    give(stream, reply, from, at);
    recorded_read(stream, reply, &way);
    recorded_save(stream, &read, slot);
    for (int ending = 0; ending < endings; ending++)
        try_ending(stream, reply, &read, at, &(recorded_way){at, 0, 1, ending, slot, false});
    return (size_t)endings;
}

static size_t try_split(recorded_stream *stream, const recorded_reply *reply, const recorded_state *state, size_t from,
                        size_t at, size_t slot)
{
    recorded_way way = {reply->bytes.len, at, 0, RECORDED_STALL, slot, false};
    if (reply->complete == RECORDED_NEVER) way.ending = RECORDED_CLEAN;
    recorded_restore(stream, state, slot);
    give(stream, reply, from, at);
    e2b_memory_would_block(&stream->run.script);
    give(stream, reply, at, reply->bytes.len);
    recorded_add_ending(&stream->run.script, way.ending);
    give(stream, reply, at, at);
    recorded_finish(stream, reply, &way);
    return 1;
}

/* Tries every place after the start event, from the nearest state before it. */
static size_t sweep(recorded_stream *stream, const recorded_reply *reply, size_t slot, size_t stride, size_t most, try_at *try)
{
    static recorded_state state;
    recorded_way way = recorded_whole(reply, slot);
    size_t runs = 0, length = reply->bytes.len, from = reply->started, at = from;
    if (from == RECORDED_NEVER) return 0;
    begin_started(stream, reply, slot);
    stream->run.port.recv_max = most;
    while (at <= length) {
        /* Behind the last message there is no further state. */
        size_t to = from + stride < length && from + stride < reply->finished ? from + stride : length;
        recorded_save(stream, &state, slot);
        for (; at <= to; at = recorded_next(reply, at)) runs += try(stream, reply, &state, from, at, slot);
        recorded_restore(stream, &state, slot);
        if (to == length) break;
        give(stream, reply, from, to);
        recorded_read(stream, reply, &way);
        assert_false(stream->log.ended || stream->log.failed);
        from = to;
        assert_true(stream->run.port.received == from);
    }
    return runs;
}

size_t recorded_cut_rest(recorded_stream *stream, const recorded_reply *reply, size_t slot, size_t stride, size_t most)
{
    return sweep(stream, reply, slot, stride, most, most ? try_endings_later : try_endings);
}

size_t recorded_split(recorded_stream *stream, const recorded_reply *reply, size_t slot, size_t stride)
{
    size_t runs = 0, last = reply->started < reply->bytes.len ? reply->started : reply->bytes.len;
    recorded_way way = recorded_whole(reply, slot);
    if (reply->complete == RECORDED_NEVER) way.ending = RECORDED_CLEAN;
    for (way.split = 1; way.split < last; way.split = recorded_next(reply, way.split), runs++)
        recorded_play(stream, reply, &way);
    return runs + sweep(stream, reply, slot, stride, 0, try_split);
}
