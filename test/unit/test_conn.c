#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "check_str.h"
#include "wired.h"

static wired w;

/* ---- Sending ------------------------------------------------------------------------------ */

static void write_long_body(e2b_text *text, const void *subject)
{
    for (int i = 0; i < 500; i++) e2b_text_string(text, subject);
}

/* The same bytes whatever the port takes at once, and however often it takes none. */
static void requests_go_out_whole(void **state)
{
    (void)state;
    static char whole[4096];
    size_t whole_len = 0;
    for (size_t most = 0; most < 90; most = most < 10 ? most + 1 : most * 3) {
        for (int block = 0; block < 2; block++) {
            wired_setup(&w);
            e2b_memory_accept(&w.script);
            if (block) e2b_memory_would_block(&w.script);
            wired_reply(&w, WIRED_OK);
            wired_ready(&w, 1, 1024);
            w.port.send_max = most;
            e2b_call call = wired_call(&w, false);
            call.request.method = "POST";
            call.request.content_type = "application/json";
            call.request.body = write_long_body;
            call.request.subject = "body 7";
            assert_int_equal(e2b_call_simple(&call), E2B_OK);
            assert_true(call.sent);
            size_t len = (size_t)w.connections[0].sent_length;
            assert_true(len > 3000 && len < sizeof whole);
            if (!whole_len) memcpy(whole, w.sent[0], whole_len = len);
            check_str((e2b_str){w.sent[0], len}, (e2b_str){whole, whole_len});
            assert_int_equal(w.connections[0].requests, 1);
            wired_done(&w);
        }
    }
}

/* ---- Where it breaks ------------------------------------------------------------------------ */

typedef struct breakage {
    const char *what;
    void (*script)(e2b_memory_script *);
    e2b_err err;
    uint64_t after_ms;
} breakage;

static void refused(e2b_memory_script *s) { e2b_memory_refuse(s); }
static void hangs(e2b_memory_script *s) { e2b_memory_hang(s); }
static void takes_ten(e2b_memory_script *s)
{
    e2b_memory_accept(s);
    e2b_memory_take(s, 10);
}
static void takes_ten_and_resets(e2b_memory_script *s)
{
    takes_ten(s);
    e2b_memory_reset(s);
}
static void resets_at_once(e2b_memory_script *s)
{
    e2b_memory_accept(s);
    e2b_memory_reset(s);
}
static void after_request(e2b_memory_script *s, const char *text)
{
    e2b_memory_accept(s);
    e2b_memory_request(s);
    e2b_memory_text(s, text);
}
static void silent(e2b_memory_script *s) { after_request(s, ""); }
static void ends(e2b_memory_script *s)
{
    after_request(s, "");
    e2b_memory_end(s);
}
static void ends_unclean(e2b_memory_script *s)
{
    after_request(s, "");
    e2b_memory_end_unclean(s);
}
static void resets(e2b_memory_script *s)
{
    after_request(s, "");
    e2b_memory_reset(s);
}
static void one_byte_then_silent(e2b_memory_script *s) { after_request(s, "H"); }
static void one_byte_then_ends(e2b_memory_script *s)
{
    after_request(s, "H");
    e2b_memory_end(s);
}
static void informational_then_ends(e2b_memory_script *s)
{
    after_request(s, "HTTP/1.1 100 Continue\r\n\r\n");
    e2b_memory_end(s);
}
static void half_a_body_then_ends(e2b_memory_script *s)
{
    after_request(s, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
    e2b_memory_end(s);
}
static void half_a_body_then_unclean(e2b_memory_script *s)
{
    after_request(s, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
    e2b_memory_end_unclean(s);
}
static void half_a_body_then_silent(e2b_memory_script *s) { after_request(s, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"); }
static void half_a_chunk_then_ends(e2b_memory_script *s)
{
    after_request(s, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n");
    e2b_memory_end(s);
}
static void open_body(e2b_memory_script *s) { after_request(s, "HTTP/1.1 200 OK\r\n\r\nhe"); }
static void open_body_ends(e2b_memory_script *s)
{
    open_body(s);
    e2b_memory_end(s);
}
static void open_body_unclean(e2b_memory_script *s)
{
    open_body(s);
    e2b_memory_end_unclean(s);
}
static void open_body_resets(e2b_memory_script *s)
{
    open_body(s);
    e2b_memory_reset(s);
}
static void whole_then_resets(e2b_memory_script *s)
{
    after_request(s, WIRED_OK);
    e2b_memory_reset(s);
}
/* A byte a second for ever. */
static void drips(e2b_memory_script *s)
{
    after_request(s, "HTTP/1.1 200 OK\r\nA: ");
    e2b_memory_repeat(s, 1000000);
    e2b_memory_advance(s, 1000);
    e2b_memory_text(s, "x");
    e2b_memory_repeat_end(s);
}

static const breakage breakages[] = {
    {"refused", refused, E2B_CONNECT, 0},
    {"hangs", hangs, E2B_CONNECT_TIMEOUT, 10000},
    {"reset at once", resets_at_once, E2B_CONNECT, 0},
    {"takes ten bytes", takes_ten, E2B_SEND_TIMEOUT, 60000},
    {"takes ten bytes and resets", takes_ten_and_resets, E2B_SEND, 0},
    {"silent", silent, E2B_REPLY_TIMEOUT, 60000},
    {"ends", ends, E2B_NO_REPLY, 0},
    {"ends without a goodbye", ends_unclean, E2B_NO_REPLY, 0},
    {"resets", resets, E2B_NO_REPLY, 0},
    {"one byte, silent", one_byte_then_silent, E2B_REPLY_TIMEOUT, 60000},
    {"one byte, ends", one_byte_then_ends, E2B_TRUNCATED, 0},
    {"1xx, ends", informational_then_ends, E2B_TRUNCATED, 0},
    {"half a body, ends", half_a_body_then_ends, E2B_TRUNCATED, 0},
    {"half a body, no goodbye", half_a_body_then_unclean, E2B_TRUNCATED, 0},
    {"half a body, silent", half_a_body_then_silent, E2B_REPLY_TIMEOUT, 60000},
    {"half a chunk, ends", half_a_chunk_then_ends, E2B_TRUNCATED, 0},
    {"body until the end, silent", open_body, E2B_REPLY_TIMEOUT, 60000},
    {"body until the end, ends", open_body_ends, E2B_OK, 0},
    {"body until the end, no goodbye", open_body_unclean, E2B_TRUNCATED, 0},
    {"body until the end, resets", open_body_resets, E2B_TRUNCATED, 0},
    {"whole, resets", whole_then_resets, E2B_OK, 0},
    {"drips", drips, E2B_REPLY_TIMEOUT, 60000},
};

static void every_place_has_its_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof breakages / sizeof *breakages; i++) {
        const breakage *b = &breakages[i];
        wired_setup(&w);
        b->script(&w.script);
        wired_ready(&w, 1, 0);
        e2b_err err = wired_get(&w, false);
        if (err != b->err) fail_msg("%s: %s", b->what, e2b_err_name(err));
        assert_int_equal(w.port.now_ms, b->after_ms);
        assert_int_equal(w.port.opened, 1);
        assert_true(w.port.waits <= (b->script == drips ? 61 : 3));
        if (err) assert_int_equal(w.client.conns[0].use, E2B_USE_FREE);
        wired_done(&w);
    }
}

static void limits_of_the_client(void **state)
{
    (void)state;
    wired_setup(&w);
    e2b_memory_hang(&w.script);
    e2b_memory_hang(&w.script);
    wired_ready(&w, 1, 0);
    w.client.limits.connect_ms = 123;
    assert_int_equal(wired_get(&w, false), E2B_CONNECT_TIMEOUT);
    assert_int_equal(w.port.now_ms, 123);
    /* Without one of its own connecting may last as long as the call. */
    w.client.limits.connect_ms = E2B_NO_LIMIT;
    assert_int_equal(wired_get(&w, false), E2B_CONNECT_TIMEOUT);
    assert_int_equal(w.port.now_ms, 123 + 60000);
    wired_done(&w);
}

static void limits_as_numbers(void **state)
{
    (void)state;
    wired_setup(&w);
    wired_ready(&w, 1, 0);
    w.port.now_ms = 1000;
    assert_int_equal(e2b_limit(0, 7), 7);
    assert_int_equal(e2b_limit(5, 7), 5);
    assert_int_equal(e2b_limit(E2B_NO_LIMIT, 7), E2B_NO_LIMIT);
    assert_true(e2b_deadline(&w.client, 0, 7) == 1007);
    assert_true(e2b_deadline(&w.client, 5, 7) == 1005);
    assert_true(e2b_deadline(&w.client, E2B_NO_LIMIT, 7) == E2B_NO_DEADLINE);
    /* Clocks that start high, and beyond 32 bits. */
    w.port.now_ms = UINT64_C(0xfffffff0);
    assert_true(e2b_deadline(&w.client, 5000, 7) == UINT64_C(0xfffffff0) + 5000);
    wired_done(&w);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static e2b_conn *begin(uint16_t slots, size_t buffer)
{
    e2b_conn *conn;
    wired_ready(&w, slots, buffer);
    assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, 0, &conn), E2B_OK);
    wired_exchange(&w, conn);
    return conn;
}

/* A body through a small buffer, used up in bits; each piece has room before it. */
static void bodies_in_pieces(void **state)
{
    (void)state;
    static char text[6000], found[6000];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i % 23);
    for (size_t most = 1; most < 3000; most = most * 3 + 1) {
        for (size_t bit = 1; bit < 2000; bit = bit * 5) {
            wired_setup(&w);
            e2b_memory_accept(&w.script);
            wired_reply(&w, "HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n");
            e2b_memory_data(&w.script, text, sizeof text);
            wired_ready(&w, 1, 1024);
            w.port.recv_max = most;
            e2b_conn *conn;
            wired_acquire(&w, 0, E2B_USE_CALL, 0, &conn);
            wired_exchange(&w, conn);
            size_t total = 0;
            for (;;) {
                uint8_t *piece, *again;
                size_t length, same;
                e2b_err err = e2b_conn_body(&w.client, conn, &piece, &length);
                if (err == E2B_PENDING) {
                    assert_int_equal(e2b_conn_await(&w.client, conn, E2B_NO_DEADLINE), E2B_OK);
                    continue;
                }
                assert_int_equal(err, E2B_OK);
                if (!length) break;
                assert_true(piece >= conn->buffer + 3 && piece + length <= conn->buffer + w.client.buffer_size);
                assert_int_equal(e2b_conn_body(&w.client, conn, &again, &same), E2B_OK);
                assert_ptr_equal(again, piece);
                assert_int_equal(same, length);
                size_t part = bit < length ? bit : length;
                memcpy(found + total, piece, part);
                memset(piece - 3, 0xee, part + 3); /* as a decoder in place may */
                e2b_conn_take(conn, part);
                total += part;
            }
            assert_int_equal(total, sizeof text);
            assert_memory_equal(found, text, sizeof text);
            wired_done(&w);
        }
    }
}

static void collecting(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 7, 8, 9, 511, 512, 513, 1024, 5000, E2B_CONN_DRAIN - 1, E2B_CONN_DRAIN, E2B_CONN_DRAIN + 1,
                                   200000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t most = 1; most < 2000; most = most * 40) {
            size_t size = sizes[i];
            char head[100];
            wired_setup(&w);
            e2b_memory_accept(&w.script);
            snprintf(head, sizeof head, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: %zu\r\n\r\n", size);
            wired_reply(&w, head);
            if (size >= 10) {
                e2b_memory_repeat(&w.script, (uint32_t)(size / 10));
                e2b_memory_text(&w.script, "0123456789");
                e2b_memory_repeat_end(&w.script);
            }
            if (size % 10) e2b_memory_data(&w.script, "0123456789", (uint32_t)(size % 10));
            wired_ready(&w, 1, 1024);
            w.port.recv_max = most;
            e2b_conn *conn;
            wired_acquire(&w, 0, E2B_USE_CALL, 0, &conn);
            wired_exchange(&w, conn);
            e2b_str body;
            e2b_err err;
            while ((err = e2b_conn_collect(&w.client, conn, &body)) == E2B_PENDING)
                assert_int_equal(e2b_conn_await(&w.client, conn, E2B_NO_DEADLINE), E2B_OK);
            assert_int_equal(err, E2B_OK);
            assert_int_equal(body.len, size < E2B_CONN_COLLECT ? size : E2B_CONN_COLLECT);
            for (size_t at = 0; at < body.len; at++) assert_int_equal(body.ptr[at], '0' + at % 10);
            assert_true(conn->drained <= E2B_CONN_DRAIN + 1024);
            e2b_slot_release(&w.client, conn, false);
            assert_int_equal(conn->use, size <= E2B_CONN_DRAIN ? E2B_USE_KEPT : E2B_USE_FREE);
            wired_done(&w);
        }
    }
}

/* A receive that found less than it had room for is not asked again without a wait. */
static void no_needless_calls(void **state)
{
    (void)state;
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    wired_reply(&w, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    e2b_memory_would_block(&w.script);
    e2b_memory_text(&w.script, "world");
    e2b_conn *conn = begin(1, 0);
    uint8_t *piece;
    size_t length;
    assert_int_equal(e2b_conn_body(&w.client, conn, &piece, &length), E2B_OK);
    e2b_conn_take(conn, length);
    uint64_t calls = w.port.calls;
    assert_int_equal(e2b_conn_body(&w.client, conn, &piece, &length), E2B_PENDING);
    assert_int_equal(w.port.calls, calls);
    assert_int_equal(e2b_conn_await(&w.client, conn, E2B_NO_DEADLINE), E2B_OK);
    assert_int_equal(e2b_conn_body(&w.client, conn, &piece, &length), E2B_OK);
    check_str((e2b_str){(char *)piece, length}, str_of("world"));
    e2b_conn_take(conn, length);
    /* The end is known: the port is not asked. */
    calls = w.port.calls;
    assert_int_equal(e2b_conn_body(&w.client, conn, &piece, &length), E2B_OK);
    assert_int_equal(length, 0);
    assert_int_equal(w.port.calls, calls);
    wired_done(&w);
}

/* ---- Waiting ---------------------------------------------------------------------------------- */

static void the_cancel_flag(void **state)
{
    (void)state;
    volatile int flag = 0;
    wired_setup(&w);
    for (int i = 0; i < 3; i++) {
        e2b_memory_accept(&w.script);
        e2b_memory_request(&w.script);
    }
    wired_ready(&w, 1, 0);
    w.client.cancel = &flag;
    w.port.cancel = &flag;
    w.port.cancel_wait = 1;
    assert_int_equal(wired_get(&w, false), E2B_CANCELLED);
    assert_int_equal(flag, 1);
    uint64_t waits = w.port.waits;
    assert_int_equal(wired_get(&w, false), E2B_CANCELLED);
    assert_int_equal(w.port.waits, waits);
    /* Cleaning up goes on. */
    w.client.cleaning = 1;
    assert_int_equal(wired_get(&w, false), E2B_REPLY_TIMEOUT);
    w.client.cleaning = 0;
    flag = 0;
    bool woken = true;
    assert_int_equal(e2b_wait_ready(&w.client, 0, w.port.now_ms + 5, &woken), E2B_OK);
    assert_false(woken);
    wired_done(&w);
}

/* A port that can't be woken is not left alone for long, so that the flag is seen. */
static void waits_are_cut(void **state)
{
    (void)state;
    volatile int flag = 0;
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    e2b_memory_request(&w.script);
    e2b_memory_accept(&w.script);
    e2b_memory_request(&w.script);
    wired_ready(&w, 1, 0);
    e2b_port port = w.port.port; /* its own wait doesn't know */
    port.wake_ms = 100;
    w.client.port = &port;
    w.client.cancel = &flag;
    assert_int_equal(wired_get(&w, false), E2B_REPLY_TIMEOUT);
    assert_int_equal(w.port.waits, 600);
    assert_int_equal(w.port.now_ms, 60000);
    w.client.cancel = NULL;
    assert_int_equal(wired_get(&w, false), E2B_REPLY_TIMEOUT);
    assert_int_equal(w.port.waits, 601);
    wired_done(&w);
}

static void waiting_itself_fails(void **state)
{
    (void)state;
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    e2b_memory_request(&w.script);
    wired_ready(&w, 1, 0);
    w.port.fail_call = 4; /* open, send, recv, wait */
    w.port.fail_outcome = E2B_IO_FAILED;
    assert_int_equal(wired_get(&w, false), E2B_PORT);
    wired_done(&w);
}

static void what_it_waits_for(void **state)
{
    (void)state;
    e2b_conn conn;
    memset(&conn, 0, sizeof conn);
    e2b_conn_start(&conn, NULL, 0);
    assert_int_equal(e2b_conn_wants(&conn), E2B_WANT_SEND);
    conn.sending = false;
    assert_int_equal(e2b_conn_wants(&conn), E2B_WANT_RECV);
}

/* What is left of a request that has become another one is not sent behind
 * what is gone of the first. */
static void a_request_that_changes(void **state)
{
    (void)state;
    static const char *const paths[] = {"/x", "/", "/xyz"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        e2b_conn *conn;
        wired_setup(&w);
        e2b_memory_accept(&w.script);
        e2b_memory_take(&w.script, 20);
        e2b_memory_advance(&w.script, 10);
        wired_reply(&w, WIRED_OK);
        wired_ready(&w, 1, 0);
        assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, 0, &conn), E2B_OK);
        e2b_call call = wired_call(&w, false);
        assert_int_equal(e2b_conn_send(&w.client, conn, &call.request), E2B_PENDING);
        assert_int_equal(conn->sent, 20);
        call.request.path = paths[i];
        w.port.now_ms = 10;
        assert_int_equal(e2b_conn_send(&w.client, conn, &call.request), i ? E2B_SEND : E2B_OK);
        if (i) assert_int_equal(w.port.sent, 20);
        wired_done(&w);
    }
}

/* Even when all but less than the change was gone. */
static void a_request_that_shrinks(void **state)
{
    (void)state;
    e2b_conn *conn;
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    e2b_memory_take(&w.script, 118);
    wired_ready(&w, 1, 0);
    assert_int_equal(wired_acquire(&w, 0, E2B_USE_CALL, 0, &conn), E2B_OK);
    e2b_call call = wired_call(&w, false);
    call.request.access_token = (e2b_str){"0123456789012345678901234567890123456789", 40};
    assert_int_equal(e2b_conn_send(&w.client, conn, &call.request), E2B_PENDING);
    assert_int_equal(conn->sent, 118);
    call.request.access_token.len = 0;
    assert_int_equal(e2b_conn_send(&w.client, conn, &call.request), E2B_SEND);
    wired_done(&w);
}

static int32_t too_much_received(void *context, e2b_link *link, void *buffer, size_t size)
{
    (void)context, (void)link, (void)buffer;
    return (int32_t)size + 1;
}

static int32_t too_much_sent(void *context, e2b_link *link, const void *data, size_t size)
{
    (void)context, (void)link, (void)data;
    return (int32_t)size + 1;
}

/* A port that counts wrongly is a port that failed. */
static void more_bytes_than_asked_for(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        wired_setup(&w);
        e2b_memory_accept(&w.script);
        wired_ready(&w, 1, 0);
        if (i) w.port.port.recv = too_much_received;
        else w.port.port.send = too_much_sent;
        assert_int_equal(wired_get(&w, false), i ? E2B_NO_REPLY : E2B_CONNECT);
        wired_done(&w);
    }
}

/* Any call of the port failing, in any way: an error or success, and no leak. */
static void each_port_call_fails(void **state)
{
    (void)state;
    static const int32_t outcomes[] = {E2B_IO_AGAIN, E2B_IO_END, E2B_IO_END_UNCLEAN, E2B_IO_RESET, E2B_IO_FAILED, E2B_IO_CONNECT,
                                       E2B_IO_TLS, E2B_IO_RESOLVE};
    for (size_t o = 0; o < sizeof outcomes / sizeof *outcomes; o++) {
        for (uint64_t call = 2;; call++) { /* the first is open */
            wired_setup(&w);
            e2b_memory_accept(&w.script);
            wired_reply(&w, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n");
            e2b_memory_advance(&w.script, 5);
            e2b_memory_text(&w.script, "01234567890123456789012345678901234567890123456789");
            wired_ready(&w, 1, 0);
            w.port.recv_max = 7;
            w.port.send_max = 60;
            w.port.fail_call = call;
            w.port.fail_outcome = outcomes[o];
            e2b_err err = wired_get(&w, false);
            bool reached = w.port.calls >= call;
            if (!err) assert_true(!reached || outcomes[o] == E2B_IO_AGAIN);
            if (err) assert_true(err <= E2B_CONNECT || err == E2B_PORT || err == E2B_RESOLVE);
            if (err) assert_int_equal(w.client.error.code, err);
            wired_done(&w);
            if (!reached) break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_go_out_whole), cmocka_unit_test(every_place_has_its_error), cmocka_unit_test(limits_of_the_client),
        cmocka_unit_test(limits_as_numbers), cmocka_unit_test(bodies_in_pieces), cmocka_unit_test(collecting),
        cmocka_unit_test(no_needless_calls), cmocka_unit_test(the_cancel_flag), cmocka_unit_test(waits_are_cut),
        cmocka_unit_test(a_request_that_changes), cmocka_unit_test(a_request_that_shrinks),
        cmocka_unit_test(more_bytes_than_asked_for), cmocka_unit_test(waiting_itself_fails), cmocka_unit_test(what_it_waits_for), cmocka_unit_test(each_port_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
