/* sandbox: the life of a sandbox that exists. */
#include <string.h>

#include "cloud/api.h"
#include "cloud/sandbox_reply.h"
#include "wire/refusal.h"
#include "wire/report.h"

static e2b_err begin_named(e2b_client *client, e2b_sandbox *sandbox, const char *id, const char *operation)
{
    e2b_str name = {id, id ? strlen(id) : 0};
    memset(sandbox, 0, sizeof *sandbox);
    if (!e2b_sandbox_id_valid(name)) return e2b_fail_on(client, E2B_INVALID, operation, "not a sandbox id", name);
    sandbox->client = client;
    sandbox->destination = client->next_destination++;
    memcpy(sandbox->id, name.ptr, name.len);
    sandbox->state = E2B_SANDBOX_LIVE;
    return E2B_OK;
}

e2b_err e2b_sandbox_refer(e2b_client *client, e2b_sandbox *sandbox, const char *id)
{
    return begin_named(client, sandbox, id, "sandbox");
}

/* ---- Connect and resume -------------------------------------------------------- */

typedef struct connect_body {
    const e2b_connect_options *options;
    bool older;
} connect_body;

static void write_connect(e2b_text *text, const void *subject)
{
    const connect_body *body = subject;
    /* The older route insists on a timeout. */
    uint32_t timeout = body->options->timeout_s ? body->options->timeout_s : body->older ? 300 : 0;
    e2b_text_char(text, '{');
    if (timeout) {
        e2b_text_string(text, "\"timeout\":");
        e2b_text_u64(text, timeout);
    }
    if (body->options->memory) {
        if (timeout) e2b_text_char(text, ',');
        e2b_text_string(text, body->options->memory == E2B_NO ? "\"memory\":false" : "\"memory\":true");
    }
    e2b_text_char(text, '}');
}

static e2b_err begin_connect(e2b_call *call, e2b_sandbox *sandbox, const connect_body *body, const char *operation,
                             uint64_t deadline)
{
    e2b_api_call(sandbox->client, call, operation, "POST");
    call->deadline = deadline;
    e2b_api_path(call, body->older ? "/sandboxes/" : "/v2/sandboxes/", e2b_sandbox_id(sandbox), "/connect");
    e2b_api_body(call, write_connect, body);
    call->repeatable = true;
    return e2b_call_begin(call);
}

static e2b_err ask_to_connect(e2b_sandbox *sandbox, const e2b_connect_options *options, const char *operation)
{
    e2b_call call;
    connect_body body = {options, sandbox->client->routes == E2B_ROUTES_OLDER};
    uint64_t deadline = e2b_deadline(sandbox->client, sandbox->client->limits.request_ms, 60000);
    e2b_err err = begin_connect(&call, sandbox, &body, operation, deadline);
    if (err) return err;
    if (!body.older && e2b_api_lacks_route(&call, &err)) {
        body.older = true;
        err = begin_connect(&call, sandbox, &body, operation, deadline);
    }
    if (err) return err;
    if (call.conn->http.status >= 300) return e2b_call_refused(&call);
    return e2b_sandbox_read(&call, sandbox);
}

/* The answer goes into a copy: a failure must not cost the caller what it
 * knows, the id above all. */
static e2b_err connect(e2b_sandbox *sandbox, const e2b_connect_options *options, const char *operation)
{
    static const e2b_connect_options defaults = {0};
    e2b_sandbox fresh = *sandbox;
    if (!options) options = &defaults;
    if (options->timeout_s > INT32_MAX)
        return e2b_fail(sandbox->client, E2B_INVALID, operation, "timeout_s is above 2147483647");
    if (sandbox->client->debug) {
        sandbox->version[0] = sandbox->version[1] = sandbox->version[2] = 99;
        return E2B_OK;
    }
    e2b_err err = ask_to_connect(&fresh, options, operation);
    if (err) return err;
    /* Links that lead to the sandbox by its former name are not its own any more. */
    if (strcmp(fresh.domain, sandbox->domain) != 0) fresh.destination = fresh.client->next_destination++;
    *sandbox = fresh;
    return E2B_OK;
}

e2b_err e2b_sandbox_connect(e2b_client *client, e2b_sandbox *sandbox, const char *id, const e2b_connect_options *options)
{
    static const char operation[] = "connect to sandbox";
    e2b_err err = begin_named(client, sandbox, id, operation);
    return err ? err : connect(sandbox, options, operation);
}

e2b_err e2b_sandbox_resume(e2b_sandbox *sandbox, const e2b_connect_options *options)
{
    e2b_err err = e2b_sandbox_require(sandbox, "resume sandbox");
    return err ? err : connect(sandbox, options, "resume sandbox");
}

/* ---- Timeout and pause ---------------------------------------------------------- */

static void write_timeout(e2b_text *text, const void *subject)
{
    const uint32_t *seconds = subject;
    e2b_text_string(text, "{\"timeout\":");
    e2b_text_u64(text, *seconds);
    e2b_text_char(text, '}');
}

e2b_err e2b_sandbox_set_timeout(e2b_sandbox *sandbox, uint32_t timeout_s)
{
    static const char operation[] = "set the sandbox's timeout";
    e2b_call call;
    e2b_err err = e2b_sandbox_require(sandbox, operation);
    if (err) return err;
    if (timeout_s == 0)
        return e2b_fail(sandbox->client, E2B_INVALID, operation, "0 would end the sandbox at once: use kill for that");
    if (timeout_s > INT32_MAX) return e2b_fail(sandbox->client, E2B_INVALID, operation, "above 2147483647 seconds");
    if (sandbox->client->debug) return E2B_OK;
    e2b_api_call(sandbox->client, &call, operation, "POST");
    e2b_api_path(&call, "/sandboxes/", e2b_sandbox_id(sandbox), "/timeout");
    e2b_api_body(&call, write_timeout, &timeout_s);
    call.repeatable = true;
    return e2b_call_simple(&call);
}

static void write_pause(e2b_text *text, const void *subject)
{
    const int32_t *memory = subject;
    e2b_text_string(text, *memory == 0 ? "{}" : *memory == E2B_NO ? "{\"memory\":false}" : "{\"memory\":true}");
}

/* 409 means "already paused" and "busy with something else" alike; only the words tell. */
static bool says_already_paused(e2b_str body)
{
    static const char words[] = "already paused";
    for (size_t at = 0; at + sizeof words - 1 <= body.len; at++)
        if (memcmp(body.ptr + at, words, sizeof words - 1) == 0) return true;
    return false;
}

e2b_err e2b_sandbox_pause(e2b_sandbox *sandbox, int32_t memory)
{
    static const char operation[] = "pause sandbox";
    e2b_call call;
    e2b_str body;
    e2b_err err = e2b_sandbox_require(sandbox, operation);
    if (err) return err;
    if (!memory && sandbox->client->routes == E2B_ROUTES_OLDER) memory = E2B_YES;
    e2b_api_call(sandbox->client, &call, operation, "POST");
    e2b_api_path(&call, "/sandboxes/", e2b_sandbox_id(sandbox), "/pause");
    e2b_api_body(&call, write_pause, &memory);
    err = e2b_call_begin(&call);
    if (!err) err = e2b_call_collect(&call, &body);
    if (err) return err;
    int32_t status = call.conn->http.status;
    if (status >= 300 && !(status == 409 && says_already_paused(body)))
        err = e2b_refuse(sandbox->client, &(e2b_refusal){operation, status, call.conn->http.retry_after_s, body, false});
    e2b_call_end(&call);
    return err;
}
