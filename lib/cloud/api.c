#include "cloud/api.h"

#include <string.h>

#include "wire/refusal.h"
#include "wire/report.h"

void e2b_api_call(e2b_client *client, e2b_call *call, const char *operation, const char *method)
{
    memset(call, 0, sizeof *call);
    call->client = client;
    call->operation = operation;
    call->use = E2B_USE_CALL;
    call->deadline = e2b_deadline(client, client->limits.request_ms, 60000);
    call->route.host = client->api_host;
    call->route.address = client->api_address;
    call->route.tls = client->api_tls;
    call->route.tcp_port = client->api_port ? client->api_port : client->api_tls ? 443 : 80;
    call->request.method = method;
    call->request.base_path = client->api_path;
    call->request.host = client->api_host;
    call->request.tcp_port = client->api_port;
    call->request.user_agent = client->user_agent;
    call->request.api_key = client->api_key;
}

void e2b_api_path(e2b_call *call, const char *path, e2b_str id, const char *end)
{
    call->request.path = path;
    call->request.id = id;
    call->request.path_end = end;
}

void e2b_api_body(e2b_call *call, e2b_write *body, const void *subject)
{
    call->request.content_type = "application/json";
    call->request.body = body;
    call->request.subject = subject;
}

bool e2b_api_lacks_route(e2b_call *call, e2b_err *err)
{
    int32_t status = call->conn->http.status;
    if (status < 300) {
        call->client->routes = E2B_ROUTES_NEWER;
        return false;
    }
    e2b_str body;
    *err = e2b_call_collect(call, &body);
    if (*err) return false;
    if (e2b_refusal_is_missing_route(call->client, status, body)) {
        call->client->routes = E2B_ROUTES_OLDER;
        e2b_call_end(call);
        return true;
    }
    *err = e2b_refuse(call->client, &(e2b_refusal){call->operation, status, call->conn->http.retry_after_s, body, false});
    e2b_call_end(call);
    return false;
}

bool e2b_sandbox_id_valid(e2b_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '-' && c != '_') return false;
    }
    return id.len >= 1 && id.len <= 64;
}

e2b_str e2b_sandbox_id(const e2b_sandbox *sandbox)
{
    return (e2b_str){sandbox->id, strlen(sandbox->id)};
}

e2b_err e2b_sandbox_require(const e2b_sandbox *sandbox, const char *operation)
{
    if (!sandbox->client) return E2B_STATE;
    if (sandbox->state == E2B_SANDBOX_LIVE) return E2B_OK;
    return e2b_fail(sandbox->client, E2B_STATE, operation,
                    sandbox->state == E2B_SANDBOX_MAYBE ? "the create's answer was lost: settle or kill first"
                    : sandbox->state == E2B_SANDBOX_GONE ? "the sandbox is gone" : "there is no sandbox");
}
