/* What runs in a sandbox, any number in fixed memory. */
#include "envd_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void same(e2b_str found, const char *expected)
{
    assert_int_equal(found.len, strlen(expected));
    if (found.len) assert_memory_equal(found.ptr, expected, found.len);
}

static void open_list(envd_peer *peer, e2b_process_list *list, e2b_arena *arena, const char *json)
{
    envd_peer_reply(peer, "/process.Process/List", 200, json);
    envd_peer_check(peer, e2b_process_list_open(&peer->sandbox, list, arena), E2B_OK);
}

/* The next process has this pid; 0: the end. */
static e2b_process_info item(envd_peer *peer, e2b_process_list *list, uint32_t pid)
{
    e2b_process_info info;
    envd_peer_check(peer, e2b_process_list_next(list, &info), E2B_OK);
    assert_int_equal(info.pid, pid);
    return info;
}

#define TWO \
    "{\"processes\":[{\"config\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"echo \\u00fc\\n\"],\"envs\":{\"A\":\"1\",\"B=\":\"\\\"\"}," \
    "\"cwd\":\"/home/user\"},\"pid\":7,\"tag\":\"t \\u003c\"}, {\"pid\":4294967295,\"config\":{\"cmd\":\"sleep\"}}]}"

static void test_items(void **state)
{
    envd_peer *peer = *state;
    uint8_t memory[512];
    e2b_arena arena;
    e2b_process_list list;
    e2b_arena_init(&arena, memory, sizeof memory);
    assert_non_null(e2b_arena_take(&arena, 40, 8)); /* the caller's own, which stays */
    open_list(peer, &list, &arena, TWO);
    assert_string_equal(envd_peer_body(peer, 0), "{}");
    assert_false(envd_peer_contains(peer, 0, "Connect-Timeout-Ms"));
    e2b_process_info info = item(peer, &list, 7);
    same(info.cmd, "/bin/bash");
    same(info.cwd, "/home/user");
    same(info.tag, "t <");
    static const char *const args[] = {"-l", "-c", "echo \xc3\xbc\n"};
    size_t position = 0;
    e2b_str name, value;
    for (size_t i = 0; i < 3; i++) {
        assert_true(e2b_json_strings(info.args, &position, &value));
        same(value, args[i]);
    }
    assert_false(e2b_json_strings(info.args, &position, &value));
    position = 0;
    assert_true(e2b_json_pairs(info.env, &position, &name, &value));
    same(name, "A");
    same(value, "1");
    assert_true(e2b_json_pairs(info.env, &position, &name, &value));
    same(name, "B=");
    same(value, "\"");
    assert_false(e2b_json_pairs(info.env, &position, &name, &value));
    info = item(peer, &list, UINT32_MAX);
    same(info.cmd, "sleep");
    same(info.args, "");
    same(info.env, "");
    same(info.cwd, "");
    same(info.tag, "");
    item(peer, &list, 0);
    item(peer, &list, 0); /* and again */
    envd_peer_slots_free(peer);
    assert_true(arena.used >= 40 && arena.used <= sizeof memory);
    e2b_process_list_close(&list);
    assert_int_equal(e2b_process_list_next(&list, &info), E2B_CLOSED);
}

static void test_without_an_arena(void **state)
{
    envd_peer *peer = *state;
    e2b_process_list list;
    open_list(peer, &list, NULL, TWO);
    e2b_process_info info = item(peer, &list, 7);
    same(info.cmd, "");
    same(info.args, "");
    item(peer, &list, UINT32_MAX);
    item(peer, &list, 0);
}

static void test_empty_lists(void **state)
{
    static const char *const lists[] = {"{}", "{\"processes\":[]}", "{\"processes\":null}", "{\"other\":[{\"pid\":1}],\"processes\":[]}", " { } "};
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        e2b_process_list list;
        open_list(peer, &list, NULL, lists[i]);
        item(peer, &list, 0);
        envd_peer_slots_free(peer);
        e2b_process_list_close(&list);
    }
    assert_int_equal(peer->port.opened, 1); /* each was read to its end */
}

/* Null is a field that is not there; unknown ones are passed over; the last of two wins. */
static void test_odd_items(void **state)
{
    envd_peer *peer = *state;
    uint8_t memory[256];
    e2b_arena arena;
    e2b_process_list list;
    e2b_arena_init(&arena, memory, sizeof memory);
    open_list(peer, &list, &arena,
              "{\"x\":{\"processes\":[{\"pid\":1}]},\"processes\":["
              "{\"config\":null,\"pid\":2,\"tag\":null},"
              "{\"config\":{\"cmd\":null,\"args\":null,\"envs\":null,\"cwd\":null,\"pid\":99,\"x\":[{\"cmd\":\"no\"}]},\"pid\":3,\"y\":{\"pid\":98}},"
              "{\"pid\":97,\"config\":{\"args\":[],\"envs\":{}},\"pid\":4,\"cmd\":\"outside\"}],\"processes2\":1}");
    for (uint32_t pid = 2; pid < 5; pid++) {
        e2b_process_info info = item(peer, &list, pid);
        same(info.cmd, "");
        same(info.tag, "");
        same(info.args, pid == 4 ? "[]" : "");
        same(info.env, pid == 4 ? "{}" : "");
    }
    item(peer, &list, 0);
}

static void test_what_is_no_list(void **state)
{
    static const char *const bad[] = {
        "", "[]", "null", "7", "<html>", "{\"processes\":7}", "{\"processes\":{}}", "{\"processes\":[7]}", "{\"processes\":[{}]}",
        "{\"processes\":[{\"pid\":0}]}", "{\"processes\":[{\"pid\":-1}]}", "{\"processes\":[{\"pid\":4294967297}]}",
        "{\"processes\":[{\"pid\":1.5}]}", "{\"processes\":[{\"pid\":\"7x\"}]}", "{\"processes\":[{\"pid\":7}", "{\"processes\":[{\"pid\":7}]",
        "{\"processes\":[{\"config\":{\"cmd\":\"\\q\"},\"pid\":7}]}",
    };
    envd_peer *peer = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t memory[64];
        e2b_arena arena;
        e2b_process_list list;
        e2b_process_info info;
        e2b_arena_init(&arena, memory, sizeof memory);
        envd_peer_reply(peer, "/List", 200, bad[i]);
        e2b_err err = e2b_process_list_open(&peer->sandbox, &list, &arena);
        while (!err) {
            err = e2b_process_list_next(&list, &info);
            if (!err && !info.pid) fail_msg("taken for a list: %s", bad[i]);
        }
        envd_peer_check(peer, err, E2B_PROTOCOL);
        envd_peer_check(peer, e2b_process_list_next(&list, &info), E2B_PROTOCOL); /* the first error stays */
        envd_peer_slots_free(peer);
    }
}

static void test_refused_and_cut(void **state)
{
    envd_peer *peer = *state;
    e2b_process_list list;
    e2b_process_info info;
    envd_peer_reply(peer, "/List", 401, "{\"code\":401,\"message\":\"no\"}");
    envd_peer_check(peer, e2b_process_list_open(&peer->sandbox, &list, NULL), E2B_UNAUTHENTICATED);
    assert_int_equal(e2b_process_list_next(&list, &info), E2B_UNAUTHENTICATED);
    e2b_memory_script *script = envd_peer_answer(peer, "/List");
    e2b_memory_text(script, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"processes\":[{\"pid\":7},{\"pid\":8}");
    e2b_memory_end(script);
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_process_list_open(&peer->sandbox, &list, NULL), E2B_OK);
    item(peer, &list, 7);
    item(peer, &list, 8);
    envd_peer_check(peer, e2b_process_list_next(&list, &info), E2B_TRUNCATED);
    envd_peer_slots_free(peer);
    /* Asked once more if a kept link had died. */
    envd_peer_reply(peer, "/health", 200, "{}");
    envd_peer_check(peer, e2b_sandbox_health(&peer->sandbox), E2B_OK);
    e2b_memory_reset(envd_peer_answer(peer, "/List"));
    envd_peer_done(peer);
    open_list(peer, &list, NULL, "{}");
    item(peer, &list, 0);
}

/* ---- Any length in this memory ------------------------------------------------------------- */

static void megabyte_list(envd_peer *peer, const char *member)
{
    static char kilobyte[1025];
    char head[200];
    memset(kilobyte, 'x', 1024);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"processes\":[{\"pid\":5},{\"config\":{%s", member);
    e2b_memory_script *script = envd_peer_answer(peer, "/List");
    e2b_memory_text(script, head);
    e2b_memory_repeat(script, 1024);
    e2b_memory_text(script, kilobyte);
    e2b_memory_repeat_end(script);
    e2b_memory_text(script, strchr(member, '[') ? "\"]},\"pid\":6}" : strchr(member, '{') ? "\"}},\"pid\":6}" : "\"},\"pid\":6}");
    e2b_memory_text(script, ",{\"pid\":7,\"tag\":\"last\"}]}");
    e2b_memory_end(script);
    envd_peer_done(peer);
}

static void test_a_command_line_of_a_megabyte(void **state)
{
    static const char *const members[] = {"\"args\":[\"", "\"cmd\":\"", "\"envs\":{\"A\":\"", "\"cwd\":\"", "\"unknown\":\""};
    envd_peer *peer = *state;
    for (size_t i = 0; i < 10; i++) {
        uint8_t memory[64];
        e2b_arena arena;
        e2b_process_list list;
        e2b_process_info info;
        bool with_arena = i >= 5;
        e2b_arena_init(&arena, memory, sizeof memory);
        megabyte_list(peer, members[i % 5]);
        envd_peer_check(peer, e2b_process_list_open(&peer->sandbox, &list, with_arena ? &arena : NULL), E2B_OK);
        item(peer, &list, 5);
        envd_peer_check(peer, e2b_process_list_next(&list, &info), with_arena && i % 5 != 4 ? E2B_TOO_SMALL : E2B_OK);
        assert_int_equal(info.pid, 6);
        if (with_arena && i % 5 != 4) {
            envd_peer_words(peer, E2B_TOO_SMALL, "arena");
            assert_true(peer->client.error.needed >= 1 << 20 && peer->client.error.needed < (1 << 20) + 32);
        }
        info = item(peer, &list, 7);
        same(info.tag, with_arena ? "last" : "");
        item(peer, &list, 0);
    }
}

/* needed is exact: one byte less is too little. */
static void test_needed(void **state)
{
    envd_peer *peer = *state;
    uint8_t memory[200];
    size_t needed = 0;
    for (size_t size = 0; size <= sizeof memory; size++) {
        e2b_arena arena;
        e2b_process_list list;
        e2b_process_info info;
        envd_peer_restart(peer, NULL);
        e2b_arena_init(&arena, memory, size);
        if (size >= 8) e2b_arena_take(&arena, 8, 1); /* the caller's own */
        open_list(peer, &list, &arena, TWO);
        e2b_err err = e2b_process_list_next(&list, &info);
        if (size == 8) needed = peer->client.error.needed;
        if (size < 8) needed = peer->client.error.needed; /* without it */
        assert_true(needed > 0);
        envd_peer_check(peer, err, size < needed ? E2B_TOO_SMALL : E2B_OK);
        if (err) assert_int_equal(peer->client.error.needed, needed);
        assert_true(arena.used <= size);
        e2b_process_list_close(&list);
    }
}

static void test_many(void **state)
{
    envd_peer *peer = *state;
    uint8_t memory[5]; /* for one of them, which goes when the next comes */
    e2b_arena arena;
    e2b_process_list list;
    e2b_arena_init(&arena, memory, sizeof memory);
    e2b_memory_script *script = envd_peer_answer(peer, "/List");
    e2b_memory_text(script, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"processes\":[");
    e2b_memory_repeat(script, 20000);
    e2b_memory_text(script, "{\"config\":{\"cmd\":\"sleep\"},\"pid\":3},");
    e2b_memory_repeat_end(script);
    e2b_memory_text(script, "{\"pid\":4}]}");
    e2b_memory_end(script);
    envd_peer_done(peer);
    peer->waits_allowed = 50000;
    envd_peer_check(peer, e2b_process_list_open(&peer->sandbox, &list, &arena), E2B_OK);
    for (int i = 0; i < 20000; i++) same(item(peer, &list, 3).cmd, "sleep");
    item(peer, &list, 4);
    item(peer, &list, 0);
}

/* ---- The handle ---------------------------------------------------------------------------------- */

static void test_close_and_move(void **state)
{
    envd_peer *peer = *state;
    e2b_process_list list, moved, zeroed;
    e2b_process_info info;
    memset(&zeroed, 0, sizeof zeroed);
    assert_int_equal(e2b_process_list_next(&zeroed, &info), E2B_CLOSED);
    e2b_process_list_close(&zeroed);
    open_list(peer, &list, NULL, TWO);
    moved = list;
    memset(&list, 0x77, sizeof list);
    item(peer, &moved, 7);
    e2b_process_list_close(&moved);
    assert_int_equal(e2b_process_list_next(&moved, &info), E2B_CLOSED);
    envd_peer_slots_free(peer);
    e2b_process_list_close(&moved);
    /* It counts as a stream: all slots but one. */
    e2b_process process;
    envd_peer_restart(peer, &(envd_peer_options){.connections = 2});
    open_list(peer, &list, NULL, TWO);
    static const char *const argv[] = {"x"};
    envd_peer_check(peer, e2b_process_start(&peer->sandbox, &process, argv, 1, NULL), E2B_BUSY);
    e2b_process_list_close(&list);
    /* With one slot a kill takes it. */
    envd_peer_restart(peer, &(envd_peer_options){.connections = 1});
    open_list(peer, &list, NULL, TWO);
    item(peer, &list, 7);
    e2b_memory_text(envd_peer_answer(peer, "/sandboxes/isandbox1"), "HTTP/1.1 204 No Content\r\n\r\n");
    envd_peer_done(peer);
    envd_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    assert_int_equal(e2b_process_list_next(&list, &info), E2B_CLOSED);
    e2b_process_list_close(&list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_items), TEST(test_without_an_arena), TEST(test_empty_lists), TEST(test_odd_items), TEST(test_what_is_no_list),
        TEST(test_refused_and_cut), TEST(test_a_command_line_of_a_megabyte), TEST(test_needed), TEST(test_many), TEST(test_close_and_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
