/* input: what is sent to a process goes out in pieces, each a call of its own
 * on a second connection, stepped beside the stream that it belongs to.
 */
#include "envd/envd_call.h"
#include "envd/process.h"
#include "envd/process_body.h"
#include "wire/refusal.h"
#include "wire/report.h"

#define PIECE_BYTES 32768u

static const char sending[] = "send input";

e2b_conn *e2b_input_conn(const e2b_process *process)
{
    if (process->input_stage != E2B_INPUT_PIECE && process->input_stage != E2B_INPUT_ENDING) return NULL;
    return e2b_slot_held(process->sandbox->client, process->input_slot, process->input_generation);
}

void e2b_input_stop(e2b_process *process)
{
    e2b_conn *conn = e2b_input_conn(process);
    if (conn) e2b_conn_close(process->sandbox->client, conn, true);
    if (process->input_stage != E2B_INPUT_NONE && process->input_stage != E2B_INPUT_FAILED) process->input_stage = E2B_INPUT_ENDED;
    process->lent = NULL;
    process->lent_len = process->lent_taken = 0;
    process->end_wanted = false;
}

/* ---- Calls ----------------------------------------------------------------------------- */

e2b_err e2b_process_send(e2b_process *process, const void *data, size_t size)
{
    if (process->stage == E2B_STAGE_FAILED) return process->err;
    if (process->stage != E2B_STAGE_LIVE && process->stage != E2B_STAGE_ENDED) return E2B_CLOSED;
    e2b_client *client = process->sandbox->client;
    if (process->input_stage == E2B_INPUT_FAILED) return process->input_err;
    if (process->input_stage == E2B_INPUT_NONE) return e2b_fail(client, E2B_STATE, sending, "the process was started without input");
    if (process->input_stage == E2B_INPUT_ENDED || process->end_wanted)
        return e2b_fail(client, E2B_STATE, sending, "the input was ended");
    if (process->lent || process->input_event) return e2b_fail(client, E2B_BUSY, sending, "the earlier piece is still under way");
    if (!data || !size) return e2b_fail(client, E2B_INVALID, sending, "there is nothing to send");
    process->lent = data;
    process->lent_len = size;
    process->lent_taken = 0;
    return E2B_OK;
}

e2b_err e2b_process_end_input(e2b_process *process)
{
    if (process->stage == E2B_STAGE_FAILED) return process->err;
    if (process->stage != E2B_STAGE_LIVE && process->stage != E2B_STAGE_ENDED) return E2B_CLOSED;
    e2b_client *client = process->sandbox->client;
    if (process->input_stage == E2B_INPUT_FAILED) return process->input_err;
    if (process->input_stage == E2B_INPUT_NONE) return e2b_fail(client, E2B_STATE, sending, "the process was started without input");
    if (process->input_stage == E2B_INPUT_ENDED) return E2B_OK;
    if (!e2b_envd_at_least(process->sandbox, 0, 5, 2))
        return e2b_fail(client, E2B_UNSUPPORTED, sending, "ending the input needs envd 0.5.2: rebuild the template");
    process->end_wanted = true;
    return E2B_OK;
}

/* ---- Steps ------------------------------------------------------------------------------ */

static void prepare(e2b_process *process, e2b_envd_call *envd, e2b_selector_body *body)
{
    bool binary = process->reader.codec == E2B_CODEC_PROTO;
    *body = (e2b_selector_body){process->pid, NULL, 0, NULL, 0};
    if (process->input_stage == E2B_INPUT_ENDING) {
        e2b_envd_unary(process->sandbox, envd, sending, "/process.Process/CloseStdin", binary,
                       binary ? e2b_selector_proto : e2b_selector_json, body);
        return;
    }
    body->input = process->lent + process->lent_taken;
    body->input_len = process->piece_len;
    e2b_envd_unary(process->sandbox, envd, sending, "/process.Process/SendInput", binary,
                   binary ? e2b_input_proto : e2b_input_json, body);
}

/* Chooses what is next to be sent and a connection for it. E2B_PENDING: none is free. */
static e2b_err begin(e2b_process *process)
{
    e2b_client *client = process->sandbox->client;
    e2b_envd_call envd;
    e2b_selector_body body;
    e2b_conn *conn, *stream = e2b_process_conn(process);
    if (!stream) return E2B_PENDING; /* what took it away will be said by the stream */
    size_t left = process->lent_len - process->lent_taken;
    process->piece_len = left < PIECE_BYTES ? (uint32_t)left : PIECE_BYTES;
    process->input_stage = process->lent ? E2B_INPUT_PIECE : E2B_INPUT_ENDING;
    prepare(process, &envd, &body);
    e2b_err err = e2b_slot_acquire(client, &envd.call.route, process->sandbox->destination, E2B_USE_INPUT,
                                   E2B_SLOT_FRESH | E2B_SLOT_NO_WAIT, stream, &conn);
    if (err) {
        process->input_stage = E2B_INPUT_OPEN;
        return err == E2B_BUSY ? E2B_PENDING : err;
    }
    e2b_conn_start(conn, NULL, 0);
    process->input_slot = e2b_slot_number(client, conn);
    process->input_generation = conn->generation;
    return E2B_OK;
}

/* The connect limit holds here too; once the link is up there is none. */
uint64_t e2b_input_due(const e2b_process *process)
{
    const e2b_conn *conn = e2b_input_conn(process);
    uint32_t limit = e2b_limit(process->sandbox->client->limits.connect_ms, 10000);
    return !conn || conn->up || limit == E2B_NO_LIMIT ? E2B_NO_DEADLINE : conn->opened_ms + limit;
}

static e2b_err exchange(e2b_process *process, e2b_conn *conn)
{
    e2b_client *client = process->sandbox->client;
    e2b_str reply;
    e2b_err err = E2B_OK;
    if (conn->sending) {
        e2b_envd_call envd;
        e2b_selector_body body;
        prepare(process, &envd, &body);
        err = e2b_conn_send(client, conn, &envd.call.request);
        if (err == E2B_PENDING && e2b_now(client) >= e2b_input_due(process)) return E2B_CONNECT_TIMEOUT;
    }
    if (!err && !conn->http.status) err = e2b_conn_head(client, conn);
    if (!err) err = e2b_conn_collect(client, conn, &reply);
    if (err) return err;
    if (conn->http.status < 300) return E2B_OK;
    return e2b_refuse(client, &(e2b_refusal){sending, conn->http.status, conn->http.retry_after_s, reply, true});
}

static void fail(e2b_process *process, e2b_err err)
{
    e2b_conn *conn = e2b_input_conn(process);
    if (conn) e2b_conn_close(process->sandbox->client, conn, true);
    process->input_event = E2B_EVENT_INPUT_END;
    process->input_err = err;
    process->input_stage = E2B_INPUT_FAILED;
    process->lent = NULL;
    process->end_wanted = false;
}

/* A piece, or the end, has been taken. */
static void taken(e2b_process *process, e2b_conn *conn)
{
    bool ending = process->input_stage == E2B_INPUT_ENDING;
    e2b_slot_release(process->sandbox->client, conn, false);
    process->input_stage = ending ? E2B_INPUT_ENDED : E2B_INPUT_OPEN;
    if (ending) {
        process->end_wanted = false;
        return;
    }
    process->lent_taken += process->piece_len;
    if (process->lent_taken < process->lent_len) return;
    process->lent = NULL;
    process->input_event = E2B_EVENT_SENT;
}

void e2b_input_step(e2b_process *process)
{
    while (!process->input_event) {
        e2b_err err = E2B_OK;
        if (process->input_stage == E2B_INPUT_OPEN) {
            if (!process->lent && !process->end_wanted) return;
            err = begin(process);
        }
        if (process->input_stage == E2B_INPUT_NONE || process->input_stage >= E2B_INPUT_ENDED) return;
        e2b_conn *conn = e2b_input_conn(process);
        if (!err && !conn) err = E2B_NO_REPLY; /* taken by a kill, a signal or a look */
        if (!err) err = exchange(process, conn);
        if (err == E2B_PENDING) return;
        if (err) fail(process, err);
        else taken(process, conn);
    }
}

bool e2b_input_take_event(e2b_process *process, e2b_event *event)
{
    if (!process->input_event) return false;
    event->kind = process->input_event;
    event->code = process->input_event == E2B_EVENT_INPUT_END ? process->input_err : E2B_OK;
    event->taken = process->lent_taken;
    process->input_event = 0;
    process->lent_len = process->lent_taken = 0;
    return true;
}
