#include "api_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SENT_BYTES (1u << 17)
#define REPLY_BYTES (1u << 15)

/* ---- The peer --------------------------------------------------------------- */

static void keep_request(api_peer *peer, const e2b_memory_request_seen *request)
{
    assert_true(peer->request_count < API_PEER_REQUESTS);
    assert_false(request->cut);
    char *text = malloc(request->head.len + request->body.len + 1);
    assert_non_null(text);
    memcpy(text, request->head.ptr, request->head.len);
    if (request->body.len)
        memcpy(text + request->head.len, request->body.ptr, request->body.len);
    text[request->head.len + request->body.len] = '\0';
    peer->arrived_ms[peer->request_count] = peer->port.now_ms;
    peer->connection[peer->request_count] = request->connection;
    peer->request_size[peer->request_count] = request->head.len + request->body.len;
    peer->requests[peer->request_count++] = text;
}

/* Steps are bytes that can be put one behind another. */
static void lay(e2b_memory_script *reply, const uint8_t *steps, size_t length)
{
    assert_true(reply->length + length <= reply->size);
    memcpy(reply->memory + reply->length, steps, length);
    reply->length += length;
}

static int respond(void *context, const e2b_memory_request_seen *request, e2b_memory_script *reply)
{
    api_peer *peer = context;
    keep_request(peer, request);
    if (peer->answer_next < peer->answer_count) {
        size_t start = peer->answer_start[peer->answer_next];
        lay(reply, peer->steps + start, peer->answer_end[peer->answer_next] - start);
        peer->answer_next++;
        return 0;
    }
    if (peer->always_end == 0)
        fail_msg("a request too many: %s", peer->requests[peer->request_count - 1]);
    lay(reply, peer->steps + peer->always_start, peer->always_end - peer->always_start);
    return 0;
}

/* ---- Setup -------------------------------------------------------------------- */

static void forget(api_peer *peer)
{
    e2b_client_close(&peer->client);
    for (size_t i = 0; i < peer->request_count; i++)
        free(peer->requests[i]);
    peer->request_count = 0;
    peer->answer_count = peer->answer_next = 0;
    peer->step_length = peer->always_start = peer->always_end = 0;
    memset(&peer->sandbox, 0, sizeof peer->sandbox);
}

void api_peer_restart(api_peer *peer, const e2b_client_options *options)
{
    e2b_client_options own;
    forget(peer);
    memset(&own, 0, sizeof own);
    if (options)
        own = *options;
    if (!own.api_key)
        own.api_key = API_PEER_KEY;
    if (!own.api_url)
        own.api_url = "http://api.example.test";
    if (!own.sandbox_url)
        own.sandbox_url = "http://sandbox.example.test";
    e2b_memory_open(&peer->port, NULL, 0);
    peer->port.respond = respond;
    peer->port.respond_context = peer;
    peer->port.connections = peer->connections;
    peer->port.connection_count = API_PEER_CONNECTIONS;
    for (size_t i = 0; i < API_PEER_CONNECTIONS; i++)
        peer->connections[i].open = false;
    api_peer_check(peer, e2b_client_init(&peer->client, &peer->port.port, &own, peer->memory, sizeof peer->memory), E2B_OK);
}

int api_peer_setup(void **state)
{
    api_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return -1;
    for (size_t i = 0; i < API_PEER_CONNECTIONS; i++) {
        peer->connections[i].sent = malloc(SENT_BYTES);
        peer->connections[i].sent_size = SENT_BYTES;
        peer->connections[i].reply = malloc(REPLY_BYTES);
        peer->connections[i].reply_size = REPLY_BYTES;
        if (!peer->connections[i].sent || !peer->connections[i].reply)
            return -1;
    }
    api_peer_restart(peer, NULL);
    *state = peer;
    return 0;
}

int api_peer_teardown(void **state)
{
    api_peer *peer = *state;
    size_t unasked = peer->answer_count - peer->answer_next;
    e2b_client_close(&peer->client);
    bool closed = peer->port.opened == peer->port.closes;
    forget(peer);
    for (size_t i = 0; i < API_PEER_CONNECTIONS; i++) {
        free(peer->connections[i].sent);
        free(peer->connections[i].reply);
    }
    free(peer);
    if (unasked || !closed)
        print_error("%zu answers were not asked for; every link closed: %s\n", unasked, closed ? "yes" : "no");
    return unasked || !closed ? -1 : 0;
}

/* ---- Answers ------------------------------------------------------------------ */

e2b_memory_script *api_peer_begin(api_peer *peer)
{
    assert_true(peer->answer_count < API_PEER_REQUESTS);
    e2b_memory_script_init(&peer->script, peer->steps + peer->step_length, sizeof peer->steps - peer->step_length);
    return &peer->script;
}

void api_peer_end(api_peer *peer)
{
    assert_false(peer->script.full);
    peer->answer_start[peer->answer_count] = peer->step_length;
    peer->step_length += peer->script.length;
    peer->answer_end[peer->answer_count++] = peer->step_length;
}

static void write_answer(e2b_memory_script *script, int status, const char *fields, const char *body)
{
    char head[1024];
    int length;
    if (status == 204)
        length = snprintf(head, sizeof head, "HTTP/1.1 204 No Content\r\n%s\r\n", fields);
    else
        length = snprintf(head, sizeof head, "HTTP/1.1 %d Something\r\n%sContent-Length: %zu\r\n\r\n", status, fields,
                          strlen(body));
    assert_true(length > 0 && (size_t)length < sizeof head);
    e2b_memory_text(script, head);
    if (status != 204)
        e2b_memory_text(script, body);
}

void api_peer_answer_with(api_peer *peer, int status, const char *fields, const char *body)
{
    write_answer(api_peer_begin(peer), status, fields, body);
    api_peer_end(peer);
}

void api_peer_answer(api_peer *peer, int status, const char *json)
{
    api_peer_answer_with(peer, status, status == 204 ? "" : "Content-Type: application/json; charset=utf-8\r\n", json);
}

void api_peer_answer_nothing(api_peer *peer)
{
    api_peer_begin(peer);
    api_peer_end(peer);
}

void api_peer_answer_reset(api_peer *peer)
{
    e2b_memory_reset(api_peer_begin(peer));
    api_peer_end(peer);
}

void api_peer_answer_after(api_peer *peer, uint32_t ms, int status, const char *json)
{
    e2b_memory_script *script = api_peer_begin(peer);
    e2b_memory_advance(script, ms);
    write_answer(script, status, "", json);
    api_peer_end(peer);
}

void api_peer_always(api_peer *peer)
{
    assert_true(peer->answer_count > 0);
    peer->answer_count--;
    peer->always_start = peer->answer_start[peer->answer_count];
    peer->always_end = peer->answer_end[peer->answer_count];
}

/* ---- Checks ------------------------------------------------------------------- */

void api_peer_check_line(const api_peer *peer, size_t number, const char *line)
{
    if (number >= peer->request_count) {
        fail_msg("request %zu was never sent: %s", number, line);
        return;
    }
    const char *request = peer->requests[number];
    size_t length = strcspn(request, "\r");
    static const char version[] = " HTTP/1.1";
    if (length != strlen(line) + strlen(version) || memcmp(request, line, strlen(line)) != 0 ||
        memcmp(request + strlen(line), version, strlen(version)) != 0)
        fail_msg("request %zu is %.*s, expected %s", number, (int)length, request, line);
}

const char *api_peer_body(const api_peer *peer, size_t number)
{
    assert_true(number < peer->request_count);
    const char *end = strstr(peer->requests[number], "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}

e2b_str api_peer_body_bytes(const api_peer *peer, size_t number)
{
    const char *body = api_peer_body(peer, number);
    return (e2b_str){body, peer->request_size[number] - (size_t)(body - peer->requests[number])};
}

static bool same_name(const char *line, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = line[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c != name[i])
            return false;
    }
    return line[length] == ':';
}

e2b_str api_peer_header(const api_peer *peer, size_t number, const char *name)
{
    assert_true(number < peer->request_count);
    const char *line = strstr(peer->requests[number], "\r\n") + 2;
    while (line[0] != '\r') {
        size_t length = strcspn(line, "\r");
        if (same_name(line, name, strlen(name))) {
            const char *value = line + strlen(name) + 1;
            value += strspn(value, " ");
            return (e2b_str){value, (size_t)(line + length - value)};
        }
        line += length + 2;
    }
    return (e2b_str){NULL, 0};
}

void api_peer_check_body(const api_peer *peer, size_t number, const char *body)
{
    assert_string_equal(api_peer_body(peer, number), body);
}

bool api_peer_contains(const api_peer *peer, size_t number, const char *text)
{
    assert_true(number < peer->request_count);
    return strstr(peer->requests[number], text) != NULL;
}

void api_peer_check(const api_peer *peer, e2b_err found, e2b_err expected)
{
    if (found != expected)
        fail_msg("%s, expected %s: %s / %s", e2b_err_name(found), e2b_err_name(expected), peer->client.error.text,
                 peer->client.cleanup_error.text);
}

void api_peer_check_words(const e2b_error *error, e2b_err code, const char *words)
{
    if (error->code != code || !strstr(error->text, words))
        fail_msg("%s '%s', expected %s with '%s'", e2b_err_name(error->code), error->text, e2b_err_name(code), words);
}
