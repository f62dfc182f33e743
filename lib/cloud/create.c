/* create: a sandbox is made once, and can be found again when the answer is lost. */
#include <string.h>

#include "cloud/api.h"
#include "cloud/create_body.h"
#include "cloud/sandbox_reply.h"
#include "wire/report.h"

static const char operation[] = "create sandbox";

/* A sandbox of a local envd: no control plane is asked. */
static e2b_err create_debug(e2b_sandbox *sandbox)
{
    e2b_text id = {sandbox->id, sizeof sandbox->id, 0, 0};
    e2b_text version = {sandbox->envd_version, sizeof sandbox->envd_version, 0, 0};
    e2b_text domain = {sandbox->domain, sizeof sandbox->domain, 0, 0};
    e2b_text_string(&id, "debug_sandbox_id");
    e2b_text_string(&version, "99.99.99");
    e2b_text_str(&domain, sandbox->client->domain);
    sandbox->version[0] = sandbox->version[1] = sandbox->version[2] = 99;
    sandbox->state = E2B_SANDBOX_LIVE;
    return E2B_OK;
}

static e2b_err draw_tag(e2b_sandbox *sandbox)
{
    const e2b_port *port = sandbox->client->port;
    uint8_t bytes[16];
    e2b_text tag = {sandbox->create_tag, sizeof sandbox->create_tag, 0, 0};
    if (port->random(port->context, bytes, sizeof bytes) != E2B_IO_OK)
        return e2b_fail(sandbox->client, E2B_PORT, operation, "the port gives no random bytes");
    e2b_text_hex(&tag, bytes, sizeof bytes);
    e2b_text_terminate(&tag);
    return E2B_OK;
}

static void prepare(e2b_call *call, e2b_client *client, const e2b_create_body *body)
{
    e2b_api_call(client, call, operation, "POST");
    e2b_api_path(call, body->older ? "/sandboxes" : "/v2/sandboxes", (e2b_str){NULL, 0}, NULL);
    e2b_api_body(call, e2b_create_body_write, body);
}

/* The request has left and no answer says what became of it. */
static e2b_err lost(e2b_sandbox *sandbox, const e2b_call *call, e2b_err err)
{
    sandbox->state = call->sent ? E2B_SANDBOX_MAYBE : E2B_SANDBOX_NONE;
    sandbox->sent_ms = call->sent_ms;
    return err;
}

/* A 5xx that is not the API's own may come from something that gave up waiting for it. */
static e2b_err refused(e2b_sandbox *sandbox, const e2b_call *call, int32_t status, e2b_err err)
{
    bool said_no = status < 500 || err == E2B_SERVER || err == E2B_NO_CAPACITY || err == E2B_UNIMPLEMENTED;
    return said_no ? err : lost(sandbox, call, err);
}

static e2b_err created(e2b_sandbox *sandbox, e2b_call *call)
{
    sandbox->sent_ms = call->sent_ms;
    sandbox->state = E2B_SANDBOX_MAYBE;
    e2b_err err = e2b_sandbox_read(call, sandbox);
    if (sandbox->id[0]) sandbox->state = E2B_SANDBOX_LIVE;
    return err;
}

static e2b_err send(e2b_sandbox *sandbox, e2b_create_body *body)
{
    e2b_client *client = sandbox->client;
    e2b_call call;
    e2b_err err = E2B_OK;
    body->older = client->routes == E2B_ROUTES_OLDER || body->options->secure == E2B_NO;
    prepare(&call, client, body);
    err = e2b_call_begin(&call);
    if (err) return lost(sandbox, &call, err);
    int32_t status = call.conn->http.status;
    if (!body->older && e2b_api_lacks_route(&call, &err)) {
        uint64_t deadline = call.deadline;
        body->older = true;
        prepare(&call, client, body);
        call.deadline = deadline;
        err = e2b_call_begin(&call);
        if (err) return lost(sandbox, &call, err);
        status = call.conn->http.status;
    }
    if (status < 300) return created(sandbox, &call);
    if (!err) err = e2b_call_refused(&call);
    return refused(sandbox, &call, status, err);
}

e2b_err e2b_sandbox_create(e2b_client *client, e2b_sandbox *sandbox, const e2b_sandbox_options *options)
{
    static const e2b_sandbox_options defaults = {0};
    if (!options) options = &defaults;
    if (sandbox->state == E2B_SANDBOX_LIVE || sandbox->state == E2B_SANDBOX_MAYBE)
        return e2b_fail(client, E2B_STATE, operation, "this struct holds a sandbox already: kill it first");
    if (!client->conn_count) return e2b_fail(client, E2B_CLOSED, operation, "the client is not open");
    const char *wrong = e2b_create_options_wrong(options);
    memset(sandbox, 0, sizeof *sandbox);
    if (wrong) return e2b_fail(client, E2B_INVALID, operation, wrong);
    sandbox->client = client;
    sandbox->destination = client->next_destination++;
    if (client->debug) return create_debug(sandbox);
    if (!options->untagged) {
        e2b_err err = draw_tag(sandbox);
        if (err) return err;
    }
    e2b_create_body body = {options, sandbox->create_tag, false};
    return send(sandbox, &body);
}
