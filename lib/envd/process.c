/* process: a process's stream, opened, read event by event, closed. */
#include "envd/process.h"

#include <string.h>

#include "envd/envd_call.h"
#include "envd/process_body.h"
#include "envd/process_reader.h"
#include "wire/envelope.h"
#include "wire/refusal.h"
#include "wire/report.h"

/* For the error texts: what is being done with the stream. */
static const char *doing(const e2b_process *process)
{
    return process->reader.started ? "read process output" : "open process";
}

e2b_conn *e2b_process_conn(const e2b_process *process)
{
    return e2b_slot_held(process->sandbox->client, process->slot, process->generation);
}

/* ---- End of a handle --------------------------------------------------------------- */

static void give_back(e2b_process *process, bool drain)
{
    e2b_client *client = process->sandbox->client;
    e2b_conn *conn = e2b_process_conn(process);
    e2b_input_stop(process);
    e2b_look_stop(process);
    if (!conn) return;
    if (drain) e2b_slot_release(client, conn, true);
    else e2b_conn_close(client, conn, false);
}

e2b_err e2b_process_fail(e2b_process *process, e2b_err err, const char *detail, bool reported)
{
    e2b_client *client = process->sandbox->client;
    e2b_conn *conn = e2b_process_conn(process);
    int32_t port_error = conn ? conn->link.error : 0;
    if (!reported) {
        e2b_fail(client, err, doing(process), detail);
        client->error.port_error = port_error;
    }
    process->exit_known = E2B_EXIT_UNKNOWN;
    if (process->reader.ended) { /* half an event says nothing */
        process->exit_known = E2B_EXIT_UNCONFIRMED;
        process->exit_code = process->reader.exit_code;
        process->exited = process->reader.exited;
    }
    give_back(process, false);
    process->stage = E2B_STAGE_FAILED;
    process->err = err;
    return err;
}

static e2b_err end(e2b_process *process, e2b_event *event)
{
    process->exit_known = E2B_EXIT_CONFIRMED;
    process->exit_code = process->reader.exit_code;
    process->exited = process->reader.exited;
    event->kind = E2B_EVENT_END;
    event->exit_code = process->exit_code;
    event->exited = process->exited;
    event->status = (e2b_str){process->reader.status, process->reader.status_len};
    return E2B_OK;
}

/* ---- Reading ------------------------------------------------------------------------- */

/* The end-of-stream message, collected at the buffer's start as it comes. */
static e2b_err read_last(e2b_process *process, e2b_conn *conn, const uint8_t *piece, size_t length)
{
    size_t part = length < process->envelope.left ? length : process->envelope.left;
    size_t room = E2B_CONN_COLLECT - conn->collected, kept = part < room ? part : room;
    memmove(conn->buffer + conn->collected, piece, kept);
    conn->collected += (uint32_t)kept;
    e2b_envelope_take(&process->envelope, part);
    e2b_conn_take(conn, part);
    return process->envelope.left ? E2B_PENDING : E2B_OK;
}

static e2b_err finish(e2b_process *process, e2b_conn *conn, e2b_event *event)
{
    e2b_str body = {(const char *)conn->buffer, conn->collected};
    e2b_err err = e2b_end_of_stream(process->sandbox->client, doing(process), body);
    if (err) return e2b_process_fail(process, err, NULL, true);
    if (!process->reader.ended) return e2b_process_fail(process, E2B_NO_EXIT, NULL, false);
    give_back(process, true);
    process->stage = E2B_STAGE_ENDED;
    return end(process, event);
}

/* What follows the output in its message. Left for later it would look like
 * news to a wait. */
static bool read_rest(e2b_process *process, uint8_t *piece, size_t length, size_t *used)
{
    size_t part;
    int32_t kind;
    e2b_str data;
    int32_t found = e2b_process_read(&process->reader, piece + *used, length - *used, &part, &kind, &data);
    *used += part;
    return found == E2B_READ_MORE;
}

/* Uses up a piece of body. E2B_OK: *event is set. E2B_PENDING: nothing in it, go on. */
static e2b_err take_piece(e2b_process *process, e2b_conn *conn, uint8_t *piece, size_t length, e2b_event *event)
{
    size_t used = 0;
    if (!e2b_envelope_open(&process->envelope)) {
        e2b_err err = e2b_envelope_read(&process->envelope, piece, length, &used);
        e2b_conn_take(conn, used);
        if (err) return err;
        piece += used;
        length -= used;
        if (!e2b_envelope_open(&process->envelope)) return E2B_PENDING;
    }
    if (e2b_envelope_is_last(&process->envelope)) {
        e2b_err err = read_last(process, conn, piece, length);
        return err ? err : finish(process, conn, event);
    }
    if (length > process->envelope.left) length = process->envelope.left;
    int32_t found = e2b_process_read(&process->reader, piece, length, &used, &event->kind, &event->data);
    /* Broken right behind its data it is so now, and not when more comes. */
    bool data = found == E2B_READ_DATA, good = !process->reader.broken;
    if (data && used < length) good = read_rest(process, piece, length, &used);
    e2b_conn_take(conn, used);
    e2b_envelope_take(&process->envelope, used);
    if (good && !process->envelope.left) {
        e2b_envelope_close(&process->envelope);
        good = e2b_process_message_end(&process->reader);
    }
    if (!good && !data) return E2B_PROTOCOL;
    if (!good) process->err = E2B_PROTOCOL; /* what was decoded is given out first */
    return data ? E2B_OK : E2B_PENDING;
}

/* E2B_OK: *event is set. E2B_PENDING: wait. Else the handle has failed. */
static e2b_err read_event(e2b_process *process, e2b_event *event, bool until_started, uint64_t deadline)
{
    e2b_client *client = process->sandbox->client;
    for (;;) {
        uint8_t *piece;
        size_t length;
        e2b_conn *conn = e2b_process_conn(process);
        if (!conn)
            return e2b_process_fail(process, E2B_CLOSED,
                                    client->conn_count ? "its connection was needed for a kill" : "the client was closed", false);
        if (process->err) return e2b_process_fail(process, process->err, NULL, false);
        bool fresh = !conn->body_len;
        e2b_err err = e2b_conn_body(client, conn, &piece, &length);
        if (err == E2B_PENDING) return err;
        if (!err && !length) err = E2B_TRUNCATED;
        if (!err) err = take_piece(process, conn, piece, length, event);
        if (process->stage != E2B_STAGE_LIVE || !err) return err;
        if (err != E2B_PENDING) return e2b_process_fail(process, err, NULL, false);
        if (until_started && process->reader.started) return E2B_OK;
        /* A peer that never pauses must not outlast the caller's time. */
        if (fresh && e2b_now(client) > deadline) return E2B_PENDING;
    }
}

/* ---- Opening ------------------------------------------------------------------------- */

/* Blocks until the start event. The answer's head has come. */
static e2b_err wait_for_start(e2b_process *process, e2b_call *call)
{
    e2b_client *client = process->sandbox->client;
    e2b_event event;
    e2b_err err;
    process->slot = e2b_slot_number(client, call->conn);
    process->generation = call->conn->generation;
    process->stage = E2B_STAGE_LIVE;
    while ((err = read_event(process, &event, true, call->deadline)) == E2B_PENDING) {
        err = e2b_conn_await(client, call->conn, call->deadline);
        if (err) return e2b_process_fail(process, err, NULL, false);
    }
    process->pid = process->reader.pid;
    return err;
}

static e2b_err open_stream(e2b_sandbox *sandbox, e2b_process *process, e2b_envd_call *envd, const e2b_process_options *options)
{
    e2b_call *call = &envd->call;
    if (options->input && sandbox->client->conn_count < 2)
        return e2b_fail(sandbox->client, E2B_INVALID, call->operation, "input needs a client with two connections");
    call->request.timeout_ms = options->timeout_ms == E2B_NO_LIMIT ? 0 : options->timeout_ms;
    process->sandbox = sandbox;
    process->input_stage = options->input ? E2B_INPUT_OPEN : E2B_INPUT_NONE;
    e2b_process_reader_start(&process->reader, sandbox->client->codec);
    e2b_err err = e2b_call_begin(call);
    if (err) return err;
    if (call->conn->http.status != 200) return e2b_call_refused(call);
    return wait_for_start(process, call);
}

static e2b_err start(e2b_sandbox *sandbox, e2b_process *process, const e2b_start_body *body)
{
    static const char operation[] = "start process";
    e2b_envd_call envd;
    bool binary = sandbox->client && sandbox->client->codec == E2B_CODEC_PROTO;
    e2b_err err = e2b_envd_require(sandbox, operation);
    if (err) return err;
    const char *wrong = e2b_start_wrong(body);
    if (wrong) return e2b_fail(sandbox->client, E2B_INVALID, operation, wrong);
    e2b_envd_stream(sandbox, &envd, operation, "/process.Process/Start", binary,
                    binary ? e2b_start_proto : e2b_start_json, body);
    envd.call.request.user = body->options->user;
    /* Before 0.4.0 the daemon's own default is root. */
    if (!envd.call.request.user && !e2b_envd_at_least(sandbox, 0, 4, 0)) envd.call.request.user = "user";
    return open_stream(sandbox, process, &envd, body->options);
}

static const e2b_process_options default_options = {0};

e2b_err e2b_process_start(e2b_sandbox *sandbox, e2b_process *process, const char *const *argv, size_t argc,
                          const e2b_process_options *options)
{
    memset(process, 0, sizeof *process);
    return start(sandbox, process, &(e2b_start_body){argv, argc, NULL, options ? options : &default_options});
}

e2b_err e2b_process_shell(e2b_sandbox *sandbox, e2b_process *process, const char *command,
                          const e2b_process_options *options)
{
    const char *argv[3];
    argv[0] = "/bin/bash";
    argv[1] = "-l";
    argv[2] = "-c";
    memset(process, 0, sizeof *process);
    if (!command && sandbox->client) return e2b_fail(sandbox->client, E2B_INVALID, "start process", "the command is missing");
    return start(sandbox, process, &(e2b_start_body){argv, 3, command, options ? options : &default_options});
}

e2b_err e2b_process_connect(e2b_sandbox *sandbox, e2b_process *process, uint32_t pid, const char *tag,
                            const e2b_process_options *options)
{
    static const char operation[] = "connect to process";
    e2b_envd_call envd;
    bool binary = sandbox->client && sandbox->client->codec == E2B_CODEC_PROTO;
    e2b_selector_body selector = {pid, tag, 0, NULL, 0};
    memset(process, 0, sizeof *process);
    e2b_err err = e2b_envd_require(sandbox, operation);
    if (err) return err;
    const char *wrong = e2b_selector_wrong(&selector);
    if (wrong) return e2b_fail(sandbox->client, E2B_INVALID, operation, wrong);
    e2b_envd_stream(sandbox, &envd, operation, "/process.Process/Connect", binary,
                    binary ? e2b_selector_proto : e2b_selector_json, &selector);
    return open_stream(sandbox, process, &envd, options ? options : &default_options);
}

/* ---- The handle ---------------------------------------------------------------------- */

static e2b_err wait_for_news(e2b_process *process, uint64_t deadline, bool *woken)
{
    e2b_client *client = process->sandbox->client;
    e2b_conn *conns[3];
    size_t count = 0;
    conns[0] = e2b_process_conn(process);
    conns[1] = e2b_input_conn(process);
    conns[2] = e2b_look_conn(process);
    for (size_t i = 0; i < 3; i++)
        if (conns[i]) client->waits[count++] = (e2b_wait_item){&conns[i]->link, e2b_conn_wants(conns[i]), 0};
    uint64_t look = e2b_look_due(process), input = e2b_input_due(process), due = look < input ? look : input;
    return e2b_wait_ready(client, count, due < deadline ? due : deadline, woken);
}

e2b_err e2b_process_next(e2b_process *process, e2b_event *event, uint32_t wait_ms)
{
    memset(event, 0, sizeof *event);
    if (process->stage == E2B_STAGE_ENDED) return end(process, event);
    if (process->stage == E2B_STAGE_FAILED) return process->err;
    if (process->stage != E2B_STAGE_LIVE) return E2B_CLOSED;
    uint64_t deadline = wait_ms == E2B_NO_LIMIT ? E2B_NO_DEADLINE : e2b_now(process->sandbox->client) + wait_ms;
    bool woken = false;
    for (;;) {
        e2b_input_step(process);
        if (e2b_input_take_event(process, event)) return E2B_OK;
        e2b_err err = read_event(process, event, false, deadline);
        if (err != E2B_PENDING) return err;
        err = e2b_look_step(process);
        if (err != E2B_PENDING) return e2b_process_fail(process, err, NULL, false);
        if (woken || e2b_now(process->sandbox->client) >= deadline) return E2B_OK;
        err = wait_for_news(process, deadline, &woken);
        if (err == E2B_CANCELLED) return e2b_fail(process->sandbox->client, err, doing(process), NULL);
        if (err) return e2b_process_fail(process, err, NULL, false);
    }
}

void e2b_process_close(e2b_process *process)
{
    if (process->stage == E2B_STAGE_LIVE) give_back(process, false);
    process->stage = E2B_STAGE_CLOSED;
}
