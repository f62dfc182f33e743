#include "wire/request.h"

#include <string.h>

static void field(e2b_text *text, const char *name, e2b_str value)
{
    if (!value.len) return;
    e2b_text_string(text, name);
    e2b_text_str(text, value);
    e2b_text_string(text, "\r\n");
}

static void number_field(e2b_text *text, const char *name, uint64_t value)
{
    e2b_text_string(text, name);
    e2b_text_u64(text, value);
    e2b_text_string(text, "\r\n");
}

static void line(const e2b_request *request, e2b_text *text)
{
    e2b_text_string(text, request->method);
    e2b_text_char(text, ' ');
    e2b_text_str(text, request->base_path);
    e2b_text_string(text, request->path);
    e2b_text_str(text, request->id);
    if (request->path_end) e2b_text_string(text, request->path_end);
    if (request->query) request->query(text, request->subject);
    e2b_text_string(text, " HTTP/1.1\r\n");
}

static void host(const e2b_request *request, e2b_text *text)
{
    bool ipv6 = request->host.len && memchr(request->host.ptr, ':', request->host.len) != NULL;
    e2b_text_string(text, "Host: ");
    if (ipv6) e2b_text_char(text, '[');
    e2b_text_str(text, request->host);
    if (ipv6) e2b_text_char(text, ']');
    if (request->tcp_port) {
        e2b_text_char(text, ':');
        e2b_text_u64(text, request->tcp_port);
    }
    e2b_text_string(text, "\r\n");
}

/* The user name alone: envd ignores the password. */
static void authorization(const e2b_request *request, e2b_text *text)
{
    char pair[130];
    e2b_text plain = {pair, sizeof pair, 0, 0};
    e2b_text_string(&plain, request->user);
    e2b_text_char(&plain, ':');
    e2b_text_string(text, "Authorization: Basic ");
    e2b_text_base64(text, pair, e2b_text_stored(&plain));
    e2b_text_string(text, "\r\n");
}

static uint64_t body_length(const e2b_request *request)
{
    e2b_text count = {NULL, 0, 0, 0};
    if (request->body) request->body(&count, request->subject);
    return count.total;
}

void e2b_request_write(const e2b_request *request, e2b_text *text)
{
    uint64_t length = body_length(request);
    line(request, text);
    host(request, text);
    field(text, "User-Agent: ", request->user_agent);
    /* Proxies answer in HTML to what looks like a browser, and compress what
     * is not told otherwise. */
    e2b_text_string(text, "Accept: application/json\r\nAccept-Encoding: identity\r\n");
    field(text, "X-API-Key: ", request->api_key);
    if (request->sandbox_id.len) {
        field(text, "E2b-Sandbox-Id: ", request->sandbox_id);
        e2b_text_string(text, "E2b-Sandbox-Port: 49983\r\n");
    }
    field(text, "X-Access-Token: ", request->access_token);
    if (request->user) authorization(request, text);
    if (request->connect) e2b_text_string(text, "Connect-Protocol-Version: 1\r\n");
    if (request->timeout_ms) number_field(text, "Connect-Timeout-Ms: ", request->timeout_ms);
    if (request->keepalive) e2b_text_string(text, "Keepalive-Ping-Interval: 50\r\n");
    if (request->content_type) {
        e2b_text_string(text, "Content-Type: ");
        e2b_text_string(text, request->content_type);
        e2b_text_string(text, "\r\n");
        number_field(text, "Content-Length: ", length + (request->enveloped ? 5u : 0u));
    }
    e2b_text_string(text, "\r\n");
    if (request->enveloped) {
        uint8_t prefix[5] = {0, (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length};
        e2b_text_bytes(text, prefix, sizeof prefix);
    }
    if (request->body) request->body(text, request->subject);
}
