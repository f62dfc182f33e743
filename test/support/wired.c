#include "wired.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void wired_setup(wired *w)
{
    memset(w, 0, sizeof *w);
    e2b_memory_script_init(&w->script, w->steps, sizeof w->steps);
}

void wired_ready(wired *w, uint16_t connections, size_t buffer)
{
    e2b_client_options options = {.api_key = WIRED_KEY, .api_url = "http://example.test:8080", .connections = connections};
    size_t size = sizeof w->block;
    assert_false(w->script.full);
    e2b_memory_open(&w->port, w->script.memory, w->script.length);
    w->port.connections = w->connections;
    w->port.connection_count = 8;
    for (size_t i = 0; i < 8; i++) {
        w->connections[i].sent = w->sent[i];
        w->connections[i].sent_size = sizeof w->sent[i];
    }
    if (buffer) {
        assert_int_equal(e2b_client_init(&w->client, &w->port.port, &options, w->block, size), E2B_OK);
        size = (size_t)(w->client.conns[0].buffer - (uint8_t *)w->block) + connections * buffer;
    }
    assert_int_equal(e2b_client_init(&w->client, &w->port.port, &options, w->block, size), E2B_OK);
}

void wired_done(wired *w)
{
    e2b_client_close(&w->client);
    assert_int_equal(w->port.closes, w->port.opened);
}

void wired_reply(wired *w, const char *text)
{
    e2b_memory_request(&w->script);
    e2b_memory_text(&w->script, text);
}

e2b_route wired_route(uint32_t destination)
{
    return (e2b_route){{"example.test", 12}, {NULL, 0}, destination, 8080, false};
}

e2b_call wired_call(wired *w, bool repeatable)
{
    e2b_call call;
    memset(&call, 0, sizeof call);
    call.client = &w->client;
    call.operation = "ask";
    call.route = wired_route(0);
    call.use = E2B_USE_CALL;
    call.repeatable = repeatable;
    call.deadline = e2b_deadline(&w->client, 0, 60000);
    call.request.method = "GET";
    call.request.path = "/x";
    call.request.host = call.route.host;
    call.request.tcp_port = 8080;
    return call;
}

e2b_err wired_get(wired *w, bool repeatable)
{
    e2b_call call = wired_call(w, repeatable);
    e2b_err err = e2b_call_simple(&call);
    assert_null(call.conn);
    return err;
}

e2b_err wired_acquire(wired *w, uint32_t destination, uint8_t use, uint32_t flags, e2b_conn **conn)
{
    e2b_route route = wired_route(destination);
    e2b_err err = e2b_slot_acquire(&w->client, &route, destination, use, flags, NULL, conn);
    if (err) assert_null(*conn);
    else e2b_conn_start(*conn, NULL, 0);
    return err;
}

void wired_exchange(wired *w, e2b_conn *conn)
{
    e2b_call call = wired_call(w, false);
    e2b_err err;
    while ((err = e2b_conn_send(&w->client, conn, &call.request)) == E2B_PENDING)
        assert_int_equal(e2b_conn_await(&w->client, conn, call.deadline), E2B_OK);
    assert_int_equal(err, E2B_OK);
    while ((err = e2b_conn_head(&w->client, conn)) == E2B_PENDING)
        assert_int_equal(e2b_conn_await(&w->client, conn, call.deadline), E2B_OK);
    assert_int_equal(err, E2B_OK);
}
