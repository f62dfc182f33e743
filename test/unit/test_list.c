/* Sandboxes page after page, any number in fixed memory. */
#include "api_peer.h"

#include "wire/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ITEM(id) "{\"sandboxID\":\"" id "\",\"templateID\":\"base\",\"state\":\"running\",\"metadata\":{\"n\":\"" id "\"}}"

static void open_list(api_peer *peer, e2b_sandbox_list *list, e2b_list_options options)
{
    api_peer_check(peer, e2b_sandbox_list_open(&peer->client, list, &options), E2B_OK);
}

static void expect(api_peer *peer, e2b_sandbox_list *list, const char *id)
{
    e2b_sandbox_info info;
    api_peer_check(peer, e2b_sandbox_list_next(list, &info), E2B_OK);
    assert_string_equal(info.id, id);
}

/* ---- What is asked ------------------------------------------------------------------ */

static void query(api_peer *peer, e2b_list_options options, const char *line)
{
    e2b_sandbox_list list;
    api_peer_restart(peer, NULL);
    api_peer_answer(peer, 200, "[]");
    open_list(peer, &list, options);
    assert_int_equal(peer->port.calls, 0);
    expect(peer, &list, "");
    api_peer_check_line(peer, 0, line);
    e2b_sandbox_list_close(&list);
}

static void test_queries(void **state)
{
    api_peer *peer = *state;
    static const e2b_pair pairs[] = {{"workspace", "w 1/\xc3\xa4"}, {"k&y", "v=1"}, {"empty", ""}};
    static const e2b_pair lines = {"a\r\nb", "%+&="};
    query(peer, (e2b_list_options){0}, "GET /v2/sandboxes");
    query(peer, (e2b_list_options){.running = true}, "GET /v2/sandboxes?state=running");
    query(peer, (e2b_list_options){.paused = true}, "GET /v2/sandboxes?state=paused");
    query(peer, (e2b_list_options){.running = true, .paused = true}, "GET /v2/sandboxes?state=running,paused");
    query(peer, (e2b_list_options){.ascending = E2B_YES}, "GET /v2/sandboxes?order=asc");
    query(peer, (e2b_list_options){.ascending = E2B_NO}, "GET /v2/sandboxes?order=desc");
    query(peer, (e2b_list_options){.limit = 1}, "GET /v2/sandboxes?limit=1");
    query(peer, (e2b_list_options){.limit = 100}, "GET /v2/sandboxes?limit=100");
    query(peer, (e2b_list_options){.template_name = "acme/x y\r\n"}, "GET /v2/sandboxes?template=acme%2Fx%20y%0D%0A");
    query(peer, (e2b_list_options){.started_after_ms = 1767323045000}, "GET /v2/sandboxes?startedAfter=2026-01-02T03%3A04%3A05Z");
    query(peer, (e2b_list_options){.started_after_ms = 1767323045006}, "GET /v2/sandboxes?startedAfter=2026-01-02T03%3A04%3A05.006Z");
    query(peer, (e2b_list_options){.metadata = pairs, .metadata_count = 3},
          "GET /v2/sandboxes?metadata=workspace%3Dw%2525201%25252F%2525C3%2525A4%26k%252526y%3Dv%25253D1%26empty%3D");
    query(peer, (e2b_list_options){.metadata = &lines, .metadata_count = 1},
          "GET /v2/sandboxes?metadata=a%25250D%25250Ab%3D%252525%25252B%252526%25253D");
    query(peer, (e2b_list_options){.metadata = pairs, .metadata_count = 1, .running = true, .paused = true, .limit = 50,
                                   .template_name = "base", .ascending = E2B_NO, .started_after_ms = 1767323045000},
          "GET /v2/sandboxes?metadata=workspace%3Dw%2525201%25252F%2525C3%2525A4&state=running,paused"
          "&startedAfter=2026-01-02T03%3A04%3A05Z&template=base&order=desc&limit=50");
}

static void test_refused_options(void **state)
{
    api_peer *peer = *state;
    static const e2b_pair pairs[] = {{NULL, "v"}, {"", "v"}, {"n", NULL}, {"\xff", "v"}, {"n", "\xff"}};
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    for (size_t i = 0; i < 6; i++) {
        e2b_list_options options = {.metadata = &pairs[i], .metadata_count = 1};
        if (i == 5) options = (e2b_list_options){.limit = 101};
        assert_int_equal(e2b_sandbox_list_open(&peer->client, &list, &options), E2B_INVALID);
        api_peer_check_words(&peer->client.error, E2B_INVALID, i == 5 ? "limit must be 1 to 100" : "metadata");
        assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_INVALID);
        e2b_sandbox_list_close(&list);
    }
    assert_int_equal(e2b_sandbox_list_open(&peer->client, &list, &(e2b_list_options){.metadata_count = 1}), E2B_INVALID);
    assert_int_equal(peer->port.calls, 0);
}

/* ---- Pages ---------------------------------------------------------------------------- */

static void test_pages(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list list;
    api_peer_answer_with(peer, 200, "X-Next-Token: MjAy+/==\r\nX-Total-Running: 3\r\n", "[" ITEM("i1") "," ITEM("i2") "]");
    api_peer_answer_with(peer, 200, "x-next-token:  second\r\n", "[]");
    api_peer_answer_with(peer, 200, "X-Next-Token:\r\n", "[" ITEM("i3") "]");
    open_list(peer, &list, (e2b_list_options){.limit = 2});
    expect(peer, &list, "i1");
    expect(peer, &list, "i2");
    expect(peer, &list, "i3");
    expect(peer, &list, "");
    expect(peer, &list, "");
    api_peer_check_line(peer, 0, "GET /v2/sandboxes?limit=2");
    api_peer_check_line(peer, 1, "GET /v2/sandboxes?limit=2&nextToken=MjAy%2B%2F%3D%3D");
    api_peer_check_line(peer, 2, "GET /v2/sandboxes?limit=2&nextToken=second");
    assert_int_equal(peer->port.opened, 1);
    assert_int_equal(peer->client.conns[0].use, E2B_USE_KEPT);
    e2b_sandbox_list_close(&list);
    e2b_sandbox_info info;
    assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_CLOSED);
}

static void test_a_circle(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    api_peer_answer_with(peer, 200, "X-Next-Token: again\r\n", "[" ITEM("i1") "]");
    api_peer_answer_with(peer, 200, "X-Next-Token: again\r\n", "[" ITEM("i1") "]");
    open_list(peer, &list, (e2b_list_options){0});
    expect(peer, &list, "i1");
    assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_PROTOCOL);
    api_peer_check_words(&peer->client.error, E2B_PROTOCOL, "circle");
    assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_PROTOCOL);
    assert_int_equal(peer->request_count, 2);
}

/* Page after page without an item: the call has its limit all the same. */
static int always_another_page(void *context, const e2b_memory_request_seen *request, e2b_memory_script *reply)
{
    uint32_t *pages = context;
    char text[120];
    (void)request;
    snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nX-Next-Token: %u\r\nContent-Length: 2\r\n\r\n[]", (unsigned)++*pages);
    e2b_memory_advance(reply, 10000);
    e2b_memory_text(reply, text);
    return 0;
}

static void test_pages_without_end(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    uint32_t pages = 0;
    peer->port.respond = always_another_page;
    peer->port.respond_context = &pages;
    open_list(peer, &list, (e2b_list_options){0});
    assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_REPLY_TIMEOUT);
    assert_int_equal(peer->port.now_ms, 60000);
    assert_int_equal(pages, 7); /* the last one asked for at the very limit */
}

static void test_tokens_of_many_lengths(void **state)
{
    api_peer *peer = *state;
    static const size_t lengths[] = {0, 1, 63, 64, 65, 129, 255, 256, 4096};
    for (size_t i = 0; i < 9; i++) {
        static char token[4097], fields[4200];
        e2b_sandbox_list list;
        e2b_sandbox_info info;
        api_peer_restart(peer, NULL);
        memset(token, 't', lengths[i]);
        token[lengths[i]] = '\0';
        snprintf(fields, sizeof fields, "HTTP/1.1 200 OK\r\nX-Next-Token: %s\r\nContent-Length: 2\r\n\r\n[]", token);
        e2b_memory_text(api_peer_begin(peer), fields);
        api_peer_end(peer);
        if (lengths[i] >= 1 && lengths[i] <= 255) api_peer_answer(peer, 200, "[" ITEM("i1") "]");
        open_list(peer, &list, (e2b_list_options){0});
        api_peer_check(peer, e2b_sandbox_list_next(&list, &info), lengths[i] > 255 ? E2B_LIMIT : E2B_OK);
        assert_string_equal(info.id, lengths[i] >= 1 && lengths[i] <= 255 ? "i1" : "");
        if (peer->request_count > 1) assert_true(api_peer_contains(peer, 1, token));
        e2b_sandbox_list_close(&list);
    }
}

static void test_answers_that_are_no_list(void **state)
{
    api_peer *peer = *state;
    static const struct {
        int status;
        const char *body;
        e2b_err err;
    } rows[] = {
        {200, "", E2B_PROTOCOL}, {200, "{}", E2B_PROTOCOL}, {200, "null", E2B_PROTOCOL}, {200, "[1]", E2B_PROTOCOL},
        {200, "[null]", E2B_PROTOCOL}, {200, "[[]]", E2B_PROTOCOL}, {200, "[\"x\"]", E2B_PROTOCOL}, {200, "[{}]", E2B_PROTOCOL},
        {200, "[{\"sandboxID\":\"a b\"}]", E2B_PROTOCOL}, {200, "<html>", E2B_PROTOCOL}, {200, "[", E2B_PROTOCOL},
        {200, "[]]", E2B_PROTOCOL}, {200, "[],", E2B_PROTOCOL}, {400, "{\"code\":400,\"message\":\"Invalid next token\"}", E2B_BAD_REQUEST},
        {300, "[]", E2B_REDIRECT}, {401, "{\"code\":401,\"message\":\"no\"}", E2B_UNAUTHENTICATED}, {404, "", E2B_NOT_FOUND}, {500, "", E2B_GATEWAY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        e2b_sandbox_list list;
        e2b_sandbox_info info;
        api_peer_restart(peer, NULL);
        api_peer_answer(peer, rows[i].status, rows[i].body);
        open_list(peer, &list, (e2b_list_options){0});
        for (int again = 0; again < 2; again++) {
            e2b_err err = e2b_sandbox_list_next(&list, &info);
            if (err != rows[i].err) fail_msg("%s: %s", rows[i].body, e2b_err_name(err));
        }
        assert_int_equal(peer->request_count, 1);
        assert_true(peer->client.conns[0].use <= E2B_USE_KEPT);
    }
}

/* ---- Metadata ---------------------------------------------------------------------------- */

static void test_metadata_goes_to_the_arena(void **state)
{
    api_peer *peer = *state;
    uint8_t memory[64];
    e2b_arena arena;
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    e2b_str name, value;
    e2b_arena_init(&arena, memory, sizeof memory);
    memcpy(e2b_arena_take(&arena, 4, 1), "mine", 4);
    api_peer_answer(peer, 200, "[" ITEM("i1") ",{\"sandboxID\":\"i2\"}," ITEM("i3") "]");
    open_list(peer, &list, (e2b_list_options){.arena = &arena});
    for (int i = 1; i <= 3; i++) {
        size_t at = 0;
        api_peer_check(peer, e2b_sandbox_list_next(&list, &info), E2B_OK);
        assert_int_equal(arena.used, 4 + info.metadata.len);
        assert_int_equal(info.metadata.len, i == 2 ? 0 : strlen("{\"n\":\"i1\"}"));
        if (i == 2) continue;
        assert_true(e2b_json_pairs(info.metadata, &at, &name, &value));
        assert_int_equal(value.len, 2);
        assert_memory_equal(value.ptr, info.id, 2);
        assert_false(e2b_json_pairs(info.metadata, &at, &name, &value));
    }
    expect(peer, &list, "");
    assert_int_equal(arena.used, 4);
    assert_memory_equal(memory, "mine", 4);
}

/* Every arena size: what does not fit is told with the size that would do, and the list goes on. */
static void test_small_arenas(void **state)
{
    api_peer *peer = *state;
    static const char list_text[] = "[{\"sandboxID\":\"i1\",\"metadata\":{\"long\":\"0123456789\"}}," ITEM("i2") "]";
    const size_t first = strlen("{\"long\":\"0123456789\"}"), second = strlen("{\"n\":\"i2\"}");
    for (size_t size = 0; size <= first + 1; size++) {
        uint8_t *memory = malloc(size + 1);
        e2b_arena arena;
        e2b_sandbox_list list;
        e2b_sandbox_info info;
        api_peer_restart(peer, NULL);
        e2b_arena_init(&arena, memory, size);
        api_peer_answer(peer, 200, list_text);
        open_list(peer, &list, (e2b_list_options){.arena = &arena});
        e2b_err err = e2b_sandbox_list_next(&list, &info);
        api_peer_check(peer, err, size < first ? E2B_TOO_SMALL : E2B_OK);
        assert_string_equal(info.id, "i1");
        assert_int_equal(info.metadata.len, err ? 0 : first);
        if (err) assert_int_equal(peer->client.error.needed, first);
        err = e2b_sandbox_list_next(&list, &info);
        api_peer_check(peer, err, size < second ? E2B_TOO_SMALL : E2B_OK);
        assert_string_equal(info.id, "i2");
        if (err) assert_int_equal(peer->client.error.needed, second);
        expect(peer, &list, "");
        free(memory);
    }
}

/* ---- The connection ------------------------------------------------------------------------ */

static void test_moved_between_calls(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list *list = malloc(sizeof *list);
    e2b_sandbox_info info;
    static const char *const ids[] = {"i1", "i2", "i3", "i4", ""};
    peer->port.recv_max = 30;
    api_peer_answer_with(peer, 200, "X-Next-Token: t\r\n", "[" ITEM("i1") "," ITEM("i2") "]");
    api_peer_answer(peer, 200, "[" ITEM("i3") "," ITEM("i4") "]");
    open_list(peer, list, (e2b_list_options){0});
    for (size_t i = 0; i < 5; i++) {
        e2b_sandbox_list *moved = malloc(sizeof *moved);
        memcpy(moved, list, sizeof *moved);
        memset(list, 0xff, sizeof *list);
        free(list);
        list = moved;
        api_peer_check(peer, e2b_sandbox_list_next(list, &info), E2B_OK);
        assert_string_equal(info.id, ids[i]);
    }
    free(list);
}

static void test_closed_in_the_middle(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    memset(&list, 0, sizeof list);
    e2b_sandbox_list_close(&list);
    assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_CLOSED);
    memset(&list, 0, sizeof list);
    assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_CLOSED);
    api_peer_answer_with(peer, 200, "X-Next-Token: t\r\n", "[" ITEM("i1") "," ITEM("i2") "]");
    open_list(peer, &list, (e2b_list_options){0});
    expect(peer, &list, "i1");
    e2b_sandbox_list_close(&list);
    assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_CLOSED);
    /* Unread bytes belong to no other call. */
    assert_int_equal(peer->client.conns[0].use, E2B_USE_FREE);
    e2b_sandbox_list_close(&list);
    api_peer_answer(peer, 200, "[]");
    open_list(peer, &list, (e2b_list_options){0});
    expect(peer, &list, "");
    assert_int_equal(peer->port.opened, 2);
}

/* The only connection: held while a page is read, free between pages. */
static void test_one_connection(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list list, other;
    e2b_sandbox_info info;
    api_peer_check(peer, e2b_sandbox_refer(&peer->client, &peer->sandbox, "isandbox1"), E2B_OK);
    api_peer_answer(peer, 200, "[" ITEM("i1") "," ITEM("i2") "]");
    api_peer_answer(peer, 204, "");
    open_list(peer, &list, (e2b_list_options){0});
    open_list(peer, &other, (e2b_list_options){0});
    expect(peer, &list, "i1");
    assert_int_equal(e2b_sandbox_get_info(&peer->sandbox, &info, NULL), E2B_BUSY);
    assert_int_equal(e2b_sandbox_list_next(&other, &info), E2B_BUSY);
    assert_int_equal(peer->request_count, 1);
    /* A kill takes it; the list says what became of its connection. */
    api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_CLOSED);
    api_peer_check_words(&peer->client.error, E2B_CLOSED, "kill");
    e2b_sandbox_list_close(&list);
    /* Closed without a look at what became of it. */
    api_peer_answer(peer, 200, "[" ITEM("i1") "," ITEM("i2") "]");
    api_peer_answer(peer, 204, "");
    open_list(peer, &list, (e2b_list_options){0});
    expect(peer, &list, "i1");
    peer->sandbox.state = E2B_SANDBOX_LIVE;
    api_peer_check(peer, e2b_sandbox_kill(&peer->sandbox), E2B_OK);
    e2b_sandbox_list_close(&list);
}

static void test_lists_beside_each_other(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list lists[3];
    e2b_sandbox_info info;
    api_peer_restart(peer, &(e2b_client_options){.connections = 3});
    for (int i = 0; i < 3; i++) open_list(peer, &lists[i], (e2b_list_options){0});
    api_peer_answer(peer, 200, "[" ITEM("a1") "," ITEM("a2") "]");
    api_peer_answer(peer, 200, "[" ITEM("b1") "," ITEM("b2") "]");
    expect(peer, &lists[0], "a1");
    expect(peer, &lists[1], "b1");
    /* One connection of three is kept for calls. */
    assert_int_equal(e2b_sandbox_list_next(&lists[2], &info), E2B_BUSY);
    api_peer_check_words(&peer->client.error, E2B_BUSY, "list sandboxes: ");
    expect(peer, &lists[0], "a2");
    expect(peer, &lists[1], "b2");
    expect(peer, &lists[1], "");
    expect(peer, &lists[0], "");
}

static void test_cut_at_every_byte(void **state)
{
    api_peer *peer = *state;
    static const char body[] = "[" ITEM("i1") "," ITEM("i2") "]";
    size_t first = strlen("[" ITEM("i1")), second = first + strlen("," ITEM("i2"));
    for (size_t kept = 0; kept < sizeof body - 1; kept++) {
        char head[80];
        e2b_sandbox_list list;
        e2b_sandbox_info info;
        size_t items = 0;
        api_peer_restart(peer, NULL);
        e2b_memory_script *script = api_peer_begin(peer);
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", sizeof body - 1);
        e2b_memory_text(script, head);
        e2b_memory_data(script, body, kept);
        e2b_memory_end(script);
        api_peer_end(peer);
        open_list(peer, &list, (e2b_list_options){0});
        e2b_err err;
        while (!(err = e2b_sandbox_list_next(&list, &info)) && info.id[0]) items++;
        api_peer_check(peer, err, E2B_TRUNCATED);
        assert_int_equal(items, (kept >= first) + (kept >= second));
    }
}

static void test_page_is_asked_again_on_a_dead_kept_link(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list list;
    api_peer_answer_with(peer, 200, "X-Next-Token: t\r\n", "[" ITEM("i1") "]");
    api_peer_answer_reset(peer);
    api_peer_answer(peer, 200, "[" ITEM("i2") "]");
    open_list(peer, &list, (e2b_list_options){0});
    expect(peer, &list, "i1");
    expect(peer, &list, "i2");
    expect(peer, &list, "");
    api_peer_check_line(peer, 1, "GET /v2/sandboxes?nextToken=t");
    api_peer_check_line(peer, 2, "GET /v2/sandboxes?nextToken=t");
}

/* ---- Any number ------------------------------------------------------------------------------ */

static void test_a_hundred_thousand(void **state)
{
    api_peer *peer = *state;
    static const char item[] = ITEM("isandbox1") ",";
    uint8_t memory[64];
    e2b_arena arena;
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    uint32_t total = 100000, seen = 0;
    char head[80];
    e2b_arena_init(&arena, memory, sizeof memory);
    e2b_memory_script *script = api_peer_begin(peer);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n[", (sizeof item - 1) * total + 1);
    e2b_memory_text(script, head);
    e2b_memory_repeat(script, total - 1);
    e2b_memory_text(script, item);
    e2b_memory_repeat_end(script);
    e2b_memory_data(script, item, sizeof item - 2);
    e2b_memory_text(script, "]");
    api_peer_end(peer);
    open_list(peer, &list, (e2b_list_options){.arena = &arena});
    for (;;) {
        api_peer_check(peer, e2b_sandbox_list_next(&list, &info), E2B_OK);
        if (!info.id[0]) break;
        seen++;
        if (info.metadata.len != strlen("{\"n\":\"isandbox1\"}")) fail_msg("item %u", (unsigned)seen);
    }
    assert_int_equal(seen, total);
    assert_int_equal(arena.used, 0);
}

static int serve_page(void *context, const e2b_memory_request_seen *request, e2b_memory_script *reply)
{
    uint32_t *pages = context;
    static const char item[] = ITEM("isandbox1") ",";
    char head[120];
    (void)request;
    bool last = ++*pages == 1000;
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\n%s%u\r\nContent-Length: %zu\r\n\r\n[", last ? "X-Other: " : "X-Next-Token: ",
             (unsigned)*pages, (sizeof item - 1) * 100 + 1);
    e2b_memory_text(reply, head);
    e2b_memory_repeat(reply, 99);
    e2b_memory_text(reply, item);
    e2b_memory_repeat_end(reply);
    e2b_memory_data(reply, item, sizeof item - 2);
    e2b_memory_text(reply, "]");
    /* A fresh link now and then, so that what is kept of the requests stays small. */
    if (*pages % 100 == 0) e2b_memory_end(reply);
    return 0;
}

static void test_a_thousand_pages(void **state)
{
    api_peer *peer = *state;
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    uint32_t pages = 0, seen = 0;
    peer->port.respond = serve_page;
    peer->port.respond_context = &pages;
    open_list(peer, &list, (e2b_list_options){0});
    for (;;) {
        api_peer_check(peer, e2b_sandbox_list_next(&list, &info), E2B_OK);
        if (!info.id[0]) break;
        seen++;
    }
    assert_int_equal(seen, 100000);
    assert_int_equal(pages, 1000);
}

/* ---- Faults ------------------------------------------------------------------------------------ */

static void test_every_port_call_fails(void **state)
{
    api_peer *peer = *state;
    static const int32_t outcomes[] = {E2B_IO_FAILED, E2B_IO_RESET, E2B_IO_END, E2B_IO_CONNECT};
    for (size_t o = 0; o < 4; o++)
        for (uint64_t nth = 1;; nth++) {
            e2b_sandbox_list list;
            e2b_sandbox_info info;
            size_t items = 0;
            e2b_err err;
            api_peer_restart(peer, NULL);
            peer->port.recv_max = 40;
            peer->port.fail_call = nth;
            peer->port.fail_outcome = outcomes[o];
            api_peer_answer_with(peer, 200, "", "[" ITEM("i1") "," ITEM("i2") "]");
            api_peer_always(peer);
            open_list(peer, &list, (e2b_list_options){0});
            while (!(err = e2b_sandbox_list_next(&list, &info)) && info.id[0]) items++;
            assert_true(items <= 2);
            if (err) assert_int_equal(e2b_sandbox_list_next(&list, &info), err);
            else assert_int_equal(items, 2);
            e2b_sandbox_list_close(&list);
            assert_true(peer->client.conns[0].use <= E2B_USE_KEPT);
            if (peer->port.calls < nth) break;
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, api_peer_setup, api_peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_queries),
        TEST(test_refused_options),
        TEST(test_pages),
        TEST(test_a_circle),
        TEST(test_pages_without_end),
        TEST(test_tokens_of_many_lengths),
        TEST(test_answers_that_are_no_list),
        TEST(test_metadata_goes_to_the_arena),
        TEST(test_small_arenas),
        TEST(test_moved_between_calls),
        TEST(test_closed_in_the_middle),
        TEST(test_one_connection),
        TEST(test_lists_beside_each_other),
        TEST(test_cut_at_every_byte),
        TEST(test_page_is_asked_again_on_a_dead_kept_link),
        TEST(test_a_hundred_thousand),
        TEST(test_a_thousand_pages),
        TEST(test_every_port_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
