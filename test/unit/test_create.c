/* Create: one request, at most once, and a state that says what is known. */
#include "api_peer.h"

#include "cloud/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const e2b_sandbox_options untagged = {.untagged = true};

static e2b_err create(api_peer *peer, const e2b_sandbox_options *options)
{
    return e2b_sandbox_create(&peer->client, &peer->sandbox, options);
}

/* ---- What is asked and what comes of it ------------------------------------------ */

static void test_created(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox *sandbox = &peer->sandbox;
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_check(peer, create(peer, &untagged), E2B_OK);
    api_peer_check_line(peer, 0, "POST /v2/sandboxes");
    assert_true(api_peer_contains(peer, 0, "\r\nX-API-Key: " API_PEER_KEY "\r\n"));
    assert_true(api_peer_contains(peer, 0, "\r\nContent-Type: application/json\r\n"));
    api_peer_check_body(peer, 0, "{\"templateID\":\"base\"}");
    assert_int_equal(sandbox->state, E2B_SANDBOX_LIVE);
    assert_string_equal(sandbox->id, "isandbox1");
    assert_string_equal(sandbox->access_token, "token-of-envd");
    assert_string_equal(sandbox->traffic_token, "");
    assert_string_equal(sandbox->domain, "e2b.app");
    assert_string_equal(sandbox->envd_version, "0.6.13");
    assert_string_equal(sandbox->create_tag, "");
    assert_int_equal(peer->client.routes, E2B_ROUTES_NEWER);
    assert_int_equal(peer->port.opened, 1);
}

static void test_the_tag(void **state)
{
    api_peer *peer = *state;
    char first[33];
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_check(peer, create(peer, NULL), E2B_OK);
    memcpy(first, peer->sandbox.create_tag, sizeof first);
    assert_int_equal(strlen(first), 32);
    assert_int_equal(strspn(first, "0123456789abcdef"), 32);
    assert_true(api_peer_contains(peer, 0, ",\"metadata\":{\"libe2b.create\":\""));
    assert_true(api_peer_contains(peer, 0, first));
    /* Another struct, another tag. */
    memset(&peer->sandbox, 0, sizeof peer->sandbox);
    api_peer_check(peer, create(peer, NULL), E2B_OK);
    assert_string_not_equal(first, peer->sandbox.create_tag);
}

static void test_no_randomness_sends_nothing(void **state)
{
    api_peer *peer = *state;
    peer->port.fail_call = 1;
    peer->port.fail_outcome = E2B_IO_FAILED;
    api_peer_check(peer, create(peer, NULL), E2B_PORT);
    api_peer_check_words(&peer->client.error, E2B_PORT, "random");
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_NONE);
    assert_int_equal(peer->port.opened, 0);
}

static void test_a_struct_in_use(void **state)
{
    api_peer *peer = *state;
    static const int32_t states[] = {E2B_SANDBOX_LIVE, E2B_SANDBOX_MAYBE};
    for (size_t i = 0; i < 2; i++) {
        e2b_sandbox before;
        memset(&peer->sandbox, 0, sizeof peer->sandbox);
        strcpy(peer->sandbox.id, "ikeep");
        peer->sandbox.state = states[i];
        before = peer->sandbox;
        api_peer_check(peer, create(peer, NULL), E2B_STATE);
        assert_memory_equal(&before, &peer->sandbox, sizeof before);
        assert_int_equal(peer->port.calls, 0);
    }
    /* What is gone may be used again, and nothing of it is left. */
    memset(&peer->sandbox, 'x', sizeof peer->sandbox);
    peer->sandbox.state = E2B_SANDBOX_GONE;
    api_peer_answer(peer, 400, "{\"code\":400,\"message\":\"no\"}");
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_check(peer, create(peer, &untagged), E2B_BAD_REQUEST);
    assert_string_equal(peer->sandbox.id, "");
    assert_string_equal(peer->sandbox.access_token, "");
    assert_string_equal(peer->sandbox.create_tag, "");
    uint32_t first = peer->sandbox.destination;
    api_peer_check(peer, create(peer, &untagged), E2B_OK);
    assert_string_equal(peer->sandbox.id, "isandbox1");
    /* Each has a number of its own, beyond those of the two shared hosts. */
    assert_true(first >= 2);
    assert_int_not_equal(peer->sandbox.destination, first);
}

static void test_refused_options_send_nothing(void **state)
{
    api_peer *peer = *state;
    api_peer_check(peer, create(peer, &(e2b_sandbox_options){.auto_resume = E2B_YES}), E2B_INVALID);
    api_peer_check_words(&peer->client.error, E2B_INVALID, "create sandbox: auto_resume needs auto_pause");
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_NONE);
    assert_int_equal(peer->port.calls, 0);
}

static void test_debug_asks_nobody(void **state)
{
    api_peer *peer = *state;
    api_peer_restart(peer, &(e2b_client_options){.debug = E2B_YES});
    api_peer_check(peer, create(peer, NULL), E2B_OK);
    assert_string_equal(peer->sandbox.id, "debug_sandbox_id");
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
    assert_string_equal(peer->sandbox.access_token, "");
    assert_string_equal(peer->sandbox.envd_version, "99.99.99");
    assert_string_equal(peer->sandbox.domain, "e2b.app");
    /* Whatever needs a new envd is offered. */
    assert_int_equal(peer->sandbox.version[0], 99);
    api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_GONE);
    assert_int_equal(peer->port.calls, 0);
}

/* ---- Generations of routes ---------------------------------------------------------- */

static void check_older(api_peer *peer, size_t number)
{
    api_peer_check_line(peer, number, "POST /sandboxes");
    api_peer_check_body(peer, number, "{\"templateID\":\"base\",\"timeout\":300,\"secure\":true,\"allow_internet_access\":true}");
}

static void test_missing_route_is_followed_once_and_remembered(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 404, API_PEER_NO_ROUTE);
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_check(peer, create(peer, &untagged), E2B_OK);
    api_peer_check_line(peer, 0, "POST /v2/sandboxes");
    check_older(peer, 1);
    assert_int_equal(peer->client.routes, E2B_ROUTES_OLDER);
    memset(&peer->sandbox, 0, sizeof peer->sandbox);
    api_peer_check(peer, create(peer, &untagged), E2B_OK);
    check_older(peer, 2);
    assert_int_equal(peer->request_count, 3);
}

static void test_a_missing_older_route_is_final(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 404, API_PEER_NO_ROUTE);
    api_peer_answer(peer, 404, API_PEER_NO_ROUTE);
    api_peer_check(peer, create(peer, &untagged), E2B_NOT_FOUND);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_NONE);
    assert_int_equal(peer->request_count, 2);
}

static void test_both_generations_carry_one_tag(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 404, "<html>");
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_check(peer, create(peer, NULL), E2B_OK);
    assert_true(api_peer_contains(peer, 0, peer->sandbox.create_tag));
    assert_true(api_peer_contains(peer, 1, peer->sandbox.create_tag));
}

static void test_without_secure_the_older_route_at_once(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 201, "{\"sandboxID\":\"i1\",\"envdVersion\":\"0.2.0\"}");
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_check(peer, create(peer, &(e2b_sandbox_options){.secure = E2B_NO, .untagged = true}), E2B_OK);
    api_peer_check_line(peer, 0, "POST /sandboxes");
    assert_true(api_peer_contains(peer, 0, "\"secure\":false"));
    assert_string_equal(peer->sandbox.access_token, "");
    /* Nothing was learned about the newer one. */
    memset(&peer->sandbox, 0, sizeof peer->sandbox);
    api_peer_check(peer, create(peer, &untagged), E2B_OK);
    api_peer_check_line(peer, 1, "POST /v2/sandboxes");
}

/* ---- Answers that refuse ------------------------------------------------------------- */

static void refused(api_peer *peer, int status, const char *body, e2b_err expected, int32_t state)
{
    api_peer_restart(peer, NULL);
    api_peer_answer(peer, status, body);
    api_peer_check(peer, create(peer, NULL), expected);
    assert_int_equal(peer->client.error.code, expected);
    assert_int_equal(peer->client.error.http_status, status);
    if (peer->sandbox.state != state) fail_msg("%d %s: state %d", status, body, (int)peer->sandbox.state);
    assert_int_equal(peer->request_count, 1);
}

static void test_the_service_says_no(void **state)
{
    api_peer *peer = *state;
    refused(peer, 400, "{\"code\":400,\"message\":\"Timeout must be greater than 0\"}", E2B_BAD_REQUEST, E2B_SANDBOX_NONE);
    api_peer_check_words(&peer->client.error, E2B_BAD_REQUEST, "create sandbox: 400: Timeout must be greater than 0");
    refused(peer, 401, "{\"code\":401,\"message\":\"no\"}", E2B_UNAUTHENTICATED, E2B_SANDBOX_NONE);
    refused(peer, 403, "{\"code\":403,\"message\":\"team is banned\"}", E2B_FORBIDDEN, E2B_SANDBOX_NONE);
    refused(peer, 404, "{\"code\":404,\"message\":\"template 'x' not found\"}", E2B_NOT_FOUND, E2B_SANDBOX_NONE);
    refused(peer, 409, "{\"code\":409,\"message\":\"no\"}", E2B_CONFLICT, E2B_SANDBOX_NONE);
    refused(peer, 429, "{\"code\":429,\"message\":\"maximum\"}", E2B_RATE_LIMITED, E2B_SANDBOX_NONE);
    refused(peer, 418, "", E2B_HTTP, E2B_SANDBOX_NONE);
    refused(peer, 300, API_PEER_SANDBOX, E2B_REDIRECT, E2B_SANDBOX_NONE);
    refused(peer, 301, "", E2B_REDIRECT, E2B_SANDBOX_NONE);
    refused(peer, 500, "{\"code\":500,\"message\":\"sorry\"}", E2B_SERVER, E2B_SANDBOX_NONE);
    refused(peer, 501, "{\"code\":501,\"message\":\"sorry\"}", E2B_UNIMPLEMENTED, E2B_SANDBOX_NONE);
    refused(peer, 503, "{\"code\":503,\"error_code\":\"sandbox_capacity_unavailable\",\"message\":\"Failed to place sandbox\"}",
            E2B_NO_CAPACITY, E2B_SANDBOX_NONE);
}

/* What gave up waiting for the service does not know either. */
static void test_somebody_else_says_no(void **state)
{
    api_peer *peer = *state;
    static const char *const bodies[] = {"", "<html>504</html>", "upstream timed out", "[]", "{}", "{\"message\":\"no code\"}",
                                         "{\"code\":\"unavailable\",\"message\":\"x\"}"};
    for (size_t i = 0; i < 6; i++) {
        refused(peer, 500, bodies[i], E2B_GATEWAY, E2B_SANDBOX_MAYBE);
        refused(peer, 502, bodies[i], E2B_GATEWAY, E2B_SANDBOX_MAYBE);
        refused(peer, 504, bodies[i], E2B_GATEWAY, E2B_SANDBOX_MAYBE);
        refused(peer, 599, bodies[i], E2B_GATEWAY, E2B_SANDBOX_MAYBE);
        refused(peer, 501, bodies[i], E2B_GATEWAY, E2B_SANDBOX_MAYBE);
    }
    refused(peer, 503, bodies[6], E2B_GATEWAY, E2B_SANDBOX_MAYBE);
    refused(peer, 503, "{\"error_code\":\"sandbox_capacity_unavailable\"}", E2B_GATEWAY, E2B_SANDBOX_MAYBE);
}

/* An answer below 500 means no even if its words are cut off. */
static void test_a_refusal_cut_off(void **state)
{
    api_peer *peer = *state;
    static const int statuses[] = {400, 404, 500};
    for (size_t i = 0; i < 3; i++) {
        char head[80];
        api_peer_restart(peer, NULL);
        e2b_memory_script *script = api_peer_begin(peer);
        snprintf(head, sizeof head, "HTTP/1.1 %d X\r\nContent-Length: 50\r\n\r\n{\"code\":%d", statuses[i], statuses[i]);
        e2b_memory_text(script, head);
        e2b_memory_end(script);
        api_peer_end(peer);
        api_peer_check(peer, create(peer, NULL), E2B_TRUNCATED);
        assert_int_equal(peer->sandbox.state, statuses[i] < 500 ? E2B_SANDBOX_NONE : E2B_SANDBOX_MAYBE);
        assert_int_equal(peer->request_count, 1);
    }
}

/* ---- Answers that are lost ------------------------------------------------------------- */

static void test_answer_without_a_usable_id(void **state)
{
    api_peer *peer = *state;
    static const char *const bodies[] = {"", "[]", "{}", "null", "{\"sandboxID\":null}", "{\"sandboxID\":5}", "{\"sandboxID\":\"\"}",
                                         "{\"sandboxID\":\"a/b\"}", "{\"sandboxID\":{}}", "{\"sandboxID\":\"i1\"", "not json",
                                         "{\"sandboxID\":\"i1\",\"sandboxID\":\"i\\n\"}", "{\"sandboxID\":\"i1\\u0000\"}"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        api_peer_restart(peer, NULL);
        peer->port.now_ms = 5;
        api_peer_answer_after(peer, 100, 201, bodies[i]);
        api_peer_check(peer, create(peer, NULL), E2B_PROTOCOL);
        assert_int_equal(peer->sandbox.sent_ms, 5);
        /* An id that was whole is worth keeping whatever follows it. */
        int32_t expected = i == 9 ? E2B_SANDBOX_LIVE : E2B_SANDBOX_MAYBE;
        if (peer->sandbox.state != expected) fail_msg("%s: state %d", bodies[i], (int)peer->sandbox.state);
        assert_string_equal(peer->sandbox.id, i == 9 ? "i1" : "");
    }
    api_peer_restart(peer, NULL);
    api_peer_answer(peer, 204, "");
    api_peer_check(peer, create(peer, NULL), E2B_PROTOCOL);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_MAYBE);
}

/* The answer cut off after `kept` bytes of its body, by an end, a reset or silence. */
static void cut_answer(api_peer *peer, size_t kept, int end)
{
    static const char body[] = API_PEER_SANDBOX;
    char head[80];
    api_peer_restart(peer, NULL);
    e2b_memory_script *script = api_peer_begin(peer);
    snprintf(head, sizeof head, "HTTP/1.1 201 Created\r\nContent-Length: %zu\r\n\r\n", sizeof body - 1);
    e2b_memory_text(script, head);
    e2b_memory_data(script, body, kept);
    if (end == 0) e2b_memory_end(script);
    if (end == 1) e2b_memory_reset(script);
    api_peer_end(peer);
}

static void test_answer_cut_at_every_byte(void **state)
{
    api_peer *peer = *state;
    static const char body[] = API_PEER_SANDBOX;
    size_t id_end = (size_t)(strstr(body, "isandbox1\"") - body) + strlen("isandbox1\"");
    for (int end = 0; end < 3; end++)
        for (size_t kept = 0; kept < sizeof body - 1; kept++) {
            cut_answer(peer, kept, end);
            api_peer_check(peer, create(peer, NULL), end == 2 ? E2B_REPLY_TIMEOUT : E2B_TRUNCATED);
            if (peer->sandbox.state != (kept < id_end ? E2B_SANDBOX_MAYBE : E2B_SANDBOX_LIVE))
                fail_msg("%zu bytes: state %d, id '%s'", kept, (int)peer->sandbox.state, peer->sandbox.id);
            assert_string_equal(peer->sandbox.id, kept < id_end ? "" : "isandbox1");
            assert_int_equal(peer->port.aborts, 1);
            if (end == 2) assert_int_equal(peer->port.now_ms, 60000);
        }
}

/* MAYBE begins with the last byte of the request, not before, at any time of
 * the clock, and the link is closed by reset. */
static void test_request_cut_at_every_byte(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_check(peer, create(peer, NULL), E2B_OK);
    uint32_t whole = (uint32_t)strlen(peer->requests[0]);
    static const uint64_t starts[] = {0, 1, UINT64_C(1) << 40};
    for (size_t start = 0; start < 3; start++)
        for (uint32_t taken = 0; taken <= whole; taken++) {
            uint8_t steps[64];
            e2b_memory_script script;
            e2b_memory_script_init(&script, steps, sizeof steps);
            e2b_memory_accept(&script);
            e2b_memory_take(&script, taken);
            e2b_memory_advance(&script, 250);
            e2b_memory_reset(&script);
            api_peer_restart(peer, NULL);
            peer->port.script = script.memory;
            peer->port.script_length = (uint32_t)script.length;
            peer->port.respond = NULL;
            peer->port.now_ms = starts[start];
            e2b_err expected = taken == 0 ? E2B_CONNECT : taken < whole ? E2B_SEND : E2B_NO_REPLY;
            api_peer_check(peer, create(peer, NULL), expected);
            assert_int_equal(peer->sandbox.state, taken < whole ? E2B_SANDBOX_NONE : E2B_SANDBOX_MAYBE);
            assert_int_equal(e2b_err_may_have_run(peer->client.error.code), taken >= whole);
            assert_int_equal(peer->port.aborts, 1);
            assert_int_equal(peer->port.opened, 1);
            if (taken == whole) assert_int_equal(peer->sandbox.sent_ms, starts[start]);
        }
}

static void test_connections_that_never_are(void **state)
{
    api_peer *peer = *state;
    uint8_t steps[8];
    e2b_memory_script script;
    e2b_memory_script_init(&script, steps, sizeof steps);
    e2b_memory_refuse(&script);
    e2b_memory_hang(&script);
    peer->port.script = script.memory;
    peer->port.script_length = (uint32_t)script.length;
    api_peer_check(peer, create(peer, NULL), E2B_CONNECT);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_NONE);
    assert_int_equal(peer->port.now_ms, 0);
    api_peer_check(peer, create(peer, NULL), E2B_CONNECT_TIMEOUT);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_NONE);
    assert_int_equal(peer->port.now_ms, 10000);
    api_peer_check_words(&peer->client.error, E2B_CONNECT_TIMEOUT, "api.example.test:80");
}

static void test_cancelled(void **state)
{
    api_peer *peer = *state;
    volatile int cancel = 1;
    api_peer_restart(peer, &(e2b_client_options){.cancel = &cancel});
    peer->port.send_max = 50;
    api_peer_answer_nothing(peer);
    /* The request goes out in one go; the wait for the answer is where it ends. */
    api_peer_check(peer, create(peer, NULL), E2B_CANCELLED);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_MAYBE);
    assert_int_equal(peer->port.aborts, 1);
}

/* A create is sent once: not again when a kept link turns out dead, and only
 * over one used a moment ago. */
static void test_never_repeated(void **state)
{
    api_peer *peer = *state;
    api_peer_answer(peer, 201, API_PEER_SANDBOX);
    api_peer_check(peer, create(peer, &untagged), E2B_OK);
    api_peer_answer_reset(peer);
    memset(&peer->sandbox, 0, sizeof peer->sandbox);
    api_peer_check(peer, create(peer, &untagged), E2B_NO_REPLY);
    assert_int_equal(peer->request_count, 2);
    assert_int_equal(peer->port.opened, 1);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_MAYBE);

    api_peer_restart(peer, NULL);
    for (int i = 0; i < 3; i++) {
        api_peer_answer(peer, 201, API_PEER_SANDBOX);
        memset(&peer->sandbox, 0, sizeof peer->sandbox);
        api_peer_check(peer, create(peer, &untagged), E2B_OK);
        assert_int_equal(peer->port.opened, i < 2 ? 1 : 2);
        peer->port.now_ms += i == 0 ? 5000 : 5001;
    }
}

/* ---- Lengths ------------------------------------------------------------------------------ */

static const size_t lengths[] = {0, 1, 63, 64, 65, 129, 255, 4096};

static void answer_long(api_peer *peer, const char *field, size_t length)
{
    static char body[5000], value[4097];
    api_peer_restart(peer, NULL);
    memset(value, 'a', length);
    value[length] = '\0';
    snprintf(body, sizeof body, "{\"%s\":\"%s\",\"envdVersion\":\"0.6.13\"%s}", field, value,
             strcmp(field, "sandboxID") == 0 ? "" : ",\"sandboxID\":\"i1\"");
    api_peer_answer(peer, 201, body);
}

static void test_ids_of_many_lengths(void **state)
{
    api_peer *peer = *state;
    for (size_t i = 0; i < 8; i++) {
        bool usable = lengths[i] >= 1 && lengths[i] <= 64;
        answer_long(peer, "sandboxID", lengths[i]);
        api_peer_check(peer, create(peer, NULL), usable ? E2B_OK : E2B_PROTOCOL);
        assert_int_equal(peer->sandbox.state, usable ? E2B_SANDBOX_LIVE : E2B_SANDBOX_MAYBE);
        assert_int_equal(strlen(peer->sandbox.id), usable ? lengths[i] : 0);
    }
}

static void test_tokens_of_many_lengths(void **state)
{
    api_peer *peer = *state;
    for (size_t i = 0; i < 8; i++) {
        bool fits = lengths[i] <= 128;
        answer_long(peer, "envdAccessToken", lengths[i]);
        api_peer_check(peer, create(peer, NULL), fits ? E2B_OK : E2B_TOO_SMALL);
        assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
        assert_string_equal(peer->sandbox.id, "i1");
        assert_int_equal(strlen(peer->sandbox.access_token), fits ? lengths[i] : 0);
        assert_int_equal(peer->client.error.needed, fits ? 0 : lengths[i] + 1);
        if (fits) continue;
        /* Without its token nothing inside can be talked to; kill works. */
        e2b_process_list list;
        assert_int_equal(e2b_process_list_open(&peer->sandbox, &list, NULL), E2B_STATE);
        api_peer_answer(peer, 204, "");
        api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
        api_peer_check_line(peer, 1, "DELETE /sandboxes/i1");
    }
}

static void test_other_fields_of_many_lengths(void **state)
{
    api_peer *peer = *state;
    static const struct {
        const char *name;
        size_t longest;
    } fields[] = {{"trafficAccessToken", 64}, {"envdVersion", 0}, {"domain", 63}};
    for (size_t f = 0; f < 3; f++)
        for (size_t i = 0; i < 8; i++) {
            answer_long(peer, fields[f].name, lengths[i]);
            e2b_err err = create(peer, NULL);
            assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
            assert_string_equal(peer->sandbox.id, "i1");
            /* envdVersion follows as the real one and counts. */
            if (lengths[i] <= fields[f].longest || f == 1) api_peer_check(peer, err, E2B_OK);
            else assert_true(err == E2B_LIMIT || err == E2B_PROTOCOL);
        }
}

/* ---- Faults ------------------------------------------------------------------------------- */

/* The nth call of the port fails, for every n: the state tells the truth, and
 * nothing is left open. */
static void test_every_port_call_fails(void **state)
{
    api_peer *peer = *state;
    static const int32_t outcomes[] = {E2B_IO_FAILED, E2B_IO_RESET, E2B_IO_END, E2B_IO_CONNECT, E2B_IO_RESOLVE, E2B_IO_TLS};
    for (size_t o = 0; o < sizeof outcomes / sizeof outcomes[0]; o++)
        for (uint64_t nth = 1;; nth++) {
            api_peer_restart(peer, NULL);
            peer->port.recv_max = 90;
            peer->port.send_max = 100;
            peer->port.fail_call = nth;
            peer->port.fail_outcome = outcomes[o];
            api_peer_answer(peer, 201, API_PEER_SANDBOX);
            api_peer_always(peer);
            e2b_err err = create(peer, NULL);
            bool arrived = peer->request_count > 0;
            if (!err) {
                assert_int_equal(peer->sandbox.state, E2B_SANDBOX_LIVE);
                if (peer->port.calls < nth) break;
                continue;
            }
            assert_int_equal(peer->client.error.code, err);
            assert_true(peer->client.error.text[0]);
            assert_int_equal(peer->client.cleanup_error.code, 0);
            if (!arrived) assert_int_equal(peer->sandbox.state, E2B_SANDBOX_NONE);
            else assert_int_not_equal(peer->sandbox.state, E2B_SANDBOX_NONE);
            if (peer->sandbox.state == E2B_SANDBOX_LIVE) assert_string_equal(peer->sandbox.id, "isandbox1");
            assert_int_equal(peer->port.opened, peer->port.closes);
            assert_true(nth < 100);
        }
}

/* The newer route and then the older one have one time limit between them. */
static void test_both_routes_in_time(void **state)
{
    api_peer *peer = *state;
    api_peer_answer_after(peer, 40000, 404, API_PEER_NO_ROUTE);
    api_peer_answer_nothing(peer);
    api_peer_check(peer, e2b_sandbox_create(&peer->client, &peer->sandbox, NULL), E2B_REPLY_TIMEOUT);
    assert_int_equal(peer->port.now_ms, 60000);
    assert_int_equal(peer->sandbox.state, E2B_SANDBOX_MAYBE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, api_peer_setup, api_peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_both_routes_in_time),
        TEST(test_created),
        TEST(test_the_tag),
        TEST(test_no_randomness_sends_nothing),
        TEST(test_a_struct_in_use),
        TEST(test_refused_options_send_nothing),
        TEST(test_debug_asks_nobody),
        TEST(test_missing_route_is_followed_once_and_remembered),
        TEST(test_a_missing_older_route_is_final),
        TEST(test_both_generations_carry_one_tag),
        TEST(test_without_secure_the_older_route_at_once),
        TEST(test_the_service_says_no),
        TEST(test_somebody_else_says_no),
        TEST(test_a_refusal_cut_off),
        TEST(test_answer_without_a_usable_id),
        TEST(test_answer_cut_at_every_byte),
        TEST(test_request_cut_at_every_byte),
        TEST(test_connections_that_never_are),
        TEST(test_cancelled),
        TEST(test_never_repeated),
        TEST(test_ids_of_many_lengths),
        TEST(test_tokens_of_many_lengths),
        TEST(test_other_fields_of_many_lengths),
        TEST(test_every_port_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
