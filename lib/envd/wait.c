/* wait: many live processes of one client, watched together. */
#include "envd/process.h"
#include "wire/report.h"

/* What was received already: a piece, the end, or what breaks the protocol. It
 * may also be no more than the end of a chunk, which is nothing. */
static bool holds_piece(const e2b_process *process, e2b_conn *conn)
{
    uint8_t *piece;
    size_t length;
    if (conn->body_len) return true;
    conn->quiet = true; /* so that the port is not asked */
    return e2b_conn_body(process->sandbox->client, conn, &piece, &length) != E2B_PENDING;
}

/* What can be said without asking the port. */
static bool has_news(const e2b_process *process)
{
    if (process->stage != E2B_STAGE_LIVE) return true;
    e2b_conn *conn = e2b_process_conn(process);
    return !conn || process->err || process->input_event || holds_piece(process, conn);
}

static void move_to_front(e2b_process **processes, size_t index, size_t *ready)
{
    e2b_process *process = processes[index];
    processes[index] = processes[*ready];
    processes[(*ready)++] = process;
}

/* Drives what runs beside the streams, and gathers those that have news. */
static void step_all(e2b_process **processes, size_t count, size_t *ready)
{
    for (size_t i = *ready; i < count; i++) {
        e2b_process *process = processes[i];
        if (process->stage == E2B_STAGE_LIVE) e2b_input_step(process);
        if (!has_news(process)) {
            e2b_err err = e2b_look_step(process);
            if (err != E2B_PENDING) e2b_process_fail(process, err, NULL, false);
        }
        if (has_news(process)) move_to_front(processes, i, ready);
    }
}

/* Links of input pieces and looks. */
static uint16_t beside(const e2b_client *client)
{
    uint16_t links = 0;
    for (uint16_t i = 0; i < client->conn_count; i++) links = (uint16_t)(links + (client->conns[i].use >= E2B_USE_INPUT));
    return links;
}

/* The table has room for every link once: a handle given twice must not pass its end. */
static size_t add(e2b_client *client, size_t count, e2b_conn *conn)
{
    if (!conn || count == client->conn_count) return count;
    client->waits[count] = (e2b_wait_item){&conn->link, e2b_conn_wants(conn), 0};
    return count + 1;
}

/* Fills the table; says how long the wait may last. */
static size_t fill(e2b_client *client, e2b_process **processes, size_t count, uint64_t *until)
{
    size_t links = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t look = e2b_look_due(processes[i]), input = e2b_input_due(processes[i]), due = look < input ? look : input;
        if (due < *until) *until = due;
        links = add(client, links, e2b_process_conn(processes[i]));
        links = add(client, links, e2b_input_conn(processes[i]));
        links = add(client, links, e2b_look_conn(processes[i]));
    }
    return links;
}

static bool was_ready(const e2b_client *client, size_t *link, const e2b_conn *conn)
{
    return conn && *link < client->conn_count && client->waits[(*link)++].ready;
}

/* The table's answer, in the order in which it was filled. */
static void gather(e2b_client *client, e2b_process **processes, size_t count, size_t *ready)
{
    size_t link = 0;
    for (size_t i = 0; i < count; i++) {
        e2b_conn *conn = e2b_process_conn(processes[i]);
        bool news = was_ready(client, &link, conn);
        was_ready(client, &link, e2b_input_conn(processes[i]));
        was_ready(client, &link, e2b_look_conn(processes[i]));
        if (!news) continue;
        conn->quiet = false;
        move_to_front(processes, i, ready);
    }
}

e2b_err e2b_wait(e2b_client *client, e2b_process **processes, size_t count, uint32_t wait_ms, size_t *ready)
{
    uint64_t deadline = wait_ms == E2B_NO_LIMIT ? E2B_NO_DEADLINE : e2b_now(client) + wait_ms;
    *ready = 0;
    if (!count) { /* no array either, perhaps: it only sleeps */
        e2b_err err = e2b_wait_ready(client, 0, deadline, NULL);
        return err ? e2b_fail(client, err, "wait", NULL) : E2B_OK;
    }
    for (size_t i = 0; i < count; i++)
        if (processes[i]->sandbox && processes[i]->sandbox->client != client)
            return e2b_fail(client, E2B_INVALID, "wait", "a process of another client");
    for (;;) {
        uint16_t before;
        do { /* A slot that was given back may be what one further to the front waits for. */
            before = beside(client);
            step_all(processes, count, ready);
        } while (beside(client) < before);
        uint64_t until = *ready ? 0 : deadline;
        /* Also with some at hand the port is asked once, without waiting: none must be starved by another. */
        size_t links = fill(client, processes + *ready, count - *ready, &until);
        bool woken = false;
        e2b_err err = links ? e2b_wait_ready(client, links, until, &woken) : E2B_OK;
        if (err) return *ready ? E2B_OK : e2b_fail(client, err, "wait", NULL);
        size_t found = 0;
        gather(client, processes + *ready, count - *ready, &found);
        *ready += found;
        if (*ready || woken || e2b_now(client) >= deadline) return E2B_OK;
    }
}
