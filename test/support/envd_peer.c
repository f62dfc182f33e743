#include "envd_peer.h"

#include "base/text.h"
#include "cloud/sandbox_reply.h"
#include "wire/conn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SENT_BYTES (4u << 20)
#define REPLY_BYTES (1u << 17)
#define STEP_BYTES (1u << 19)
#define BUFFER_MOST (64u << 10)

/* ---- The peer --------------------------------------------------------------- */

static bool path_ends(e2b_str head, const char *path)
{
    const char *end = memchr(head.ptr, '\r', head.len);
    static const char version[] = " HTTP/1.1";
    size_t length = strlen(path);
    if (!end || (size_t)(end - head.ptr) < length + strlen(version)) return false;
    return memcmp(end - strlen(version) - length, path, length) == 0;
}

static void keep_request(envd_peer *peer, const e2b_memory_request_seen *request)
{
    peer->requests_seen++;
    if (peer->request_count == ENVD_PEER_REQUESTS) return;
    assert_false(request->cut);
    size_t length = request->head.len + request->body.len;
    char *text = malloc(length + 1);
    assert_non_null(text);
    memcpy(text, request->head.ptr, request->head.len);
    if (request->body.len) memcpy(text + request->head.len, request->body.ptr, request->body.len);
    text[length] = '\0';
    peer->body_length[peer->request_count] = request->body.len;
    peer->arrived_ms[peer->request_count] = peer->port.now_ms;
    peer->connection[peer->request_count] = request->connection;
    peer->requests[peer->request_count++] = text;
}

static int respond(void *context, const e2b_memory_request_seen *request, e2b_memory_script *reply)
{
    envd_peer *peer = context;
    keep_request(peer, request);
    for (size_t i = 0; i < peer->answer_count; i++) {
        if (peer->answers[i].used || !path_ends(request->head, peer->answers[i].path)) continue;
        size_t length = peer->answers[i].end - peer->answers[i].start;
        assert_true(length <= reply->size);
        memcpy(reply->memory, peer->steps + peer->answers[i].start, length);
        reply->length = length;
        peer->answers[i].used = !peer->answers[i].always;
        return 0;
    }
    if (!peer->tolerant) fail_msg("a request too many: %s", peer->requests[peer->request_count - 1]);
    return 1;
}

static int32_t guarded_wait(void *context, e2b_wait_item *items, size_t count, uint64_t *space, uint32_t timeout_ms)
{
    envd_peer *peer = context;
    if (peer->port.waits >= peer->waits_allowed) fail_msg("%u waits and no end", (unsigned)peer->port.waits);
    return peer->wait(context, items, count, space, timeout_ms);
}

/* ---- Setup -------------------------------------------------------------------- */

static void forget(envd_peer *peer)
{
    e2b_client_close(&peer->client);
    for (size_t i = 0; i < peer->request_count; i++) free(peer->requests[i]);
    peer->request_count = 0;
    peer->requests_seen = 0;
    peer->answer_count = 0;
    peer->step_length = 0;
}

void envd_peer_sandbox(envd_peer *peer, e2b_sandbox *sandbox, const char *id, const char *version)
{
    envd_peer_check(peer, e2b_sandbox_refer(&peer->client, sandbox, id), E2B_OK);
    assert_true(e2b_version_parse(version, sandbox->version));
    strcpy(sandbox->access_token, ENVD_PEER_TOKEN);
    strcpy(sandbox->domain, "example.test");
}

void envd_peer_restart(envd_peer *peer, const envd_peer_options *options)
{
    envd_peer_options own = {0};
    e2b_client_options client = {0};
    forget(peer);
    if (options) own = *options;
    if (!own.connections) own.connections = 3;
    if (!own.buffer) own.buffer = 1024;
    assert_true(own.connections <= ENVD_PEER_CONNECTIONS && own.buffer <= BUFFER_MOST);
    client.api_key = "e2b_0123456789abcdef";
    client.api_url = "http://api.example.test";
    client.sandbox_url = "http://sandbox.example.test";
    client.connections = own.connections;
    client.codec = own.codec;
    client.cancel = own.cancel;
    e2b_memory_open(&peer->port, own.links ? own.links->memory : NULL, own.links ? own.links->length : 0);
    peer->port.respond = respond;
    peer->port.respond_context = peer;
    peer->port.connections = peer->connections;
    peer->port.connection_count = ENVD_PEER_CONNECTIONS;
    for (size_t i = 0; i < ENVD_PEER_CONNECTIONS; i++) peer->connections[i].open = false;
    peer->wait = peer->port.port.wait;
    peer->port.port.wait = guarded_wait;
    peer->waits_allowed = 20000;
    peer->codec = own.codec;
    peer->tolerant = false;
    envd_peer_check(peer, e2b_client_init(&peer->client, &peer->port.port, &client, peer->memory,
                                          E2B_CLIENT_MEMORY(own.connections, own.buffer)), E2B_OK);
    /* Exactly the buffer that was asked for, wherever the strings' share is larger than they are. */
    peer->client.buffer_size = (uint32_t)own.buffer;
    envd_peer_sandbox(peer, &peer->sandbox, "isandbox1", own.version ? own.version : "0.6.13");
}

int envd_peer_setup(void **state)
{
    envd_peer *peer = calloc(1, sizeof *peer);
    if (!peer) return -1;
    peer->memory = malloc(E2B_CLIENT_MEMORY(ENVD_PEER_CONNECTIONS, BUFFER_MOST));
    peer->steps = malloc(STEP_BYTES);
    if (!peer->memory || !peer->steps) return -1;
    for (size_t i = 0; i < ENVD_PEER_CONNECTIONS; i++) {
        peer->connections[i].sent = malloc(SENT_BYTES);
        peer->connections[i].sent_size = SENT_BYTES;
        peer->connections[i].reply = malloc(REPLY_BYTES);
        peer->connections[i].reply_size = REPLY_BYTES;
        if (!peer->connections[i].sent || !peer->connections[i].reply) return -1;
    }
    envd_peer_restart(peer, NULL);
    *state = peer;
    return 0;
}

int envd_peer_teardown(void **state)
{
    envd_peer *peer = *state;
    size_t unasked = 0;
    for (size_t i = 0; i < peer->answer_count && !peer->tolerant; i++) unasked += !peer->answers[i].used && !peer->answers[i].always;
    forget(peer);
    bool closed = peer->port.opened == peer->port.closes;
    for (size_t i = 0; i < ENVD_PEER_CONNECTIONS; i++) {
        free(peer->connections[i].sent);
        free(peer->connections[i].reply);
    }
    free(peer->memory);
    free(peer->steps);
    free(peer);
    if (unasked || !closed) print_error("%zu answers were not asked for; every link closed: %s\n", unasked, closed ? "yes" : "no");
    return unasked || !closed ? -1 : 0;
}

/* ---- Answers ------------------------------------------------------------------ */

e2b_memory_script *envd_peer_answer(envd_peer *peer, const char *path)
{
    assert_true(peer->answer_count < ENVD_PEER_ANSWERS);
    peer->answers[peer->answer_count].path = path;
    peer->answers[peer->answer_count].start = peer->step_length;
    peer->answers[peer->answer_count].used = peer->answers[peer->answer_count].always = false;
    e2b_memory_script_init(&peer->script, peer->steps + peer->step_length, STEP_BYTES - peer->step_length);
    return &peer->script;
}

e2b_memory_script *envd_peer_always(envd_peer *peer, const char *path)
{
    envd_peer_answer(peer, path);
    peer->answers[peer->answer_count].always = true;
    return &peer->script;
}

void envd_peer_done(envd_peer *peer)
{
    assert_false(peer->script.full);
    peer->step_length += peer->script.length;
    peer->answers[peer->answer_count++].end = peer->step_length;
}

void envd_write_reply(e2b_memory_script *script, int status, const char *json)
{
    char head[160];
    int length = snprintf(head, sizeof head, "HTTP/1.1 %d Something\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                          status, strlen(json));
    assert_true(length > 0 && (size_t)length < sizeof head);
    e2b_memory_text(script, head);
    e2b_memory_text(script, json);
}

void envd_peer_reply(envd_peer *peer, const char *path, int status, const char *json)
{
    envd_write_reply(envd_peer_answer(peer, path), status, json);
    envd_peer_done(peer);
}

void envd_peer_reply_always(envd_peer *peer, const char *path, int status, const char *json)
{
    envd_write_reply(envd_peer_always(peer, path), status, json);
    envd_peer_done(peer);
}

void envd_peer_silence(envd_peer *peer, const char *path)
{
    envd_peer_answer(peer, path);
    envd_peer_done(peer);
}

/* ---- Streams -------------------------------------------------------------------- */

void envd_write_head(e2b_memory_script *script)
{
    e2b_memory_text(script, "HTTP/1.1 200 OK\r\nContent-Type: application/connect+json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void envd_write_message(e2b_memory_script *script, uint8_t flags, const void *payload, size_t length)
{
    static uint8_t message[1u << 17];
    int at = snprintf((char *)message, sizeof message, "%zx\r\n", length + 5);
    assert_true(at > 0 && (size_t)at + length + 7 <= sizeof message);
    uint8_t *out = message + at;
    *out++ = flags;
    for (int shift = 24; shift >= 0; shift -= 8) *out++ = (uint8_t)(length >> shift);
    if (length) memcpy(out, payload, length);
    memcpy(out + length, "\r\n", 2);
    e2b_memory_data(script, message, (size_t)(out + length + 2 - message));
}

static void put_varint(e2b_text *text, uint64_t value)
{
    for (; value > 127; value >>= 7) e2b_text_char(text, (char)(unsigned char)(value | 128));
    e2b_text_char(text, (char)value);
}

static void put_field(e2b_text *text, uint8_t field, const void *bytes, size_t length)
{
    e2b_text_char(text, (char)(field << 3 | 2));
    put_varint(text, length);
    e2b_text_bytes(text, bytes, length);
}

/* Wraps a member of the event twice. */
static void put_event(envd_peer *peer, uint8_t member, const void *bytes, size_t length)
{
    static char inner[80000], outer[80100];
    e2b_text event = {inner, sizeof inner, 0, 0}, message = {outer, sizeof outer, 0, 0};
    put_field(&event, member, bytes, length);
    put_field(&message, 1, inner, (size_t)event.total);
    assert_true(e2b_text_fits(&event) && e2b_text_fits(&message));
    envd_write_message(&peer->script, 0, outer, (size_t)message.total);
}

static void put_json(envd_peer *peer, const e2b_text *text)
{
    assert_true(e2b_text_fits(text));
    envd_write_message(&peer->script, 0, text->out, (size_t)text->total);
}

void envd_write_started(envd_peer *peer, uint32_t pid)
{
    char place[100];
    e2b_text text = {place, sizeof place, 0, 0};
    if (peer->codec == E2B_CODEC_PROTO) {
        e2b_text_char(&text, 1 << 3);
        put_varint(&text, pid);
        put_event(peer, 1, place, (size_t)text.total);
        return;
    }
    e2b_text_string(&text, "{\"event\":{\"start\":{\"pid\":");
    e2b_text_u64(&text, pid);
    e2b_text_string(&text, "}}}");
    put_json(peer, &text);
}

void envd_write_data(envd_peer *peer, int32_t kind, const void *bytes, size_t length)
{
    static char place[80000];
    static const char names[3][8] = {"stdout", "stderr", "pty"};
    e2b_text text = {place, sizeof place, 0, 0};
    size_t member = kind == E2B_EVENT_OUT ? 0 : kind == E2B_EVENT_ERR ? 1 : 2;
    if (peer->codec == E2B_CODEC_PROTO) {
        put_field(&text, (uint8_t)(member + 1), bytes, length);
        put_event(peer, 2, place, (size_t)text.total);
        return;
    }
    e2b_text_string(&text, "{\"event\":{\"data\":{\"");
    e2b_text_string(&text, names[member]);
    e2b_text_string(&text, "\":\"");
    e2b_text_base64(&text, bytes, length);
    e2b_text_string(&text, "\"}}}");
    put_json(peer, &text);
}

void envd_write_text(envd_peer *peer, int32_t kind, const char *text)
{
    envd_write_data(peer, kind, text, strlen(text));
}

void envd_write_keepalive(envd_peer *peer)
{
    static const char json[] = "{\"event\":{\"keepalive\":{}}}";
    if (peer->codec == E2B_CODEC_PROTO) put_event(peer, 4, "", 0);
    else envd_write_message(&peer->script, 0, json, sizeof json - 1);
}

void envd_write_ended(envd_peer *peer, int32_t exit_code, bool exited, const char *status)
{
    char place[300];
    e2b_text text = {place, sizeof place, 0, 0};
    if (peer->codec == E2B_CODEC_PROTO) {
        if (exit_code) {
            e2b_text_char(&text, 1 << 3);
            put_varint(&text, (uint32_t)exit_code << 1 ^ (exit_code < 0 ? UINT32_MAX : 0));
        }
        if (exited) e2b_text_string(&text, "\x10\x01");
        put_field(&text, 3, status, strlen(status));
        put_event(peer, 3, place, (size_t)text.total);
        return;
    }
    e2b_text_string(&text, "{\"event\":{\"end\":{\"exitCode\":");
    e2b_text_i64(&text, exit_code);
    e2b_text_string(&text, exited ? ",\"exited\":true,\"status\":\"" : ",\"status\":\"");
    e2b_text_string(&text, status);
    e2b_text_string(&text, "\"}}}");
    put_json(peer, &text);
}

void envd_write_last(envd_peer *peer, const char *json)
{
    envd_write_message(&peer->script, 2, json, strlen(json));
}

void envd_write_close(envd_peer *peer)
{
    e2b_memory_text(&peer->script, "0\r\n\r\n");
}

void envd_write_finish(envd_peer *peer, int32_t exit_code)
{
    char status[32];
    snprintf(status, sizeof status, "exit status %d", (int)exit_code);
    envd_write_ended(peer, exit_code, true, status);
    envd_write_last(peer, "{}");
    envd_write_close(peer);
}

void envd_peer_quiet_stream(envd_peer *peer)
{
    envd_write_head(envd_peer_answer(peer, "/Start"));
    envd_write_started(peer, 7);
    envd_peer_done(peer);
}

void envd_peer_start(envd_peer *peer, e2b_process *process, bool input)
{
    static const char *const argv[] = {"/bin/true"};
    e2b_process_options options = {0};
    options.input = input;
    envd_peer_check(peer, e2b_process_start(&peer->sandbox, process, argv, 1, &options), E2B_OK);
}

/* ---- Checks ------------------------------------------------------------------- */

void envd_peer_check(const envd_peer *peer, e2b_err found, e2b_err expected)
{
    if (found != expected)
        fail_msg("%s, expected %s: %s", e2b_err_name(found), e2b_err_name(expected), peer->client.error.text);
}

void envd_peer_words(const envd_peer *peer, e2b_err code, const char *words)
{
    const e2b_error *error = &peer->client.error;
    if (error->code != code || !strstr(error->text, words))
        fail_msg("%s '%s', expected %s with '%s'", e2b_err_name(error->code), error->text, e2b_err_name(code), words);
}

bool envd_peer_contains(const envd_peer *peer, size_t number, const char *text)
{
    assert_true(number < peer->request_count);
    return strstr(peer->requests[number], text) != NULL;
}

static bool has_path(const envd_peer *peer, size_t number, const char *path)
{
    return path_ends((e2b_str){peer->requests[number], strlen(peer->requests[number])}, path);
}

size_t envd_peer_find(const envd_peer *peer, const char *path, size_t nth)
{
    for (size_t i = 0; i < peer->request_count; i++)
        if (has_path(peer, i, path) && nth-- == 0) return i;
    fail_msg("there is no such request for %s", path);
    return 0;
}

size_t envd_peer_count(const envd_peer *peer, const char *path)
{
    size_t count = 0;
    for (size_t i = 0; i < peer->request_count; i++) count += has_path(peer, i, path);
    return count;
}

const char *envd_peer_body(const envd_peer *peer, size_t number)
{
    assert_true(number < peer->request_count);
    const char *end = strstr(peer->requests[number], "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}

e2b_event envd_peer_next(envd_peer *peer, e2b_process *process, int32_t kind)
{
    e2b_event event;
    envd_peer_check(peer, e2b_process_next(process, &event, E2B_NO_LIMIT), E2B_OK);
    if (event.kind != kind) fail_msg("event %d, expected %d", (int)event.kind, (int)kind);
    return event;
}

void envd_peer_text(envd_peer *peer, e2b_process *process, int32_t kind, const char *text)
{
    e2b_event event = envd_peer_next(peer, process, kind);
    assert_int_equal(event.data.len, strlen(text));
    assert_memory_equal(event.data.ptr, text, event.data.len);
}

void envd_peer_nothing(envd_peer *peer, e2b_process *process, uint32_t wait_ms)
{
    e2b_event event;
    envd_peer_check(peer, e2b_process_next(process, &event, wait_ms), E2B_OK);
    assert_int_equal(event.kind, E2B_EVENT_NONE);
}

void envd_peer_fails(envd_peer *peer, e2b_process *process, e2b_err expected)
{
    e2b_event event;
    envd_peer_check(peer, e2b_process_next(process, &event, E2B_NO_LIMIT), expected);
    uint64_t calls = peer->port.calls;
    envd_peer_check(peer, e2b_process_next(process, &event, E2B_NO_LIMIT), expected);
    assert_int_equal(event.kind, E2B_EVENT_NONE);
    assert_int_equal(peer->port.calls, calls);
}

void envd_peer_slots_free(const envd_peer *peer)
{
    for (uint16_t i = 0; i < peer->client.conn_count; i++) assert_true(peer->client.conns[i].use <= E2B_USE_DRAIN);
}
