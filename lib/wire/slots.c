#include "wire/slots.h"

static bool holds_long(const e2b_conn *conn)
{
    return conn->use == E2B_USE_STREAM;
}

static bool streams_full(const e2b_client *client)
{
    uint16_t held = 0, allowed = client->conn_count > 1 ? (uint16_t)(client->conn_count - 1) : 1;
    for (uint16_t i = 0; i < client->conn_count; i++) held = (uint16_t)(held + holds_long(&client->conns[i]));
    return held >= allowed;
}

/* The last chunk of a stream often comes alone after its last message. */
static bool drained(e2b_client *client, e2b_conn *conn, bool may_wait)
{
    uint64_t deadline = e2b_deadline(client, client->limits.drain_ms, 50);
    for (;;) {
        uint8_t *piece;
        size_t length;
        e2b_err err = e2b_conn_body(client, conn, &piece, &length);
        if (!err) return length == 0 && conn->http.keep_alive && conn->in_at == conn->in_end;
        if (err != E2B_PENDING || !may_wait || e2b_now(client) >= deadline) return false;
        client->waits[0] = (e2b_wait_item){&conn->link, E2B_WANT_RECV, 0};
        if (e2b_wait_ready(client, 1, deadline, NULL)) return false;
    }
}

/* A kept link that has something to say has been closed by the server, or is out of step. */
static bool silent(e2b_client *client, e2b_conn *conn)
{
    return client->port->recv(client->port->context, &conn->link, conn->buffer, 1) == E2B_IO_AGAIN;
}

static bool usable(e2b_client *client, e2b_conn *conn, uint32_t flags)
{
    uint64_t idle = e2b_now(client) - conn->used_ms;
    uint32_t longest = flags & E2B_SLOT_FRESH ? e2b_limit(client->limits.fresh_ms, 5000)
                                              : e2b_limit(client->limits.kept_ms, 30000);
    if (flags & E2B_SLOT_NEW || idle > longest) return false;
    if (conn->use == E2B_USE_DRAIN && !drained(client, conn, !(flags & E2B_SLOT_NO_WAIT))) return false;
    return silent(client, conn);
}

/* A link to the same place that can go on; those that can't are closed on the way. */
static e2b_conn *find_kept(e2b_client *client, const e2b_route *route, uint32_t flags)
{
    for (uint16_t i = 0; i < client->conn_count; i++) {
        e2b_conn *conn = &client->conns[i];
        if (conn->use != E2B_USE_KEPT && conn->use != E2B_USE_DRAIN) continue;
        if (conn->destination != route->destination) continue;
        if (usable(client, conn, flags)) return conn;
        e2b_conn_close(client, conn, false);
    }
    return NULL;
}

static e2b_conn *find_use(e2b_client *client, uint8_t use)
{
    for (uint16_t i = 0; i < client->conn_count; i++)
        if (client->conns[i].use == use) return &client->conns[i];
    return NULL;
}

static e2b_conn *find_stream(e2b_client *client, uint32_t owner)
{
    e2b_conn *other = NULL;
    for (uint16_t i = 0; i < client->conn_count; i++) {
        if (!holds_long(&client->conns[i])) continue;
        if (client->conns[i].owner == owner) return &client->conns[i];
        other = &client->conns[i];
    }
    return other;
}

/* A slot whose link, if it has one, is to be replaced. */
static e2b_conn *find_place(e2b_client *client, uint32_t owner, uint8_t use, uint32_t flags)
{
    e2b_conn *conn = find_use(client, E2B_USE_FREE);
    if (!conn) conn = find_use(client, E2B_USE_KEPT);
    if (!conn) conn = find_use(client, E2B_USE_DRAIN);
    if (!conn && flags & E2B_SLOT_TAKE_INPUT) conn = find_use(client, E2B_USE_INPUT);
    /* Two looks that took the slot from each other would never end. */
    if (!conn && flags & E2B_SLOT_TAKE_INPUT && use != E2B_USE_LOOK) conn = find_use(client, E2B_USE_LOOK);
    if (!conn && flags & E2B_SLOT_TAKE_STREAM) conn = find_stream(client, owner);
    return conn;
}

static void begin_use(e2b_conn *conn, uint32_t owner, uint8_t use)
{
    conn->owner = owner;
    conn->use = use;
    conn->generation++;
}

e2b_err e2b_slot_acquire(e2b_client *client, const e2b_route *route, uint32_t owner, uint8_t use, uint32_t flags,
                         const e2b_conn *beside, e2b_conn **conn)
{
    *conn = NULL;
    if (use == E2B_USE_STREAM && streams_full(client)) return E2B_BUSY;
    *conn = find_kept(client, route, flags);
    if (*conn) {
        begin_use(*conn, owner, use);
        (*conn)->reused = true;
        return E2B_OK;
    }
    e2b_conn *place = find_place(client, owner, use, flags);
    if (!place) return E2B_BUSY;
    e2b_conn_close(client, place, false);
    e2b_err err = e2b_conn_open(client, place, route, beside);
    if (err) return err;
    begin_use(place, owner, use);
    *conn = place;
    return E2B_OK;
}

void e2b_slot_release(e2b_client *client, e2b_conn *conn, bool drain)
{
    uint8_t *piece;
    size_t length = 1;
    e2b_err err = conn->sending || conn->spent ? E2B_SEND : e2b_conn_body(client, conn, &piece, &length);
    /* Bytes behind the message belong to no request of ours. */
    bool complete = !err && length == 0 && conn->in_at == conn->in_end;
    conn->generation++;
    if (complete && conn->http.keep_alive) conn->use = E2B_USE_KEPT;
    else if (drain && err == E2B_PENDING) conn->use = E2B_USE_DRAIN;
    else e2b_conn_close(client, conn, false);
}

uint16_t e2b_slot_number(const e2b_client *client, const e2b_conn *conn)
{
    return (uint16_t)(conn - client->conns);
}

e2b_conn *e2b_slot_held(const e2b_client *client, uint16_t slot, uint32_t generation)
{
    if (slot >= client->conn_count) return NULL;
    e2b_conn *conn = &client->conns[slot];
    return conn->generation == generation && conn->use >= E2B_USE_CALL ? conn : NULL;
}
