#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wired.h"

static wired w;

#define STREAM_HEAD "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* ---- Who gets a slot ------------------------------------------------------------------ */

static void streams_leave_one(void **state)
{
    (void)state;
    for (uint16_t slots = 1; slots <= 3; slots++) {
        wired_setup(&w);
        wired_ready(&w, slots, 0);
        uint16_t allowed = slots > 1 ? (uint16_t)(slots - 1) : 1;
        e2b_conn *conn;
        for (uint16_t i = 0; i < allowed; i++) assert_int_equal(wired_acquire(&w, 2u + i, E2B_USE_STREAM, 0, &conn), E2B_OK);
        uint64_t calls = w.port.calls;
        assert_int_equal(wired_acquire(&w, 9, E2B_USE_STREAM, 0, &conn), E2B_BUSY);
        assert_int_equal(wired_acquire(&w, 9, E2B_USE_STREAM, E2B_SLOT_TAKE_INPUT, &conn), E2B_BUSY);
        assert_int_equal(w.port.calls, calls);
        assert_int_equal(wired_acquire(&w, 9, E2B_USE_CALL, 0, &conn), slots > 1 ? E2B_OK : E2B_BUSY);
        /* A stream that has been given back frees its place. */
        e2b_conn_close(&w.client, &w.client.conns[0], false);
        assert_int_equal(wired_acquire(&w, 9, E2B_USE_STREAM, 0, &conn), E2B_OK);
        wired_done(&w);
    }
}

static void calls_take_what_is_free(void **state)
{
    (void)state;
    wired_setup(&w);
    wired_ready(&w, 2, 0);
    e2b_conn *first, *second, *third;
    assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, 0, &first), E2B_OK);
    assert_int_equal(wired_acquire(&w, 0, E2B_USE_INPUT, 0, &second), E2B_OK);
    assert_ptr_not_equal(first, second);
    uint64_t calls = w.port.calls;
    assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, 0, &third), E2B_BUSY);
    assert_int_equal(wired_acquire(&w, 0, E2B_USE_INPUT, 0, &third), E2B_BUSY);
    assert_int_equal(w.port.calls, calls);
    wired_done(&w);
}

static void taking_from_input_and_look(void **state)
{
    (void)state;
    wired_setup(&w);
    wired_ready(&w, 3, 0);
    e2b_conn *stream, *input, *look, *taken;
    wired_acquire(&w, 2, E2B_USE_STREAM, 0, &stream);
    wired_acquire(&w, 2, E2B_USE_LOOK, 0, &look);
    wired_acquire(&w, 2, E2B_USE_INPUT, 0, &input);
    uint16_t slot = e2b_slot_number(&w.client, input);
    uint32_t generation = input->generation;
    assert_ptr_equal(e2b_slot_held(&w.client, slot, generation), input);
    assert_int_equal(wired_acquire(&w, 2, E2B_USE_CALL, 0, &taken), E2B_BUSY);
    assert_int_equal(wired_acquire(&w, 2, E2B_USE_CALL, E2B_SLOT_TAKE_INPUT, &taken), E2B_OK);
    assert_ptr_equal(taken, input);
    assert_null(e2b_slot_held(&w.client, slot, generation));
    /* Then the look's; a look does not take another look's, nor anyone a stream's. */
    assert_int_equal(wired_acquire(&w, 2, E2B_USE_LOOK, E2B_SLOT_TAKE_INPUT, &taken), E2B_BUSY);
    assert_int_equal(wired_acquire(&w, 2, E2B_USE_CALL, E2B_SLOT_TAKE_INPUT, &taken), E2B_OK);
    assert_ptr_equal(taken, look);
    assert_int_equal(wired_acquire(&w, 2, E2B_USE_CALL, E2B_SLOT_TAKE_INPUT, &taken), E2B_BUSY);
    wired_done(&w);
}

static void taking_from_streams(void **state)
{
    (void)state;
    const uint32_t kill = E2B_SLOT_TAKE_INPUT | E2B_SLOT_TAKE_STREAM;
    wired_setup(&w);
    wired_ready(&w, 4, 0);
    e2b_conn *five, *six, *seven, *input, *taken;
    wired_acquire(&w, 5, E2B_USE_STREAM, 0, &five);
    wired_acquire(&w, 6, E2B_USE_STREAM, 0, &six);
    wired_acquire(&w, 7, E2B_USE_STREAM, 0, &seven);
    wired_acquire(&w, 7, E2B_USE_INPUT, 0, &input);
    e2b_route api = wired_route(0);
    assert_int_equal(e2b_slot_acquire(&w.client, &api, 6, E2B_USE_CALL, kill, NULL, &taken), E2B_OK);
    assert_ptr_equal(taken, input);
    uint32_t generation = six->generation;
    assert_int_equal(e2b_slot_acquire(&w.client, &api, 6, E2B_USE_CALL, kill, NULL, &taken), E2B_OK);
    assert_ptr_equal(taken, six); /* its own sandbox's first */
    assert_null(e2b_slot_held(&w.client, e2b_slot_number(&w.client, six), generation));
    assert_int_equal(e2b_slot_acquire(&w.client, &api, 6, E2B_USE_CALL, kill, NULL, &taken), E2B_OK);
    assert_true(taken == five || taken == seven);
    wired_done(&w);

    wired_setup(&w);
    wired_ready(&w, 1, 0);
    wired_acquire(&w, 5, E2B_USE_STREAM, 0, &five);
    assert_int_equal(e2b_slot_acquire(&w.client, &api, 6, E2B_USE_CALL, kill, NULL, &taken), E2B_OK);
    assert_ptr_equal(taken, five);
    wired_done(&w);
}

static void handles_become_stale(void **state)
{
    (void)state;
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    wired_reply(&w, WIRED_OK);
    wired_ready(&w, 2, 0);
    e2b_conn *conn;
    wired_acquire(&w, 0, E2B_USE_CALL, 0, &conn);
    uint16_t slot = e2b_slot_number(&w.client, conn);
    uint32_t generation = conn->generation;
    assert_ptr_equal(e2b_slot_held(&w.client, slot, generation), conn);
    assert_null(e2b_slot_held(&w.client, 2, generation));
    assert_null(e2b_slot_held(&w.client, 0xffff, generation));
    assert_null(e2b_slot_held(&w.client, slot, generation + 1));
    wired_exchange(&w, conn);
    uint8_t *piece;
    size_t length;
    assert_int_equal(e2b_conn_body(&w.client, conn, &piece, &length), E2B_OK);
    e2b_conn_take(conn, length);
    e2b_slot_release(&w.client, conn, false);
    assert_int_equal(conn->use, E2B_USE_KEPT);
    assert_null(e2b_slot_held(&w.client, slot, generation));
    assert_null(e2b_slot_held(&w.client, slot, conn->generation));
    wired_done(&w);
}

/* ---- Links that are kept ---------------------------------------------------------------- */

/* Two GETs, time between them; how many links were opened. */
static uint32_t links_after(uint32_t ms, bool repeatable, const e2b_limits *limits)
{
    wired_setup(&w);
    for (int i = 0; i < 2; i++) {
        e2b_memory_accept(&w.script);
        wired_reply(&w, WIRED_OK);
        wired_reply(&w, WIRED_OK);
    }
    wired_ready(&w, 2, 0);
    if (limits) w.client.limits = *limits;
    assert_int_equal(wired_get(&w, repeatable), E2B_OK);
    w.port.now_ms += ms;
    assert_int_equal(wired_get(&w, repeatable), E2B_OK);
    uint32_t opened = w.port.opened;
    wired_done(&w);
    return opened;
}

static void how_long_links_are_kept(void **state)
{
    (void)state;
    e2b_limits limits = {.kept_ms = 100, .fresh_ms = 10}, for_ever = {.kept_ms = E2B_NO_LIMIT, .fresh_ms = E2B_NO_LIMIT};
    assert_int_equal(links_after(0, true, NULL), 1);
    assert_int_equal(links_after(30000, true, NULL), 1);
    assert_int_equal(links_after(30001, true, NULL), 2);
    assert_int_equal(links_after(5000, false, NULL), 1);
    assert_int_equal(links_after(5001, false, NULL), 2);
    assert_int_equal(links_after(100, true, &limits), 1);
    assert_int_equal(links_after(101, true, &limits), 2);
    assert_int_equal(links_after(10, false, &limits), 1);
    assert_int_equal(links_after(11, false, &limits), 2);
    assert_int_equal(links_after(4000000000u, true, &for_ever), 1);
}

static void only_to_the_same_place(void **state)
{
    (void)state;
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    wired_reply(&w, WIRED_OK);
    wired_ready(&w, 3, 0);
    assert_int_equal(wired_get(&w, true), E2B_OK);
    e2b_conn *kept = &w.client.conns[0], *conn;
    assert_int_equal(kept->use, E2B_USE_KEPT);
    assert_int_equal(wired_acquire(&w, 5, E2B_USE_CALL, 0, &conn), E2B_OK);
    assert_ptr_not_equal(conn, kept);
    assert_false(conn->reused);
    assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, E2B_SLOT_NEW, &conn), E2B_OK);
    assert_false(conn->reused);
    assert_int_equal(w.port.opened, 3);
    wired_done(&w);
    /* A kept link makes place for another destination when no slot is free. */
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    wired_reply(&w, WIRED_OK);
    wired_ready(&w, 1, 0);
    assert_int_equal(wired_get(&w, true), E2B_OK);
    assert_int_equal(wired_acquire(&w, 5, E2B_USE_STREAM, 0, &conn), E2B_OK);
    assert_int_equal(w.port.opened, 2);
    assert_int_equal(w.port.closes, 1);
    wired_done(&w);
}

static void kept_links_that_speak(void **state)
{
    (void)state;
    for (int how = 0; how < 5; how++) {
        wired_setup(&w);
        e2b_memory_accept(&w.script);
        wired_reply(&w, WIRED_OK);
        e2b_memory_advance(&w.script, 10);
        if (how == 0) e2b_memory_end(&w.script);
        if (how == 1) e2b_memory_reset(&w.script);
        if (how == 2) e2b_memory_end_unclean(&w.script);
        if (how == 3) e2b_memory_text(&w.script, "HTTP/1.1 408 Request Timeout\r\n\r\n");
        if (how == 4) e2b_memory_text(&w.script, "x");
        e2b_memory_accept(&w.script);
        wired_reply(&w, WIRED_OK);
        wired_ready(&w, 1, 0);
        assert_int_equal(wired_get(&w, false), E2B_OK);
        w.port.now_ms += 11;
        assert_int_equal(wired_get(&w, false), E2B_OK);
        assert_int_equal(w.port.opened, 2);
        assert_int_equal(w.connections[0].requests, 1);
        wired_done(&w);
    }
}

/* What a link may be kept after: the use of its slot once the call is over. */
static void what_makes_a_link_worth_keeping(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        bool kept;
    } rows[] = {
        {WIRED_OK, true},
        {"HTTP/1.1 204 No Content\r\n\r\n", true},
        {"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", true},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", true},
        {STREAM_HEAD "2\r\n{}\r\n0\r\n\r\n", true},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", false},
        {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", false},
        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}", true},
        {WIRED_OK WIRED_OK, false},
        {WIRED_OK "\r\n", false},
        {"HTTP/1.1 204 No Content\r\n\r\nx", false},
        {STREAM_HEAD "2\r\n{}\r\n0\r\n\r\nx", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t most = 0; most < 3; most++) {
            wired_setup(&w);
            e2b_memory_accept(&w.script);
            wired_reply(&w, rows[i].answer);
            wired_ready(&w, 1, 0);
            w.port.recv_max = most;
            wired_get(&w, true);
            bool kept = w.client.conns[0].use == E2B_USE_KEPT;
            /* Bytes still with the port are seen when the link is looked at. */
            if (kept && !rows[i].kept) {
                e2b_conn *conn;
                assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, 0, &conn), E2B_OK);
                kept = conn->reused;
            }
            if (kept != rows[i].kept) fail_msg("row %zu, %zu at once", i, most);
            wired_done(&w);
        }
    }
}

static void an_unfinished_answer_is_not_kept(void **state)
{
    (void)state;
    for (int drain = 0; drain < 2; drain++) {
        wired_setup(&w);
        e2b_memory_accept(&w.script);
        wired_reply(&w, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        wired_ready(&w, 1, 0);
        e2b_conn *conn;
        wired_acquire(&w, 0, E2B_USE_STREAM, 0, &conn);
        wired_exchange(&w, conn);
        e2b_slot_release(&w.client, conn, drain == 1);
        assert_int_equal(conn->use, E2B_USE_FREE);
        /* Nor one whose request is not gone. */
        wired_acquire(&w, 0, E2B_USE_STREAM, 0, &conn);
        e2b_slot_release(&w.client, conn, drain == 1);
        assert_int_equal(conn->use, E2B_USE_FREE);
        wired_done(&w);
    }
}

/* ---- The last chunk of a stream ------------------------------------------------------------ */

/* A stream whose last chunk comes `ms` after its last message, then a call. */
static uint32_t drained_after(uint32_t ms, const char *last, uint32_t flags, uint32_t drain_ms, uint64_t *took)
{
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    wired_reply(&w, STREAM_HEAD "5\r\nhello\r\n");
    e2b_memory_advance(&w.script, ms);
    e2b_memory_text(&w.script, last);
    wired_reply(&w, WIRED_OK);
    e2b_memory_accept(&w.script);
    wired_reply(&w, WIRED_OK);
    wired_ready(&w, 1, 0);
    w.client.limits.drain_ms = drain_ms;
    e2b_conn *conn;
    uint8_t *piece;
    size_t length;
    wired_acquire(&w, 0, E2B_USE_STREAM, 0, &conn);
    wired_exchange(&w, conn);
    assert_int_equal(e2b_conn_body(&w.client, conn, &piece, &length), E2B_OK);
    assert_int_equal(length, 5);
    e2b_conn_take(conn, length);
    e2b_slot_release(&w.client, conn, true);
    assert_int_equal(conn->use, E2B_USE_DRAIN);
    uint64_t before = w.port.now_ms;
    assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, flags, &conn), E2B_OK);
    *took = w.port.now_ms - before;
    wired_exchange(&w, conn);
    assert_int_equal(conn->http.status, 200);
    uint32_t opened = w.port.opened;
    wired_done(&w);
    return opened;
}

static void the_last_chunk_is_waited_for(void **state)
{
    (void)state;
    uint64_t took;
    assert_int_equal(drained_after(1, "0\r\n\r\n", 0, 0, &took), 1);
    assert_int_equal(took, 1);
    assert_int_equal(drained_after(49, "0\r\n\r\n", 0, 0, &took), 1);
    assert_int_equal(drained_after(50, "0\r\n\r\n", 0, 0, &took), 1);
    assert_int_equal(took, 50);
    assert_int_equal(drained_after(51, "0\r\n\r\n", 0, 0, &took), 2);
    assert_int_equal(took, 50);
    assert_int_equal(drained_after(8, "0\r\n\r\n", 0, 7, &took), 2);
    assert_int_equal(took, 7);
    assert_int_equal(drained_after(1, "0\r\n\r\n", E2B_SLOT_NO_WAIT, 0, &took), 2);
    assert_int_equal(took, 0);
    /* What comes is not the end, or more than the end. */
    assert_int_equal(drained_after(1, "1\r\nx\r\n0\r\n\r\n", 0, 0, &took), 2);
    assert_int_equal(drained_after(1, "0\r\n\r\nx", 0, 0, &took), 2);
    assert_int_equal(drained_after(1, "rubbish\r\n", 0, 0, &took), 2);
}

/* ---- Links that can't be opened --------------------------------------------------------------- */

static void opening_fails(void **state)
{
    (void)state;
    static const struct {
        int32_t outcome;
        e2b_err err;
    } rows[] = {
        {E2B_IO_RESOLVE, E2B_RESOLVE}, {E2B_IO_CONNECT, E2B_CONNECT}, {E2B_IO_UNSUPPORTED, E2B_UNSUPPORTED}, {E2B_IO_TLS, E2B_TLS},
        {E2B_IO_FAILED, E2B_CONNECT}, {E2B_IO_RESET, E2B_CONNECT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wired_setup(&w);
        wired_ready(&w, 1, 0);
        w.port.fail_call = 1;
        w.port.fail_outcome = rows[i].outcome;
        e2b_conn *conn;
        assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, 0, &conn), rows[i].err);
        assert_int_equal(w.client.conns[0].use, E2B_USE_FREE);
        assert_int_equal(w.port.closes, 0);
        assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, 0, &conn), E2B_OK);
        e2b_client_close(&w.client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_leave_one), cmocka_unit_test(calls_take_what_is_free), cmocka_unit_test(taking_from_input_and_look),
        cmocka_unit_test(taking_from_streams), cmocka_unit_test(handles_become_stale), cmocka_unit_test(how_long_links_are_kept),
        cmocka_unit_test(only_to_the_same_place), cmocka_unit_test(kept_links_that_speak),
        cmocka_unit_test(what_makes_a_link_worth_keeping), cmocka_unit_test(an_unfinished_answer_is_not_kept),
        cmocka_unit_test(the_last_chunk_is_waited_for), cmocka_unit_test(opening_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
