#include "wire/conn.h"

#include <string.h>

#include "wire/report.h"

uint64_t e2b_now(const e2b_client *client)
{
    return client->conn_count ? client->port->now_ms(client->port->context) : 0;
}

uint32_t e2b_limit(uint32_t limit_ms, uint32_t fallback_ms)
{
    return limit_ms ? limit_ms : fallback_ms;
}

uint64_t e2b_deadline(const e2b_client *client, uint32_t limit_ms, uint32_t fallback_ms)
{
    uint32_t limit = e2b_limit(limit_ms, fallback_ms);
    return limit == E2B_NO_LIMIT ? E2B_NO_DEADLINE : e2b_now(client) + limit;
}

/* ---- Links ------------------------------------------------------------------- */

e2b_err e2b_conn_open(e2b_client *client, e2b_conn *conn, const e2b_route *route, const e2b_conn *beside)
{
    e2b_target target;
    memset(&target, 0, sizeof target);
    target.host = route->host;
    target.address = route->address;
    target.tcp_port = route->tcp_port;
    target.tls = route->tls;
    target.beside = beside ? &beside->link : NULL;
    target.connect_ms = e2b_limit(client->limits.connect_ms, 10000);
    memset(&conn->link, 0, sizeof conn->link);
    conn->opened_ms = conn->used_ms = e2b_now(client);
    conn->destination = route->destination;
    conn->up = conn->reused = false;
    int32_t outcome = client->port->open(client->port->context, &conn->link, &target);
    client->open_error = conn->link.error;
    switch (outcome) {
    case E2B_IO_OK: return E2B_OK;
    case E2B_IO_RESOLVE: return E2B_RESOLVE;
    case E2B_IO_UNSUPPORTED: return E2B_UNSUPPORTED;
    case E2B_IO_TLS: return E2B_TLS;
    default: return E2B_CONNECT;
    }
}

void e2b_conn_close(e2b_client *client, e2b_conn *conn, bool abort)
{
    if (conn->use != E2B_USE_FREE) client->port->close(client->port->context, &conn->link, abort);
    conn->use = E2B_USE_FREE;
    conn->generation++;
}

void e2b_conn_start(e2b_conn *conn, char *next_token, size_t next_token_size)
{
    e2b_http_start(&conn->http, false, next_token, next_token_size);
    memset(&conn->reader, 0, sizeof conn->reader);
    conn->sent = conn->length = 0;
    conn->sending = true;
    conn->body_at = conn->body_len = conn->in_at = conn->in_end = conn->collected = conn->drained = 0;
    conn->field = conn->found = 0;
    conn->quiet = conn->spent = false;
}

/* ---- Out --------------------------------------------------------------------- */

/* Once the link was up, whatever the port calls its failure: what was sent may
 * have arrived. */
static e2b_err send_failure(const e2b_conn *conn, int32_t outcome)
{
    if (conn->up) return E2B_SEND;
    return outcome == E2B_IO_TLS ? E2B_TLS : outcome == E2B_IO_RESOLVE ? E2B_RESOLVE : E2B_CONNECT;
}

e2b_err e2b_conn_send(e2b_client *client, e2b_conn *conn, const e2b_request *request)
{
    while (conn->sending) {
        e2b_text window = {(char *)conn->buffer, client->buffer_size, conn->sent, 0};
        e2b_request_write(request, &window);
        size_t stored = e2b_text_stored(&window), gone = 0;
        /* Its sandbox was given another token under way: what is gone and what
         * is left are no request together. */
        if (conn->sent && window.total != conn->length) return E2B_SEND;
        conn->length = window.total;
        while (gone < stored) {
            int32_t taken = client->port->send(client->port->context, &conn->link, conn->buffer + gone, stored - gone);
            if (taken == E2B_IO_AGAIN) return E2B_PENDING;
            if (taken <= 0 || (size_t)taken > stored - gone) return send_failure(conn, taken);
            gone += (size_t)taken;
            conn->sent += (uint64_t)taken;
            conn->up = true;
            conn->used_ms = e2b_now(client);
            if (conn->sent == window.total) conn->sending = false;
        }
    }
    return E2B_OK;
}

/* ---- In ---------------------------------------------------------------------- */

static e2b_err receive_failure(e2b_conn *conn, int32_t outcome)
{
    if (outcome == E2B_IO_END) return e2b_http_end(&conn->http) == E2B_HTTP_DONE ? E2B_OK : conn->http.err;
    if (!conn->up && outcome == E2B_IO_TLS) return E2B_TLS;
    if (!conn->up && outcome == E2B_IO_CONNECT) return E2B_CONNECT;
    return e2b_http_started(&conn->http) ? E2B_TRUNCATED : E2B_NO_REPLY;
}

/* Fills the buffer behind what is kept. E2B_OK: bytes have come, or the link
 * has ended where the message allows that. */
static e2b_err receive(e2b_client *client, e2b_conn *conn)
{
    conn->in_at = conn->in_end = conn->collected > E2B_CONN_HEADROOM ? conn->collected : E2B_CONN_HEADROOM;
    uint32_t room = client->buffer_size - conn->in_end;
    if (conn->quiet) {
        /* The last receive emptied the port; asking again at once would only
         * cost a call to hear so. */
        conn->quiet = false;
        return E2B_PENDING;
    }
    int32_t got = client->port->recv(client->port->context, &conn->link, conn->buffer + conn->in_end, room);
    if (got == E2B_IO_AGAIN) return E2B_PENDING;
    if (got <= 0 || (uint32_t)got > room) return receive_failure(conn, got);
    conn->in_end += (uint32_t)got;
    conn->quiet = (uint32_t)got < room;
    conn->used_ms = e2b_now(client);
    return E2B_OK;
}

/* Runs the HTTP engine, over what is there and then over what comes, until it finds something. */
static e2b_err parse(e2b_client *client, e2b_conn *conn, int32_t *found)
{
    for (;;) {
        size_t used;
        e2b_str body = {NULL, 0};
        const char *in = (const char *)conn->buffer + conn->in_at;
        *found = e2b_http_read(&conn->http, in, conn->in_end - conn->in_at, &used, &body);
        if (*found == E2B_HTTP_BODY) {
            conn->body_at = (uint32_t)(body.ptr - (const char *)conn->buffer);
            conn->body_len = (uint32_t)body.len;
        }
        conn->in_at += (uint32_t)used;
        if (*found == E2B_HTTP_BAD) return conn->http.err;
        if (*found != E2B_HTTP_MORE) return E2B_OK;
        e2b_err err = receive(client, conn);
        if (err) return err;
    }
}

e2b_err e2b_conn_head(e2b_client *client, e2b_conn *conn)
{
    int32_t found;
    return parse(client, conn, &found);
}

e2b_err e2b_conn_body(e2b_client *client, e2b_conn *conn, uint8_t **piece, size_t *length)
{
    int32_t found = E2B_HTTP_BODY;
    if (!conn->body_len) {
        e2b_err err = parse(client, conn, &found);
        if (err) return err;
    }
    *piece = conn->buffer + conn->body_at;
    *length = found == E2B_HTTP_DONE ? 0 : conn->body_len;
    return E2B_OK;
}

void e2b_conn_take(e2b_conn *conn, size_t count)
{
    conn->body_at += (uint32_t)count;
    conn->body_len -= (uint32_t)count;
}

e2b_err e2b_conn_collect(e2b_client *client, e2b_conn *conn, e2b_str *body)
{
    uint8_t *piece;
    size_t length;
    e2b_err err;
    while (!(err = e2b_conn_body(client, conn, &piece, &length)) && length) {
        size_t room = E2B_CONN_COLLECT - conn->collected, kept = length < room ? length : room;
        memmove(conn->buffer + conn->collected, piece, kept);
        conn->collected += (uint32_t)kept;
        conn->drained += (uint32_t)length;
        e2b_conn_take(conn, length);
        if (conn->drained > E2B_CONN_DRAIN) {
            conn->spent = true;
            break;
        }
    }
    *body = (e2b_str){(const char *)conn->buffer, conn->collected};
    return err;
}

/* ---- Waiting ----------------------------------------------------------------- */

uint8_t e2b_conn_wants(const e2b_conn *conn)
{
    return conn->sending ? E2B_WANT_SEND : E2B_WANT_RECV;
}

static bool cancelled(const e2b_client *client)
{
    return client->cancel && !client->cleaning && *client->cancel;
}

/* One wait, no longer than until the cancel flag must be looked at again. */
static e2b_err wait_once(e2b_client *client, size_t count, uint64_t deadline, bool *woken)
{
    const e2b_port *port = client->port;
    uint64_t now = e2b_now(client), left = deadline > now ? deadline - now : 0;
    uint32_t timeout = deadline == E2B_NO_DEADLINE ? UINT32_MAX : left < UINT32_MAX ? (uint32_t)left : UINT32_MAX - 1;
    if (client->cancel && port->wake_ms && timeout > port->wake_ms) timeout = port->wake_ms;
    if (port->wait(port->context, client->waits, count, client->wait_space, timeout) != E2B_IO_OK) return E2B_PORT;
    *woken = timeout == UINT32_MAX || e2b_now(client) < now + timeout;
    for (size_t i = 0; i < count && *woken; i++) *woken = !client->waits[i].ready;
    return E2B_OK;
}

e2b_err e2b_wait_ready(e2b_client *client, size_t count, uint64_t deadline, bool *woken)
{
    bool unused;
    if (!client->conn_count) return E2B_CLOSED;
    if (cancelled(client)) return E2B_CANCELLED;
    e2b_err err = wait_once(client, count, deadline, woken ? woken : &unused);
    return !err && cancelled(client) ? E2B_CANCELLED : err;
}

e2b_err e2b_conn_await(e2b_client *client, e2b_conn *conn, uint64_t deadline)
{
    uint64_t until = deadline;
    uint32_t connect_ms = e2b_limit(client->limits.connect_ms, 10000);
    if (!conn->up && connect_ms != E2B_NO_LIMIT && conn->opened_ms + connect_ms < until) until = conn->opened_ms + connect_ms;
    if (e2b_now(client) >= until) return !conn->up ? E2B_CONNECT_TIMEOUT : conn->sending ? E2B_SEND_TIMEOUT : E2B_REPLY_TIMEOUT;
    client->waits[0] = (e2b_wait_item){&conn->link, e2b_conn_wants(conn), 0};
    return e2b_wait_ready(client, 1, until, NULL);
}
