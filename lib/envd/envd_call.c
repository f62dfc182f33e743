#include "envd/envd_call.h"

#include <string.h>

#include "wire/report.h"

/* A shared host serves all sandboxes, told apart by headers; elsewhere each
 * has a name of its own. The headers go along either way. */
static void address(e2b_sandbox *sandbox, e2b_envd_call *envd)
{
    const e2b_client *client = sandbox->client;
    e2b_call *call = &envd->call;
    if (client->sandbox_host.len) {
        call->request.host = client->sandbox_host;
        call->request.base_path = client->sandbox_path;
        call->route.destination = 1;
    } else {
        e2b_text host = {envd->host, sizeof envd->host, 0, 0};
        e2b_text_string(&host, "49983-");
        e2b_text_string(&host, sandbox->id);
        e2b_text_char(&host, '.');
        e2b_text_string(&host, sandbox->domain);
        call->request.host = (e2b_str){envd->host, e2b_text_stored(&host)};
        call->route.destination = sandbox->destination;
    }
    call->request.tcp_port = client->sandbox_port;
    call->route.host = call->request.host;
    call->route.address = client->sandbox_address;
    call->route.tls = client->sandbox_tls;
    call->route.tcp_port = client->sandbox_port ? client->sandbox_port : client->sandbox_tls ? 443 : 80;
}

void e2b_envd_request(e2b_sandbox *sandbox, e2b_envd_call *envd, const char *operation, const char *method,
                      const char *path)
{
    e2b_client *client = sandbox->client;
    e2b_call *call = &envd->call;
    memset(call, 0, sizeof *call);
    call->client = client;
    call->operation = operation;
    call->owner = sandbox->destination;
    call->use = E2B_USE_CALL;
    call->envd = true;
    call->deadline = e2b_deadline(client, client->limits.request_ms, 60000);
    address(sandbox, envd);
    call->request.method = method;
    call->request.path = path;
    call->request.user_agent = client->user_agent;
    call->request.sandbox_id = e2b_str_of(sandbox->id);
    call->request.access_token = e2b_str_of(sandbox->access_token);
}

void e2b_envd_unary(e2b_sandbox *sandbox, e2b_envd_call *envd, const char *operation, const char *path, bool binary,
                    e2b_write *body, const void *subject)
{
    e2b_envd_request(sandbox, envd, operation, "POST", path);
    envd->call.request.connect = true;
    envd->call.request.content_type = binary ? "application/proto" : "application/json";
    envd->call.request.body = body;
    envd->call.request.subject = subject;
}

void e2b_envd_stream(e2b_sandbox *sandbox, e2b_envd_call *envd, const char *operation, const char *path, bool binary,
                     e2b_write *body, const void *subject)
{
    e2b_envd_unary(sandbox, envd, operation, path, binary, body, subject);
    envd->call.request.content_type = binary ? "application/connect+proto" : "application/connect+json";
    envd->call.request.enveloped = true;
    envd->call.request.keepalive = true;
    envd->call.use = E2B_USE_STREAM;
    envd->call.deadline = e2b_deadline(sandbox->client, sandbox->client->limits.open_ms, 60000);
}

e2b_err e2b_envd_require(const e2b_sandbox *sandbox, const char *operation)
{
    if (!sandbox->client) return E2B_STATE;
    if (sandbox->state != E2B_SANDBOX_LIVE) return e2b_fail(sandbox->client, E2B_STATE, operation, "there is no live sandbox");
    if (sandbox->version[0] == 0 && sandbox->version[1] == 0)
        return e2b_fail(sandbox->client, E2B_STATE, operation, "only the sandbox's id is known: attach or connect first");
    if (sandbox->secret && !sandbox->access_token[0])
        return e2b_fail(sandbox->client, E2B_STATE, operation, "the sandbox's access token is not known");
    return E2B_OK;
}

bool e2b_envd_at_least(const e2b_sandbox *sandbox, uint16_t major, uint16_t minor, uint16_t patch)
{
    if (sandbox->version[0] != major) return sandbox->version[0] > major;
    if (sandbox->version[1] != minor) return sandbox->version[1] > minor;
    return sandbox->version[2] >= patch;
}
