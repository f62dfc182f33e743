/* Bad input from the caller and from whatever answers: one named error each,
 * and a text that says what to do. */
#include "envd_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint8_t memory[E2B_CLIENT_MEMORY(2, 1024) + 2048];

static e2b_err init(envd_peer *peer, e2b_client *client, const e2b_client_options *options)
{
    return e2b_client_init(client, &peer->port.port, options, memory, sizeof memory);
}

static void says(const e2b_client *client, e2b_err err, const char *words)
{
    if (client->error.code != err || !strstr(e2b_reason(client, err), words))
        fail_msg("%s '%s', expected %s with '%s'", e2b_err_name(client->error.code), client->error.text, e2b_err_name(err), words);
}

/* ---- Keys and URLs ------------------------------------------------------------------ */

static void test_keys(void **state)
{
    static const char *const wrong[] = {"abc", "e2b_", "e2b_ABC", "e2b_12g4", "E2B_12", "e2b_12 34", "e2b_12\r\nX: y"};
    envd_peer *peer = *state;
    e2b_client client;
    assert_int_equal(init(peer, &client, NULL), E2B_NO_API_KEY);
    says(&client, E2B_NO_API_KEY, "set E2B_API_KEY");
    assert_int_equal(init(peer, &client, &(e2b_client_options){.api_key = ""}), E2B_NO_API_KEY);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(init(peer, &client, &(e2b_client_options){.api_key = wrong[i]}), E2B_INVALID);
        says(&client, E2B_INVALID, "API key");
        if (strlen(wrong[i]) > 4 || i == 0) assert_null(strstr(client.error.text, wrong[i])); /* a key is a secret, wrong or not */
        e2b_client_close(&client);
    }
    /* A wrong one of the right shape. */
    e2b_sandbox sandbox = {0};
    envd_peer_reply(peer, "/v2/sandboxes", 401, "{\"code\":401,\"message\":\"Invalid API key\"}");
    assert_int_equal(e2b_sandbox_create(&peer->client, &sandbox, NULL), E2B_UNAUTHENTICATED);
    says(&peer->client, E2B_UNAUTHENTICATED, "check the API key");
    assert_int_equal(sandbox.state, E2B_SANDBOX_NONE);
}

/* What the port answers to open, and what the caller is told. */
static void test_places_that_cannot_be_reached(void **state)
{
    static const struct { int32_t outcome; e2b_err err; const char *words; } cases[] = {
        {E2B_IO_UNSUPPORTED, E2B_UNSUPPORTED, "set E2B_API_URL"},
        {E2B_IO_RESOLVE, E2B_RESOLVE, "example.test:80"},
        {E2B_IO_CONNECT, E2B_CONNECT, "example.test:80"},
        {E2B_IO_TLS, E2B_TLS, "example.test:80"},
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        size_t at = i / 2;
        envd_peer_restart(peer, NULL);
        peer->port.fail_call = peer->port.calls + (i % 2 ? 1 : 2); /* create draws its tag first */
        peer->port.fail_outcome = cases[at].outcome;
        e2b_sandbox sandbox = {0};
        e2b_process process;
        static const char *const argv[] = {"x"};
        e2b_err err = i % 2 ? e2b_process_start(&peer->sandbox, &process, argv, 1, NULL)
                            : e2b_sandbox_create(&peer->client, &sandbox, NULL);
        envd_peer_check(peer, err, cases[at].err);
        says(&peer->client, err, cases[at].words);
        assert_int_equal(sandbox.state, E2B_SANDBOX_NONE);
        assert_false(e2b_err_may_have_run(err));
    }
}

/* ---- What answers -------------------------------------------------------------------- */

static void answer(envd_peer *peer, int which)
{
    e2b_memory_script *script = envd_peer_answer(peer, "/sandboxes/isandbox1");
    switch (which) {
    case 0: e2b_memory_data(script, "\x15\x03\x01\x00\x02\x02\x46", 7); e2b_memory_end(script); break; /* a TLS port's alert */
    case 1: e2b_memory_text(script, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"); e2b_memory_end(script); break;
    case 2: envd_write_reply(script, 200, "<!DOCTYPE html><html>Welcome</html>"); break;
    case 3: envd_write_reply(script, 502, "<html>Bad gateway</html>"); break;
    case 4: e2b_memory_text(script, "HTTP/1.1 302 Found\r\nLocation: https://elsewhere.test/\r\nContent-Length: 0\r\n\r\n"); break;
    case 5:
    case 6:
        e2b_memory_text(script, which == 5 ? "HTTP/1.1 200 OK\r\nX-Large: " : "HTTP/1.1 200 OK\r\n");
        e2b_memory_repeat(script, 1 << 14);
        e2b_memory_text(script, which == 5 ? "0123456789012345678901234567890123456789012345678901234567890123" : "X-Many: 1\r\n");
        e2b_memory_repeat_end(script);
        break;
    case 7:
        e2b_memory_repeat(script, UINT32_MAX);
        e2b_memory_text(script, "HTTP/1.1 100 Continue\r\n\r\n");
        e2b_memory_repeat_end(script);
        break;
    case 8: break; /* nothing */
    case 9:
        e2b_memory_text(script, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        e2b_memory_repeat(script, UINT32_MAX);
        e2b_memory_advance(script, 700);
        e2b_memory_text(script, "1\r\n \r\n");
        e2b_memory_repeat_end(script);
        break;
    case 10: e2b_memory_text(script, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b"); break;
    case 11: envd_write_reply(script, 404, "{\"code\":404,\"message\":\"template 'nope' not found\"}"); break;
    default: e2b_memory_text(script, "SSH-2.0-OpenSSH_9.2\r\n"); break;
    }
    envd_peer_done(peer);
}

static void test_answers(void **state)
{
    static const struct { e2b_err err; const char *words; } cases[] = {
        {E2B_PROTOCOL, "check the URL"}, {E2B_BAD_REQUEST, "HTTPS server"}, {E2B_PROTOCOL, "check the URL"},
        {E2B_GATEWAY, "between here and the service"}, {E2B_REDIRECT, "check the URL"}, {E2B_LIMIT, "limit"}, {E2B_LIMIT, "limit"},
        {E2B_LIMIT, "limit"}, {E2B_REPLY_TIMEOUT, "time limit"}, {E2B_REPLY_TIMEOUT, "time limit"}, {E2B_COMPRESSED, "compressed"},
        {E2B_NOT_FOUND, "template 'nope' not found"}, {E2B_PROTOCOL, "check the URL"},
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        e2b_sandbox_info info;
        envd_peer_restart(peer, NULL);
        answer(peer, (int)i);
        envd_peer_check(peer, e2b_sandbox_get_info(&peer->sandbox, &info, NULL), cases[i].err);
        says(&peer->client, cases[i].err, cases[i].words);
        assert_true(peer->port.now_ms <= 60700);
        assert_true(peer->port.received < 1 << 17); /* no megabytes are read to say so */
        envd_peer_slots_free(peer);
    }
}

/* ---- The caller's own mistakes ------------------------------------------------------------ */

static void test_ids_and_lifetimes(void **state)
{
    static const char *const ids[] = {"", "a/b", "../v2/sandboxes", "a b", "a\r\nX: y", "a?b", "a%2fb", "\xc3\xbc"};
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        e2b_sandbox sandbox;
        assert_int_equal(e2b_sandbox_refer(&peer->client, &sandbox, ids[i]), E2B_INVALID);
        says(&peer->client, E2B_INVALID, "not a sandbox id");
        assert_int_equal(sandbox.state, E2B_SANDBOX_NONE);
        assert_int_equal(e2b_sandbox_attach(&peer->client, &sandbox, ids[i]), E2B_INVALID);
        assert_int_equal(e2b_sandbox_connect(&peer->client, &sandbox, ids[i], NULL), E2B_INVALID);
        assert_int_equal(e2b_sandbox_kill(&sandbox), E2B_OK); /* there is nothing to kill */
    }
    char longest[66];
    memset(longest, 'a', sizeof longest);
    longest[65] = '\0';
    e2b_sandbox sandbox;
    assert_int_equal(e2b_sandbox_refer(&peer->client, &sandbox, longest), E2B_INVALID);
    assert_int_equal(e2b_sandbox_refer(&peer->client, &sandbox, NULL), E2B_INVALID);
    envd_peer_check(peer, e2b_sandbox_set_timeout(&peer->sandbox, 0), E2B_INVALID);
    says(&peer->client, E2B_INVALID, "use kill");
    assert_int_equal(peer->port.calls, 0);
}

#define BAD "x\r\nInjected: yes\r\n\r\n"

/* Either nothing is sent, or what is sent holds it only as data: escaped or encoded. */
static void check_sent(envd_peer *peer, const char *what, e2b_err err)
{
    bool sent = peer->port.sent > 0;
    if (!sent && err != E2B_INVALID) fail_msg("%s: nothing was sent, and %s", what, e2b_err_name(err));
    if (!sent && !peer->client.error.text[0]) fail_msg("%s: refused without a word", what);
    if (sent && err == E2B_INVALID) fail_msg("%s: refused after something was sent", what);
    for (size_t i = 0; i < peer->connections[0].sent_size && i < peer->connections[0].sent_length; i++) {
        const char *at = (const char *)peer->connections[0].sent + i;
        if (*at == '\n' && strncmp(at + 1, "Injected", 8) == 0) fail_msg("%s: a line of its own was sent", what);
    }
}

static void test_line_breaks_in_client_options(void **state)
{
    envd_peer *peer = *state;
    const e2b_client_options cases[] = {
        {.api_key = BAD, .validate_api_key = E2B_NO}, {.domain = BAD}, {.api_url = "http://a.test/" BAD}, {.api_url = "http://" BAD},
        {.sandbox_url = "http://a.test/" BAD}, {.api_address = BAD}, {.sandbox_address = BAD}, {.user_agent = BAD},
        {.user_agent = "a\nb"}, {.user_agent = "a\rb"}, {.api_url = "http://a.test/\n"}, {.api_url = "http://a.test:80\r"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        e2b_client client;
        e2b_client_options options = cases[i];
        if (!options.api_key) options.api_key = "e2b_00";
        assert_int_equal(init(peer, &client, &options), E2B_INVALID);
        assert_int_equal(client.error.code, E2B_INVALID);
        assert_true(client.error.text[0] != '\0');
        assert_null(strchr(client.error.text, '\n'));
    }
    assert_int_equal(peer->port.calls, 0);
}

static void test_line_breaks_in_sandbox_options(void **state)
{
    envd_peer *peer = *state;
    static const e2b_pair pair[] = {{BAD, BAD}}, name[] = {{"A", BAD}};
    static const char *const text[] = {BAD};
    static const e2b_network_rule rule[] = {{BAD, NULL, 0}}, headers[] = {{"a.test", name, 1}}, header_names[] = {{"a.test", pair, 1}};
    static const e2b_volume_mount mount[] = {{BAD, "/x"}}, path[] = {{"v", BAD}};
    static const e2b_iam_token token[] = {{BAD, "a", NULL}}, audience[] = {{"a", BAD, NULL}}, type[] = {{"a", "b", BAD}};
    static const e2b_network networks[] = {
        {.allow_out = text, .allow_out_count = 1}, {.deny_out = text, .deny_out_count = 1}, {.egress_proxy = {.address = BAD}},
        {.egress_proxy = {.address = "a:1", .username = BAD, .password = BAD}}, {.mask_request_host = BAD},
        {.rules = rule, .rule_count = 1}, {.rules = headers, .rule_count = 1}, {.rules = header_names, .rule_count = 1},
    };
    e2b_sandbox_options cases[20] = {
        {.template_name = BAD}, {.metadata = pair, .metadata_count = 1}, {.metadata = name, .metadata_count = 1}, {.env = name, .env_count = 1},
        {.env = pair, .env_count = 1}, {.mcp_json = "{\"a\":\"" BAD "\"}"}, {.volume_mounts = mount, .volume_mount_count = 1},
        {.volume_mounts = path, .volume_mount_count = 1}, {.iam_tokens = token, .iam_token_count = 1},
        {.iam_tokens = audience, .iam_token_count = 1}, {.iam_tokens = type, .iam_token_count = 1},
    };
    for (size_t i = 0; i < 8; i++) cases[11 + i].network = &networks[i];
    for (size_t i = 0; i < 19; i++) {
        char what[32];
        e2b_sandbox sandbox = {0};
        envd_peer_restart(peer, NULL);
        peer->tolerant = true;
        envd_peer_reply(peer, "/v2/sandboxes", 400, "{\"code\":400,\"message\":\"no\"}");
        snprintf(what, sizeof what, "create, case %zu", i);
        check_sent(peer, what, e2b_sandbox_create(&peer->client, &sandbox, &cases[i]));
        assert_int_equal(sandbox.state, E2B_SANDBOX_NONE);
    }
}

static void test_line_breaks_in_lists(void **state)
{
    envd_peer *peer = *state;
    static const e2b_pair pair[] = {{BAD, "x"}}, value[] = {{"x", BAD}};
    const e2b_list_options cases[] = {{.metadata = pair, .metadata_count = 1}, {.metadata = value, .metadata_count = 1}, {.template_name = BAD}};
    for (size_t i = 0; i < 3; i++) {
        e2b_sandbox_list list;
        e2b_sandbox_info info;
        envd_peer_restart(peer, NULL);
        peer->tolerant = true;
        e2b_err err = e2b_sandbox_list_open(&peer->client, &list, &cases[i]);
        if (!err) err = e2b_sandbox_list_next(&list, &info);
        check_sent(peer, "list", err);
        e2b_sandbox_list_close(&list);
    }
}

static void test_line_breaks_in_process_options(void **state)
{
    envd_peer *peer = *state;
    static const e2b_pair pair[] = {{BAD, "x"}}, value[] = {{"x", BAD}};
    static const char *const plain[] = {"ls"}, *const bad[] = {BAD, BAD};
    const struct { const char *const *argv; size_t argc; e2b_process_options options; } cases[] = {
        {bad, 1, {0}}, {bad, 2, {0}}, {plain, 1, {.user = BAD}}, {plain, 1, {.user = "a\n"}}, {plain, 1, {.cwd = BAD}}, {plain, 1, {.tag = BAD}},
        {plain, 1, {.env = pair, .env_count = 1}}, {plain, 1, {.env = value, .env_count = 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char what[32];
        e2b_process process;
        envd_peer_restart(peer, NULL);
        peer->tolerant = true;
        snprintf(what, sizeof what, "start, case %zu", i);
        check_sent(peer, what, e2b_process_start(&peer->sandbox, &process, cases[i].argv, cases[i].argc, &cases[i].options));
    }
    e2b_process process;
    e2b_run_result result = {0};
    envd_peer_restart(peer, NULL);
    peer->tolerant = true;
    check_sent(peer, "shell", e2b_process_shell(&peer->sandbox, &process, BAD, NULL));
    check_sent(peer, "run", e2b_run(&peer->sandbox, BAD, NULL, &result));
    check_sent(peer, "connect", e2b_process_connect(&peer->sandbox, &process, 0, BAD, NULL));
    check_sent(peer, "signal", e2b_sandbox_signal(&peer->sandbox, 0, BAD, E2B_SIGNAL_TERM));
}

/* A server's own strings go into later requests: token, domain, page token. */
static void test_line_breaks_from_a_server(void **state)
{
    static const char *const answers[] = {
        "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"x\\r\\nInjected: yes\"}",
        "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"domain\":\"x\\r\\nInjected: yes\"}",
        "{\"sandboxID\":\"x\\r\\nInjected: yes\",\"envdVersion\":\"0.6.13\"}",
        "{\"sandboxID\":\"isandbox1\",\"envdVersion\":\"0.6.13\",\"trafficAccessToken\":\"x\\r\\nInjected: yes\"}",
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        e2b_sandbox sandbox;
        envd_peer_restart(peer, NULL);
        peer->tolerant = true;
        envd_peer_reply(peer, "/v2/sandboxes/isandbox1/connect", 200, answers[i]);
        e2b_err err = e2b_sandbox_connect(&peer->client, &sandbox, "isandbox1", NULL);
        if (!err) err = e2b_sandbox_health(&sandbox);
        assert_true(err != E2B_OK);
        check_sent(peer, "what a server said", err == E2B_INVALID ? E2B_PROTOCOL : err);
        for (size_t c = 1; c < ENVD_PEER_CONNECTIONS; c++)
            if (peer->connections[c].sent_length) assert_null(strstr(peer->requests[peer->request_count - 1], "\nInjected"));
    }
}

static void test_process_options(void **state)
{
    static const char *const argv_true[] = {"/bin/true"};
    static const char *const empty[] = {""}, *const hole[] = {"ls", NULL}, *const latin[] = {"ls", "\xfc"};
    static const e2b_pair no_name[] = {{"", "1"}}, equals[] = {{"A=B", "1"}}, no_value[] = {{"A", NULL}}, bad[] = {{"A", "\xff"}};
    static const struct { const char *const *argv; size_t argc; e2b_process_options options; const char *words; } cases[] = {
        {NULL, 0, {0}, "empty"}, {argv_true, 0, {0}, "empty"}, {empty, 1, {0}, "empty"}, {hole, 2, {0}, "argument"}, {latin, 2, {0}, "UTF-8"},
        {argv_true, 1, {.user = ""}, "user"}, {argv_true, 1, {.user = "a b"}, "user"}, {argv_true, 1, {.user = "a:b"}, "user"},
        {argv_true, 1, {.user = "a\r\nX: y"}, "user"}, {argv_true, 1, {.user = "a\x7f"}, "user"},
        {argv_true, 1, {.cwd = "/\xff"}, "directory"}, {argv_true, 1, {.tag = "\xc0\x80"}, "tag"},
        {argv_true, 1, {.env = no_name, .env_count = 1}, "variable"}, {argv_true, 1, {.env = equals, .env_count = 1}, "variable"},
        {argv_true, 1, {.env = no_value, .env_count = 1}, "variable"}, {argv_true, 1, {.env = bad, .env_count = 1}, "variable"},
    };
    envd_peer *peer = *state;
    e2b_process process;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        envd_peer_check(peer, e2b_process_start(&peer->sandbox, &process, cases[i].argv, cases[i].argc, &cases[i].options), E2B_INVALID);
        envd_peer_words(peer, E2B_INVALID, cases[i].words);
        assert_int_equal(e2b_process_next(&process, &(e2b_event){0}, 0), E2B_CLOSED);
    }
    char user[200];
    memset(user, 'u', sizeof user);
    user[129] = '\0';
    envd_peer_check(peer, e2b_process_start(&peer->sandbox, &process, argv_true, 1, &(e2b_process_options){.user = user}), E2B_INVALID);
    envd_peer_check(peer, e2b_process_shell(&peer->sandbox, &process, "\xff", NULL), E2B_INVALID);
    envd_peer_check(peer, e2b_process_connect(&peer->sandbox, &process, 0, NULL, NULL), E2B_INVALID);
    envd_peer_check(peer, e2b_process_connect(&peer->sandbox, &process, 0, "", NULL), E2B_INVALID);
    envd_peer_check(peer, e2b_process_connect(&peer->sandbox, &process, 0, "\xff", NULL), E2B_INVALID);
    assert_int_equal(peer->port.calls, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_keys), TEST(test_places_that_cannot_be_reached), TEST(test_answers), TEST(test_ids_and_lifetimes),
        TEST(test_line_breaks_in_client_options), TEST(test_line_breaks_in_sandbox_options), TEST(test_line_breaks_in_lists),
        TEST(test_line_breaks_in_process_options), TEST(test_line_breaks_from_a_server), TEST(test_process_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
