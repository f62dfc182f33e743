#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check_str.h"
#include "e2b_memory.h"
#include "wire/conn.h"

#define KEY "e2b_0123456789abcdef"

static e2b_memory_port memory;
static uint64_t block[8192];

static e2b_err init(e2b_client *client, const e2b_client_options *options)
{
    e2b_memory_open(&memory, NULL, 0);
    return e2b_client_init(client, &memory.port, options, block, sizeof block);
}

/* ---- Memory ------------------------------------------------------------------------ */

/* In a block of its exact size, so that a sanitizer sees a byte too far; every
 * slot's buffer is written full. */
static void use(size_t size, size_t shift, uint16_t connections, e2b_err expected, size_t *needed)
{
    uint8_t *own = malloc(size + shift);
    e2b_client client;
    e2b_client_options options = {.api_key = KEY, .connections = connections, .user_agent = "test"};
    assert_non_null(own);
    memset(own, 0xa5, size + shift);
    e2b_memory_open(&memory, NULL, 0);
    e2b_err err = e2b_client_init(&client, &memory.port, &options, own + shift, size);
    assert_int_equal(err, expected);
    if (err) {
        assert_int_equal(client.error.code, err);
        assert_true(client.error.needed > size);
        *needed = client.error.needed;
        assert_string_equal(e2b_reason(&client, err), client.error.text);
        assert_non_null(strstr(client.error.text, "E2B_CLIENT_MEMORY"));
        for (size_t i = 0; i < size; i++) assert_int_equal(own[shift + i], 0xa5);
    } else {
        assert_true(client.buffer_size >= E2B_BUFFER_MINIMUM);
        assert_int_equal((uintptr_t)client.conns % sizeof(uint64_t), 0);
        assert_int_equal((uintptr_t)client.wait_space % sizeof(uint64_t), 0);
        assert_int_equal((uintptr_t)client.waits % sizeof(void *), 0);
        assert_int_equal((uintptr_t)client.tokens % sizeof(int), 0);
        memset(client.wait_space, 0, 8u * ((size_t)connections + E2B_WAIT_SPARE));
        memset(client.tokens, 0, 20u * E2B_TOKEN_COUNT);
        for (uint16_t i = 0; i < connections; i++) {
            client.conns[i].opened_ms = i;
            client.waits[i].wanted = 0;
            memset(client.conns[i].buffer, 'x', client.buffer_size);
            assert_true(client.conns[i].buffer >= own + shift && client.conns[i].buffer + client.buffer_size <= own + shift + size);
        }
        assert_memory_equal(client.api_key.ptr, KEY, sizeof KEY - 1);
        assert_memory_equal(client.user_agent.ptr, "test", 4);
        e2b_client_close(&client);
    }
    free(own);
}

static void every_size_of_memory(void **state)
{
    (void)state;
    for (uint16_t connections = 1; connections <= 3; connections++) {
        for (size_t shift = 0; shift < 8; shift++) {
            size_t minimum = 0, needed = 0;
            use(0, shift, connections, E2B_NO_MEMORY, &minimum);
            assert_true(minimum > 1024);
            for (size_t size = 1; size < minimum; size += shift ? 97 : 1) {
                use(size, shift, connections, E2B_NO_MEMORY, &needed);
                assert_int_equal(needed, minimum);
            }
            use(minimum - 1, shift, connections, E2B_NO_MEMORY, &needed);
            assert_int_equal(needed, minimum);
            for (size_t more = 0; more < 20; more++) use(minimum + more, shift, connections, E2B_OK, &needed);
            use(minimum + 5000, shift, connections, E2B_OK, &needed);
        }
    }
}

static void without_memory_any_alignment_is_counted(void **state)
{
    (void)state;
    e2b_client client;
    e2b_client_options options = {.api_key = KEY};
    e2b_memory_open(&memory, NULL, 0);
    assert_int_equal(e2b_client_init(&client, &memory.port, &options, NULL, 0), E2B_NO_MEMORY);
    size_t needed = client.error.needed;
    assert_int_equal(e2b_client_init(&client, &memory.port, &options, NULL, SIZE_MAX), E2B_NO_MEMORY);
    for (size_t shift = 0; shift < 8; shift++)
        assert_int_equal(e2b_client_init(&client, &memory.port, &options, (uint8_t *)block + shift, needed), E2B_OK);
}

static void the_size_that_the_macro_gives(void **state)
{
    (void)state;
    for (uint16_t connections = 1; connections <= 8; connections++) {
        size_t size = E2B_CLIENT_MEMORY(connections, 1024), needed;
        uint8_t *own = malloc(size + 7);
        char agent[400];
        e2b_client client;
        memset(agent, 'a', sizeof agent);
        agent[sizeof agent - 1] = '\0';
        e2b_client_options options = {.api_key = KEY, .connections = connections, .user_agent = agent};
        e2b_memory_open(&memory, NULL, 0);
        for (size_t shift = 0; shift < 8; shift++)
            assert_int_equal(e2b_client_init(&client, &memory.port, &options, own + shift, size), E2B_OK);
        use(size, 0, connections, E2B_OK, &needed);
        free(own);
    }
}

static void the_rest_is_divided_evenly(void **state)
{
    (void)state;
    e2b_client client;
    e2b_client_options options = {.api_key = KEY, .connections = 3};
    assert_int_equal(init(&client, &options), E2B_OK);
    size_t room = sizeof block - (size_t)(client.conns[0].buffer - (uint8_t *)block);
    assert_int_equal(client.buffer_size, room / 3);
    assert_ptr_equal(client.conns[1].buffer, client.conns[0].buffer + client.buffer_size);
    assert_int_equal(client.conn_count, 3);
    for (uint16_t i = 0; i < 3; i++) assert_int_equal(client.conns[i].use, E2B_USE_FREE);
}

/* ---- Options ------------------------------------------------------------------------ */

static void strings_are_copied(void **state)
{
    (void)state;
    char key[] = KEY, agent[] = "test agent/1", domain[] = "example.test", api[] = "http://api.test:81/base/",
         box[] = "https://box.test/under", address[] = "10.0.0.1", other[] = "::1";
    int flag = 0;
    e2b_client client;
    e2b_client_options options = {.api_key = key, .user_agent = agent, .domain = domain, .api_url = api, .sandbox_url = box,
                                  .api_address = address, .sandbox_address = other, .codec = E2B_CODEC_PROTO,
                                  .cancel = &flag, .limits = {.connect_ms = 7, .poll_ms = 9}};
    assert_int_equal(init(&client, &options), E2B_OK);
    char *const all[] = {key, agent, domain, api, box, address, other};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) memset(all[i], '#', strlen(all[i]));
    memset(&options, 0xa5, sizeof options);
    check_str(client.api_key, str_of(KEY));
    check_str(client.user_agent, str_of("test agent/1"));
    check_str(client.domain, str_of("example.test"));
    check_str(client.api_host, str_of("api.test"));
    check_str(client.api_path, str_of("/base"));
    assert_int_equal(client.api_port, 81);
    assert_int_equal(client.api_tls, 0);
    check_str(client.sandbox_host, str_of("box.test"));
    check_str(client.sandbox_path, str_of("/under"));
    assert_int_equal(client.sandbox_port, 0);
    assert_int_equal(client.sandbox_tls, 1);
    check_str(client.api_address, str_of("10.0.0.1"));
    check_str(client.sandbox_address, str_of("::1"));
    assert_int_equal(client.codec, E2B_CODEC_PROTO);
    assert_ptr_equal(client.cancel, &flag);
    assert_int_equal(client.limits.connect_ms, 7);
    assert_int_equal(client.limits.poll_ms, 9);
}

typedef struct place {
    const char *domain, *api_url, *sandbox_url;
    bool debug;
    const char *api_host;
    uint16_t api_port;
    bool api_tls;
    const char *sandbox_host;
    uint16_t sandbox_port;
    bool sandbox_tls;
} place;

static void where_requests_go(void **state)
{
    (void)state;
    static const place rows[] = {
        {NULL, NULL, NULL, false, "api.e2b.app", 0, true, "sandbox.e2b.app", 0, true},
        {"", "", "", false, "api.e2b.app", 0, true, "sandbox.e2b.app", 0, true},
        {"e2b.dev", NULL, NULL, false, "api.e2b.dev", 0, true, "sandbox.e2b.dev", 0, true},
        {"e2b.pro", NULL, NULL, false, "api.e2b.pro", 0, true, "sandbox.e2b.pro", 0, true},
        {"e2b-staging.dev", NULL, NULL, false, "api.e2b-staging.dev", 0, true, "sandbox.e2b-staging.dev", 0, true},
        {"example.test", NULL, NULL, false, "api.example.test", 0, true, "", 0, true},
        {"xe2b.app", NULL, NULL, false, "api.xe2b.app", 0, true, "", 0, true},
        {NULL, NULL, NULL, true, "localhost", 3000, false, "localhost", 49983, false},
        {"example.test", NULL, NULL, true, "localhost", 3000, false, "localhost", 49983, false},
        {NULL, "http://a.test:1", NULL, false, "a.test", 1, false, "sandbox.e2b.app", 0, true},
        {NULL, "http://a.test:1", "http://b.test:2", true, "a.test", 1, false, "b.test", 2, false},
        {"example.test", NULL, "http://[::1]:2", false, "api.example.test", 0, true, "::1", 2, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const place *p = &rows[i];
        e2b_client client;
        e2b_client_options options = {.api_key = KEY, .domain = p->domain, .api_url = p->api_url, .sandbox_url = p->sandbox_url,
                                      .debug = p->debug ? E2B_YES : 0};
        assert_int_equal(init(&client, &options), E2B_OK);
        check_str(client.api_host, str_of(p->api_host));
        assert_int_equal(client.api_port, p->api_port);
        assert_int_equal(client.api_tls, p->api_tls);
        check_str(client.sandbox_host, str_of(p->sandbox_host));
        assert_int_equal(client.sandbox_port, p->sandbox_port);
        assert_int_equal(client.sandbox_tls, p->sandbox_tls);
    }
}

static void expect(const e2b_client_options *options, e2b_err err, const char *words)
{
    e2b_client client;
    assert_int_equal(init(&client, options), err);
    assert_int_equal(client.error.code, err);
    if (words && !strstr(e2b_reason(&client, err), words)) fail_msg("no '%s' in: %s", words, e2b_reason(&client, err));
}

static void api_keys(void **state)
{
    (void)state;
    static const char *const bad[] = {"e2b_", "e2b_G", "e2b_A", "E2B_0", "0123", "e2b_0\n", "e2b_0\r\nHost: x", "e2b_ 0", "e2b_0-1",
                                      "e2b_\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect(&(e2b_client_options){.api_key = bad[i]}, E2B_INVALID, "API key");
    expect(NULL, E2B_NO_API_KEY, "E2B_API_KEY");
    expect(&(e2b_client_options){.api_key = ""}, E2B_NO_API_KEY, "E2B_API_KEY");
    expect(&(e2b_client_options){.api_key = "", .validate_api_key = E2B_NO}, E2B_NO_API_KEY, NULL);
    expect(&(e2b_client_options){.debug = E2B_YES}, E2B_OK, NULL);
    expect(&(e2b_client_options){.debug = E2B_NO}, E2B_NO_API_KEY, NULL);
    expect(&(e2b_client_options){.api_key = "any-Shape_42", .validate_api_key = E2B_NO}, E2B_OK, NULL);
    expect(&(e2b_client_options){.api_key = "any shape", .validate_api_key = E2B_NO}, E2B_INVALID, "blanks");
    expect(&(e2b_client_options){.api_key = "x\ry", .validate_api_key = E2B_NO}, E2B_INVALID, "control");
    expect(&(e2b_client_options){.api_key = "bad key", .debug = E2B_YES}, E2B_INVALID, "API key");
}

static void other_options(void **state)
{
    (void)state;
    static const char *const urls[] = {"localhost:3000", "ftp://x", "http://", "https://x?y", "http://x\r\ny", "http://a b"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        expect(&(e2b_client_options){.api_key = KEY, .api_url = urls[i]}, E2B_INVALID, "E2B_API_URL");
        expect(&(e2b_client_options){.api_key = KEY, .sandbox_url = urls[i]}, E2B_INVALID, "E2B_SANDBOX_URL");
    }
    static const char *const domains[] = {"http://x", "a b", "a/b", "x:80", "x\n", ".x", "\xc3\xa9"};
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        expect(&(e2b_client_options){.api_key = KEY, .domain = domains[i]}, E2B_INVALID, "not a domain name");
    static const char *const names[] = {"localhost", "1.2.3.4 ", "[::1]", "1.2.3.4\n"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect(&(e2b_client_options){.api_key = KEY, .api_address = names[i]}, E2B_INVALID, "not a numeric address");
        expect(&(e2b_client_options){.api_key = KEY, .sandbox_address = names[i]}, E2B_INVALID, "not a numeric address");
    }
    expect(&(e2b_client_options){.api_key = KEY, .user_agent = "a\r\nX: y"}, E2B_INVALID, "user agent");
    expect(&(e2b_client_options){.api_key = KEY, .user_agent = "a\x7f"}, E2B_INVALID, "user agent");
    expect(&(e2b_client_options){.api_key = KEY, .user_agent = "\xc3\xa9"}, E2B_INVALID, "user agent");
    expect(&(e2b_client_options){.api_key = KEY, .codec = 2}, E2B_INVALID, "codec");
    expect(&(e2b_client_options){.api_key = KEY, .codec = -1}, E2B_INVALID, "codec");
}

/* One label more has to fit in front of it. */
static void the_longest_domain(void **state)
{
    (void)state;
    char domain[251];
    memset(domain, 'a', sizeof domain);
    for (size_t i = 50; i < sizeof domain; i += 51) domain[i] = '.';
    domain[250] = '\0';
    expect(&(e2b_client_options){.api_key = KEY, .domain = domain}, E2B_INVALID, "not a domain name");
    domain[249] = '\0';
    e2b_client client;
    assert_int_equal(init(&client, &(e2b_client_options){.api_key = KEY, .domain = domain}), E2B_OK);
    assert_int_equal(client.api_host.len, 253);
}

static void secrets_in_urls_are_not_shown(void **state)
{
    (void)state;
    e2b_client client;
    assert_int_equal(init(&client, &(e2b_client_options){.api_key = KEY, .api_url = "http://user:hunter2@x"}), E2B_INVALID);
    assert_null(strstr(client.error.text, "hunter2"));
    assert_int_equal(init(&client, &(e2b_client_options){.api_key = KEY, .api_url = "x\x1b[31m\r\n"}), E2B_INVALID);
    for (const char *c = client.error.text; *c; c++) assert_true(*c >= ' ' && *c < 0x7f);
}

/* ---- The port ------------------------------------------------------------------------- */

static void every_required_function(void **state)
{
    (void)state;
    e2b_client client;
    e2b_client_options options = {.api_key = KEY};
    for (int missing = 0; missing < 9; missing++) {
        e2b_memory_open(&memory, NULL, 0);
        e2b_port port = memory.port;
        if (missing == 0) port.open = NULL;
        if (missing == 1) port.recv = NULL;
        if (missing == 2) port.send = NULL;
        if (missing == 3) port.close = NULL;
        if (missing == 4) port.wait = NULL;
        if (missing == 5) port.now_ms = NULL;
        if (missing == 6) port.unix_time = NULL;
        if (missing == 7) port.random = NULL;
        if (missing == 8) port.trace = NULL;
        assert_int_equal(e2b_client_init(&client, &port, &options, block, sizeof block), missing == 8 ? E2B_OK : E2B_UNSUPPORTED);
    }
    assert_int_equal(e2b_client_init(&client, NULL, &options, block, sizeof block), E2B_UNSUPPORTED);
    assert_non_null(strstr(e2b_reason(&client, E2B_UNSUPPORTED), "port"));
}

/* ---- Closing, and words for errors ------------------------------------------------------ */

static void closing(void **state)
{
    (void)state;
    e2b_client client;
    memset(&client, 0, sizeof client);
    e2b_client_close(&client);
    assert_int_equal(init(&client, NULL), E2B_NO_API_KEY);
    e2b_client_close(&client);
    e2b_client_options options = {.api_key = KEY, .connections = 2};
    assert_int_equal(e2b_client_init(&client, &memory.port, &options, block, 10), E2B_NO_MEMORY);
    e2b_client_close(&client);
    assert_int_equal(init(&client, &options), E2B_OK);
    e2b_route route = {str_of("example.test"), {NULL, 0}, 0, 80, false};
    assert_int_equal(e2b_conn_open(&client, &client.conns[1], &route, NULL), E2B_OK);
    client.conns[1].use = E2B_USE_KEPT;
    client.error.http_status = 418;
    client.latest_is_cleanup = 1;
    e2b_client_close(&client);
    assert_int_equal(memory.closes, 1);
    assert_int_equal(memory.aborts, 0);
    assert_int_equal(client.error.http_status, 418);
    assert_int_equal(client.latest_is_cleanup, 1); /* so that the reason stays the same */
    e2b_client_close(&client);
    assert_int_equal(memory.closes, 1);
}

/* Memory and port may be gone: no call on the client reads them. */
static void calls_on_a_closed_client(void **state)
{
    (void)state;
    static e2b_sandbox sandbox;
    e2b_client client;
    e2b_client_options options = {.api_key = KEY, .connections = 2};
    e2b_memory_port port;
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    size_t ready;
    for (int opened = 0; opened < 2; opened++) {
        e2b_memory_open(&port, NULL, 0);
        memset(&client, 0, sizeof client);
        if (opened) assert_int_equal(e2b_client_init(&client, &port.port, &options, block, sizeof block), E2B_OK);
        e2b_client_close(&client);
        memset(&port, 0, sizeof port);
        memset(block, 0xff, sizeof block);
        memset(&sandbox, 0, sizeof sandbox);
        assert_int_equal(e2b_sandbox_create(&client, &sandbox, NULL), E2B_CLOSED);
        assert_int_equal(sandbox.state, E2B_SANDBOX_NONE);
        assert_string_equal(client.error.text, "create sandbox: the client is not open");
        assert_int_equal(e2b_sandbox_attach(&client, &sandbox, "i1"), E2B_CLOSED);
        assert_int_equal(e2b_sandbox_connect(&client, &sandbox, "i1", NULL), E2B_CLOSED);
        assert_int_equal(e2b_sandbox_set_timeout(&sandbox, 9), E2B_CLOSED);
        assert_int_equal(e2b_sandbox_kill(&sandbox), E2B_CLOSED);
        assert_int_equal(sandbox.state, E2B_SANDBOX_LIVE);
        sandbox.state = E2B_SANDBOX_MAYBE;
        sandbox.create_tag[0] = '0';
        assert_int_equal(e2b_sandbox_settle(&sandbox, 100), E2B_CLOSED);
        assert_int_equal(e2b_sandbox_list_open(&client, &list, NULL), E2B_OK);
        assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_CLOSED);
        assert_int_equal(e2b_wait(&client, NULL, 0, 5, &ready), E2B_CLOSED);
    }
}

static void reasons(void **state)
{
    (void)state;
    e2b_client client;
    memset(&client, 0, sizeof client);
    assert_string_equal(e2b_reason(NULL, E2B_BUSY), e2b_err_text(E2B_BUSY));
    assert_string_equal(e2b_reason(&client, E2B_BUSY), e2b_err_text(E2B_BUSY));
    assert_string_equal(e2b_reason(&client, E2B_OK), "success");
    assert_non_null(e2b_reason(&client, 12345));
    client.error.code = E2B_BUSY;
    strcpy(client.error.text, "first");
    client.cleanup_error.code = E2B_SERVER;
    strcpy(client.cleanup_error.text, "second");
    assert_string_equal(e2b_reason(&client, E2B_BUSY), "first");
    assert_string_equal(e2b_reason(&client, E2B_SERVER), "second");
    assert_string_equal(e2b_reason(&client, E2B_TRUNCATED), e2b_err_text(E2B_TRUNCATED));
    client.error.text[0] = '\0';
    assert_string_equal(e2b_reason(&client, E2B_BUSY), e2b_err_text(E2B_BUSY));
    client.cleanup_error.code = E2B_BUSY;
    assert_string_equal(e2b_reason(&client, E2B_BUSY), "second");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_of_memory), cmocka_unit_test(without_memory_any_alignment_is_counted),
        cmocka_unit_test(the_size_that_the_macro_gives), cmocka_unit_test(the_rest_is_divided_evenly),
        cmocka_unit_test(strings_are_copied), cmocka_unit_test(where_requests_go), cmocka_unit_test(api_keys),
        cmocka_unit_test(other_options), cmocka_unit_test(the_longest_domain), cmocka_unit_test(secrets_in_urls_are_not_shown),
        cmocka_unit_test(every_required_function), cmocka_unit_test(closing), cmocka_unit_test(reasons),
        cmocka_unit_test(calls_on_a_closed_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
