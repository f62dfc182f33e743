#include "wire/call.h"

#include <string.h>

#include "wire/refusal.h"
#include "wire/report.h"

static e2b_err send_all(e2b_call *call)
{
    e2b_err err;
    while ((err = e2b_conn_send(call->client, call->conn, &call->request)) == E2B_PENDING) {
        err = e2b_conn_await(call->client, call->conn, call->deadline);
        if (err) return err;
    }
    call->sent = !err;
    call->sent_ms = call->conn->used_ms;
    return err;
}

static e2b_err receive_head(e2b_call *call)
{
    e2b_err err;
    while ((err = e2b_conn_head(call->client, call->conn)) == E2B_PENDING) {
        err = e2b_conn_await(call->client, call->conn, call->deadline);
        if (err) return err;
    }
    return err;
}

/* A server that refuses a request may answer before it has taken all of it and
 * stop reading: the answer says more than the broken link. */
static bool refused_early(e2b_call *call)
{
    e2b_conn *conn = call->conn;
    if (!conn->sent) return false;
    conn->sending = false; /* what is waited for is the answer */
    bool refused = !receive_head(call) && conn->http.status >= 300;
    conn->spent = true;
    return refused;
}

/* The last bytes of a finished stream are not worth more time than the call has. */
static bool may_drain(const e2b_call *call)
{
    uint32_t drain = e2b_limit(call->client->limits.drain_ms, 50);
    if (call->deadline == E2B_NO_DEADLINE) return true;
    return drain != E2B_NO_LIMIT && e2b_now(call->client) + drain < call->deadline;
}

static e2b_err attempt(e2b_call *call, uint32_t flags)
{
    if (!may_drain(call)) flags |= E2B_SLOT_NO_WAIT;
    e2b_err err = e2b_slot_acquire(call->client, &call->route, call->owner, call->use, flags, NULL, &call->conn);
    if (err) return err;
    e2b_conn_start(call->conn, call->next_token, call->next_token_size);
    err = send_all(call);
    if (err == E2B_SEND && refused_early(call)) return E2B_OK;
    return err ? err : receive_head(call);
}

/* A kept link may have been closed by the server in the very moment of use. */
static bool died_unused(const e2b_call *call, e2b_err err)
{
    return call->conn && call->conn->reused && !e2b_http_started(&call->conn->http) &&
           (err == E2B_SEND || err == E2B_NO_REPLY);
}

static void trace_request(const e2b_call *call)
{
    char line[160];
    e2b_text text = {line, sizeof line, 0, 0};
    e2b_text_string(&text, "> ");
    e2b_text_string(&text, call->request.method);
    e2b_text_char(&text, ' ');
    e2b_text_str(&text, call->request.base_path);
    e2b_text_string(&text, call->request.path);
    e2b_text_str(&text, call->request.id);
    if (call->request.path_end) e2b_text_string(&text, call->request.path_end);
    e2b_text_string(&text, " to ");
    e2b_text_str(&text, call->request.host);
    e2b_trace(call->client, &text);
}

static void trace_status(const e2b_call *call)
{
    char line[16];
    e2b_text text = {line, sizeof line, 0, 0};
    e2b_text_string(&text, "< ");
    e2b_text_u64(&text, call->conn->http.status);
    e2b_trace(call->client, &text);
}

e2b_err e2b_call_begin(e2b_call *call)
{
    call->sent = false;
    if (!call->client->conn_count) return e2b_call_fail(call, E2B_CLOSED, "the client is not open");
    trace_request(call);
    e2b_err err = attempt(call, call->slot_flags | (call->repeatable ? 0 : E2B_SLOT_FRESH));
    if (err && call->repeatable && died_unused(call, err)) {
        e2b_conn_close(call->client, call->conn, false);
        call->conn = NULL;
        call->sent = false;
        err = attempt(call, call->slot_flags | E2B_SLOT_NEW);
    }
    if (err) return e2b_call_fail(call, err, NULL);
    trace_status(call);
    return E2B_OK;
}

e2b_err e2b_call_body(e2b_call *call, uint8_t **piece, size_t *length)
{
    bool fresh = !call->conn->body_len;
    e2b_err err;
    while ((err = e2b_conn_body(call->client, call->conn, piece, length)) == E2B_PENDING) {
        err = e2b_conn_await(call->client, call->conn, call->deadline);
        if (err) break;
    }
    /* A peer that never pauses must not outlast the deadline. */
    if (!err && fresh && *length && e2b_now(call->client) > call->deadline) err = E2B_REPLY_TIMEOUT;
    return err ? e2b_call_fail(call, err, NULL) : E2B_OK;
}

e2b_err e2b_call_collect(e2b_call *call, e2b_str *body)
{
    e2b_err err;
    while ((err = e2b_conn_collect(call->client, call->conn, body)) == E2B_PENDING) {
        err = e2b_conn_await(call->client, call->conn, call->deadline);
        if (err) break;
    }
    return err ? e2b_call_fail(call, err, NULL) : E2B_OK;
}

e2b_err e2b_call_refused(e2b_call *call)
{
    e2b_str body;
    e2b_err err = e2b_call_collect(call, &body);
    if (err) return err;
    err = e2b_refuse(call->client, &(e2b_refusal){call->operation, call->conn->http.status,
                                                  call->conn->http.retry_after_s, body, call->envd});
    e2b_call_end(call);
    return err;
}

/* Where the trouble was, for errors that say nothing without it. */
static void place(const e2b_call *call, e2b_text *text)
{
    e2b_text_string(text, ": ");
    e2b_text_str(text, call->request.host);
    e2b_text_char(text, ':');
    e2b_text_u64(text, call->route.tcp_port);
}

e2b_err e2b_call_fail(e2b_call *call, e2b_err err, const char *detail)
{
    e2b_client *client = call->client;
    int32_t port_error = call->conn ? call->conn->link.error : client->open_error;
    int32_t status = call->conn ? call->conn->http.status : 0;
    e2b_text text;
    e2b_error *error = e2b_report(client, err, call->operation, &text);
    error->http_status = status;
    if (err <= E2B_RESOLVE && err > E2B_PROTOCOL) error->port_error = port_error;
    if (err == E2B_UNSUPPORTED && !call->conn)
        e2b_text_string(&text, "this build has no TLS: set E2B_API_URL and E2B_SANDBOX_URL to an http URL");
    else if (err == E2B_PROTOCOL && call->conn && !status)
        e2b_text_string(&text, "what answers does not speak HTTP/1.1: check the URL, its scheme and port");
    else
        e2b_text_string(&text, detail ? detail : e2b_err_text(err));
    if (err <= E2B_RESOLVE && err > E2B_NO_EXIT) place(call, &text);
    e2b_report_end(client, error, &text);
    if (call->conn) e2b_conn_close(client, call->conn, !call->repeatable);
    call->conn = NULL;
    return err;
}

void e2b_call_end(e2b_call *call)
{
    if (call->conn) e2b_slot_release(call->client, call->conn, false);
    call->conn = NULL;
}

e2b_err e2b_call_simple(e2b_call *call)
{
    e2b_err err = e2b_call_begin(call);
    if (err) return err;
    if (call->conn->http.status >= 300) return e2b_call_refused(call);
    e2b_str body;
    err = e2b_call_collect(call, &body);
    if (!err) e2b_call_end(call);
    return err;
}
