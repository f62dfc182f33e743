/* What the peer sends has no influence on what the client needs: gigabytes of
 * output, output without a pause, and every size of the client's own memory. */
#include "envd_peer.h"

#include "incremental.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK 32768u

/* ---- Gigabytes through the smallest client ---------------------------------------- */

static void flood(envd_peer *peer, int32_t codec, uint32_t times)
{
    static uint8_t block[BLOCK];
    e2b_process process;
    e2b_event event;
    uint64_t total = 0, sum = 0, block_sum = 0;
    for (size_t i = 0; i < sizeof block; i++) block_sum += block[i] = (uint8_t)(i * 151 + (i >> 7));
    envd_peer_restart(peer, &(envd_peer_options){.codec = codec, .connections = 1, .buffer = 1024});
    size_t used = E2B_CLIENT_MEMORY(1, 1024);
    memset(peer->memory + used, 0xa5, 64);
    peer->waits_allowed = UINT64_MAX;
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_repeat(script, times);
    envd_write_data(peer, E2B_EVENT_OUT, block, sizeof block);
    e2b_memory_repeat_end(script);
    envd_write_finish(peer, 0);
    envd_peer_done(peer);
    envd_peer_start(peer, &process, false);
    do {
        envd_peer_check(peer, e2b_process_next(&process, &event, E2B_NO_LIMIT), E2B_OK);
        if (event.kind != E2B_EVENT_OUT) continue;
        assert_true(event.data.len <= 1024);
        /* All of the first and the last rounds are compared; a sum over all would cost more than the library. */
        if (total < 64 * BLOCK || total >= ((uint64_t)times - 64) * BLOCK)
            for (size_t i = 0; i < event.data.len; i++) sum += (uint8_t)event.data.ptr[i];
        assert_int_equal((uint8_t)event.data.ptr[0], block[total % BLOCK]);
        total += event.data.len;
    } while (event.kind != E2B_EVENT_END);
    assert_true(total == (uint64_t)times * BLOCK);
    assert_true(sum == 128 * block_sum);
    assert_int_equal(event.exit_code, 0);
    assert_int_equal(peer->port.now_ms, 0);
    for (size_t i = 0; i < 64; i++) assert_int_equal(peer->memory[used + i], 0xa5);
}

static void test_gigabytes(void **state)
{
    uint32_t times = test_sampled() ? 1u << 11 : 1u << 17; /* 4 GiB */
    flood(*state, E2B_CODEC_JSON, times);
    flood(*state, E2B_CODEC_PROTO, times);
}

/* e2b_run with no place for any of it. */
static void test_run_counts(void **state)
{
    envd_peer *peer = *state;
    static uint8_t block[BLOCK];
    uint32_t times = test_sampled() ? 1u << 8 : 1u << 13;
    char first[100];
    e2b_run_result result = {.out = {.ptr = first, .size = sizeof first}};
    envd_peer_restart(peer, &(envd_peer_options){.codec = E2B_CODEC_PROTO, .connections = 1});
    peer->waits_allowed = UINT64_MAX;
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_repeat(script, times);
    envd_write_data(peer, E2B_EVENT_OUT, block, sizeof block);
    envd_write_data(peer, E2B_EVENT_ERR, block, 3);
    e2b_memory_repeat_end(script);
    envd_write_finish(peer, 5);
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_run(&peer->sandbox, "yes", NULL, &result), E2B_TOO_SMALL);
    assert_true(result.out.total == (uint64_t)times * BLOCK);
    assert_true(result.err.total == (uint64_t)times * 3);
    assert_int_equal(result.out.len, sizeof first);
    assert_int_equal(result.exit_code, 5);
}

/* ---- Without a pause, without an end -------------------------------------------------- */

static int32_t (*inner_recv)(void *context, e2b_link *link, void *buffer, size_t size);

/* Time goes by while a peer keeps the client busy. */
static int32_t slow_recv(void *context, e2b_link *link, void *buffer, size_t size)
{
    e2b_memory_port *port = context;
    port->now_ms++;
    return inner_recv(context, link, buffer, size);
}

static void busy_peer(envd_peer *peer)
{
    envd_peer_restart(peer, NULL);
    inner_recv = peer->port.port.recv;
    peer->port.port.recv = slow_recv;
}

/* What one receive has room for: so that each is full and none says that no more is there. */
#define ROOM 1016u

static void endless(envd_peer *peer, const char *path, const char *head, const char *again)
{
    static char long_text[20 * ROOM];
    size_t length = strlen(again);
    for (size_t i = 0; i < sizeof long_text; i++) long_text[i] = again[i % length];
    e2b_memory_script *script = envd_peer_answer(peer, path);
    e2b_memory_text(script, head);
    e2b_memory_repeat(script, UINT32_MAX);
    assert_int_equal(sizeof long_text % length, 0);
    e2b_memory_data(script, long_text, sizeof long_text);
    e2b_memory_repeat_end(script);
    envd_peer_done(peer);
}

static void test_answers_without_an_end(void **state)
{
    envd_peer *peer = *state;
    e2b_process_list list;
    e2b_process_info info;
    e2b_sandbox_info sandbox_info;
    busy_peer(peer);
    endless(peer, "/List", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"processes\":[{\"config\":{\"cmd\":\"", "x");
    envd_peer_check(peer, e2b_process_list_open(&peer->sandbox, &list, NULL), E2B_OK);
    envd_peer_check(peer, e2b_process_list_next(&list, &info), E2B_REPLY_TIMEOUT);
    assert_true(peer->port.now_ms < 70000);
    envd_peer_slots_free(peer);

    busy_peer(peer);
    endless(peer, "/sandboxes/isandbox1", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"a\":\"", "x");
    envd_peer_check(peer, e2b_sandbox_get_info(&peer->sandbox, &sandbox_info, NULL), E2B_REPLY_TIMEOUT);
    assert_true(peer->port.now_ms < 70000);

    busy_peer(peer);
    endless(peer, "/health", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "x");
    e2b_err err = e2b_sandbox_health(&peer->sandbox); /* nobody wants its body */
    assert_true(err == E2B_OK || err == E2B_REPLY_TIMEOUT);
    envd_peer_slots_free(peer);

    busy_peer(peer);
    endless(peer, "/health", "HTTP/1.1 500 No\r\nConnection: close\r\n\r\n", "x");
    err = e2b_sandbox_health(&peer->sandbox);
    assert_true(err == E2B_GATEWAY || err == E2B_REPLY_TIMEOUT);
    assert_true(peer->port.received < 1 << 20);
}

/* Keepalives are nothing to give out, and yet next and start come back in time. */
static void test_keepalives_without_a_pause(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    busy_peer(peer);
    peer->waits_allowed = 200000;
    for (int started = 0; started < 2; started++) {
        e2b_memory_script *script = envd_peer_answer(peer, "/Start");
        envd_write_head(script);
        if (started) envd_write_started(peer, 7);
        /* In one step, so that every receive is full. */
        static const char keepalive[] = "1f\r\n\0\0\0\0\x1a{\"event\":{\"keepalive\":{}}}\r\n";
        static char many[ROOM * (sizeof keepalive - 1)];
        for (size_t i = 0; i < sizeof many; i++) many[i] = keepalive[i % (sizeof keepalive - 1)];
        e2b_memory_repeat(script, UINT32_MAX);
        e2b_memory_data(script, many, sizeof many);
        e2b_memory_repeat_end(script);
        envd_peer_done(peer);
        static const char *const argv[] = {"x"};
        uint64_t then = peer->port.now_ms;
        envd_peer_check(peer, e2b_process_start(&peer->sandbox, &process, argv, 1, NULL), started ? E2B_OK : E2B_REPLY_TIMEOUT);
        if (!started) assert_true(peer->port.now_ms <= then + 60010);
    }
    uint64_t then = peer->port.now_ms;
    envd_peer_nothing(peer, &process, 1000);
    assert_true(peer->port.now_ms >= then + 1000 && peer->port.now_ms < then + 1100);
    envd_peer_nothing(peer, &process, 0);
    assert_true(peer->port.now_ms < then + 1200);
    e2b_process_close(&process);
}

/* The list that a look asked for is as endless as it likes. */
static void test_a_look_at_an_endless_list(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    busy_peer(peer);
    envd_peer_quiet_stream(peer);
    envd_peer_start(peer, &process, false);
    endless(peer, "/List", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"processes\":[{\"pid\":7}", ",{\"pid\":3}");
    envd_peer_fails(peer, &process, E2B_IDLE);
    assert_true(peer->port.now_ms < 190000);
}

/* ---- Waiting costs no turns for nothing ------------------------------------------------- */

static void test_no_spinning(void **state)
{
    envd_peer *peer = *state;
    e2b_process process;
    e2b_event event;
    e2b_memory_script *script = envd_peer_answer(peer, "/Start");
    envd_write_head(script);
    envd_write_started(peer, 7);
    e2b_memory_repeat(script, 500);
    e2b_memory_advance(script, 1000);
    envd_write_text(peer, E2B_EVENT_OUT, "tick");
    e2b_memory_repeat_end(script);
    e2b_memory_advance(script, 600000);
    envd_write_finish(peer, 0);
    envd_peer_done(peer);
    envd_peer_start(peer, &process, true);
    envd_peer_reply_always(peer, "/List", 200, "{\"processes\":[{\"pid\":7}]}");
    envd_peer_silence(peer, "/SendInput");
    envd_peer_check(peer, e2b_process_send(&process, "x", 1), E2B_OK);
    do {
        envd_peer_check(peer, e2b_process_next(&process, &event, E2B_NO_LIMIT), E2B_OK);
    } while (event.kind != E2B_EVENT_END);
    assert_int_equal(peer->port.now_ms, 1100000);
    assert_true(peer->port.waits < 500 + 50);
    assert_true(peer->port.calls < 5 * 500 + 200); /* the pending piece's link is asked as well */
}

/* ---- The client's own memory -------------------------------------------------------------- */

static e2b_err init(envd_peer *peer, e2b_client *client, uint8_t *memory, size_t size, uint16_t connections)
{
    e2b_client_options options = {.api_key = "e2b_00", .api_url = "http://a.test", .sandbox_url = "http://b.test", .connections = connections};
    return e2b_client_init(client, &peer->port.port, &options, memory, size);
}

static void work(envd_peer *peer, e2b_client *client)
{
    e2b_sandbox sandbox;
    char out[3000];
    e2b_run_result result = {.out = {.ptr = out, .size = sizeof out}};
    static char text[2001];
    memset(text, 'x', 2000);
    assert_int_equal(e2b_sandbox_refer(client, &sandbox, "isandbox1"), E2B_OK);
    sandbox.version[1] = 6;
    envd_write_head(envd_peer_answer(peer, "/Start"));
    envd_write_started(peer, 7);
    envd_write_text(peer, E2B_EVENT_OUT, text);
    envd_write_finish(peer, 0);
    envd_peer_done(peer);
    assert_int_equal(e2b_run(&sandbox, text, NULL, &result), E2B_OK); /* longer than the buffer both ways */
    assert_int_equal(result.out.len, 2000);
    assert_int_equal(client->error.code, E2B_OK);
}

static void test_every_size(void **state)
{
    envd_peer *peer = *state;
    static uint8_t memory[E2B_CLIENT_MEMORY(3, 1024) + 16];
    for (uint16_t connections = 1; connections <= 3; connections++) {
        for (size_t shift = 0; shift < 8; shift += 3) {
            e2b_client client;
            size_t size = 0, minimum;
            assert_int_equal(init(peer, &client, memory + shift, 0, connections), E2B_NO_MEMORY);
            minimum = client.error.needed;
            assert_true(minimum > 1024u * connections && minimum <= E2B_CLIENT_MEMORY(connections, 1024));
            for (; size < minimum; size++) {
                assert_int_equal(init(peer, &client, memory + shift, size, connections), E2B_NO_MEMORY);
                assert_int_equal(client.error.needed, minimum);
                assert_non_null(strstr(client.error.text, "E2B_CLIENT_MEMORY"));
                e2b_client_close(&client);
            }
            for (; size <= E2B_CLIENT_MEMORY(connections, 1024); size += 7) {
                uint8_t after = memory[shift + size] = 0x5a;
                envd_peer_restart(peer, NULL);
                assert_int_equal(init(peer, &client, memory + shift, size, connections), E2B_OK);
                work(peer, &client);
                e2b_client_close(&client);
                assert_int_equal(memory[shift + size], after);
            }
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_gigabytes), TEST(test_run_counts), TEST(test_answers_without_an_end), TEST(test_keepalives_without_a_pause),
        TEST(test_a_look_at_an_endless_list), TEST(test_no_spinning), TEST(test_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
