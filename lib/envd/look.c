/* look: a stream that has been silent for too long is not a dead one if its
 * process is still listed. One List, read as it comes, beside the stream.
 */
#include "base/json_read.h"
#include "envd/envd_call.h"
#include "envd/process.h"

enum { LOOK_NONE, LOOK_WAITING, LOOK_ASKED };

#define WAITING_MS 100u

/* conn->field while the list is read. */
enum { FIELD_OTHER, FIELD_PID };

e2b_conn *e2b_look_conn(const e2b_process *process)
{
    if (process->look_stage != LOOK_ASKED) return NULL;
    return e2b_slot_held(process->sandbox->client, process->look_slot, process->look_generation);
}

void e2b_look_stop(e2b_process *process)
{
    e2b_conn *conn = e2b_look_conn(process);
    if (conn) e2b_conn_close(process->sandbox->client, conn, true);
    process->look_stage = LOOK_NONE;
}

static void write_nothing(e2b_text *text, const void *subject)
{
    (void)subject;
    e2b_text_string(text, "{}");
}

static void prepare(const e2b_process *process, e2b_envd_call *envd)
{
    e2b_envd_unary(process->sandbox, envd, "list processes", "/process.Process/List", false, write_nothing, NULL);
}

static uint64_t silent_until(const e2b_process *process)
{
    const e2b_client *client = process->sandbox->client;
    const e2b_conn *conn = e2b_process_conn(process);
    uint32_t idle = e2b_limit(client->limits.idle_ms, 120000);
    return !conn || idle == E2B_NO_LIMIT ? E2B_NO_DEADLINE : conn->used_ms + idle;
}

static uint64_t answer_due(const e2b_process *process)
{
    uint32_t limit = e2b_limit(process->sandbox->client->limits.request_ms, 60000);
    return limit == E2B_NO_LIMIT ? E2B_NO_DEADLINE : process->look_ms + limit;
}

uint64_t e2b_look_due(const e2b_process *process)
{
    if (process->look_stage == LOOK_NONE) return silent_until(process);
    return process->look_stage == LOOK_ASKED ? answer_due(process) : e2b_now(process->sandbox->client) + WAITING_MS;
}

static bool another_looks(const e2b_client *client)
{
    for (uint16_t i = 0; i < client->conn_count; i++)
        if (client->conns[i].use == E2B_USE_LOOK) return true;
    return false;
}

/* Many streams fall silent at the same moment and have one free slot between
 * them: their looks go one after another. */
static e2b_err queue(e2b_process *process)
{
    if (!another_looks(process->sandbox->client)) return E2B_IDLE;
    process->look_stage = LOOK_WAITING;
    return e2b_now(process->sandbox->client) < answer_due(process) ? E2B_PENDING : E2B_IDLE;
}

static e2b_err ask(e2b_process *process)
{
    e2b_client *client = process->sandbox->client;
    e2b_envd_call envd;
    e2b_conn *conn;
    prepare(process, &envd);
    if (process->look_stage == LOOK_NONE) process->look_ms = e2b_now(client);
    /* A fresh link: a kept one that has died would look like a refusal. */
    e2b_err err = e2b_slot_acquire(client, &envd.call.route, process->sandbox->destination, E2B_USE_LOOK,
                                   E2B_SLOT_TAKE_INPUT | E2B_SLOT_NO_WAIT | E2B_SLOT_NEW, e2b_process_conn(process), &conn);
    if (err) return err == E2B_BUSY ? queue(process) : E2B_IDLE;
    e2b_conn_start(conn, NULL, 0);
    process->look_slot = e2b_slot_number(client, conn);
    process->look_generation = conn->generation;
    process->look_stage = LOOK_ASKED;
    process->look_ms = e2b_now(client);
    return E2B_OK;
}

/* {"processes":[{"pid":7,...},...]}: the pid stands at depth 3. */
static void take_item(const e2b_process *process, e2b_conn *conn, const e2b_json_item *item)
{
    int64_t pid;
    if (item->depth != 3) return;
    if (item->kind == E2B_JSON_KEY) conn->field = e2b_json_key_is(&conn->reader, "pid") ? FIELD_PID : FIELD_OTHER;
    if (item->kind != E2B_JSON_SCALAR || conn->field != FIELD_PID) return;
    if (e2b_json_int64(&conn->reader, &pid) && pid == (int64_t)process->pid) conn->found = 1;
}

static e2b_err read_list(e2b_process *process, e2b_conn *conn)
{
    uint8_t *piece;
    size_t length;
    e2b_err err;
    while (!(err = e2b_conn_body(process->sandbox->client, conn, &piece, &length)) && length) {
        size_t used;
        e2b_json_item item;
        int32_t kind = e2b_json_read(&conn->reader, (const char *)piece, length, &used, &item);
        e2b_conn_take(conn, used);
        if (kind == E2B_JSON_BAD || e2b_now(process->sandbox->client) >= answer_due(process)) return E2B_IDLE;
        if (kind != E2B_JSON_MORE && kind != E2B_JSON_DONE) take_item(process, conn, &item);
    }
    return err;
}

static e2b_err exchange(e2b_process *process, e2b_conn *conn)
{
    e2b_client *client = process->sandbox->client;
    e2b_err err = E2B_OK;
    if (conn->sending) {
        e2b_envd_call envd;
        prepare(process, &envd);
        err = e2b_conn_send(client, conn, &envd.call.request);
    }
    if (!err && !conn->http.status) err = e2b_conn_head(client, conn);
    if (!err && conn->http.status != 200) return E2B_IDLE;
    return err ? err : read_list(process, conn);
}

/* It is there: the stream has as long again. */
static e2b_err restart(e2b_process *process, e2b_conn *conn)
{
    e2b_conn *stream = e2b_process_conn(process);
    bool found = conn->found != 0;
    e2b_slot_release(process->sandbox->client, conn, false);
    process->look_stage = LOOK_NONE;
    if (!found) return E2B_IDLE;
    if (stream) stream->used_ms = e2b_now(process->sandbox->client);
    return E2B_PENDING;
}

/* A process that has just ended is no longer listed, and its end is on the way:
 * what has come since the stream was last read is read first. */
static e2b_err give_up(e2b_process *process)
{
    e2b_client *client = process->sandbox->client;
    e2b_conn *stream = e2b_process_conn(process);
    e2b_look_stop(process);
    if (!stream) return E2B_IDLE;
    client->waits[0] = (e2b_wait_item){&stream->link, E2B_WANT_RECV, 0};
    return !e2b_wait_ready(client, 1, 0, NULL) && !client->waits[0].ready ? E2B_IDLE : E2B_PENDING;
}

e2b_err e2b_look_step(e2b_process *process)
{
    e2b_client *client = process->sandbox->client;
    e2b_err err = E2B_OK;
    if (e2b_now(client) < silent_until(process)) {
        e2b_look_stop(process); /* bytes have come: the answer is of no interest any more */
        return E2B_PENDING;
    }
    /* A slot that a kill or a signal took is asked for again. */
    if (process->look_stage == LOOK_ASKED && !e2b_look_conn(process)) process->look_stage = LOOK_NONE;
    if (process->look_stage != LOOK_ASKED) err = ask(process);
    if (err == E2B_PENDING) return err;
    e2b_conn *conn = e2b_look_conn(process);
    if (!err) err = conn ? exchange(process, conn) : E2B_IDLE;
    if (err == E2B_PENDING && e2b_now(client) < answer_due(process)) return err;
    if (!err) err = restart(process, conn);
    else if (err == E2B_PENDING) err = E2B_IDLE;
    return err == E2B_PENDING ? err : give_up(process);
}
