#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "check_str.h"
#include "wired.h"

static wired w;

/* ---- Repeating ------------------------------------------------------------------------------ */

/* How the kept link goes at its second request. */
enum { ENDS, RESETS, BREAKS_SENDING, ONE_BYTE, INFORMATIONAL, WAYS };

static void kept_link_that_dies(int how)
{
    e2b_memory_accept(&w.script);
    wired_reply(&w, WIRED_OK);
    if (how == BREAKS_SENDING) {
        e2b_memory_take(&w.script, 5);
        e2b_memory_reset(&w.script);
        return;
    }
    e2b_memory_request(&w.script);
    if (how == ONE_BYTE) e2b_memory_text(&w.script, "H");
    if (how == INFORMATIONAL) e2b_memory_text(&w.script, "HTTP/1.1 100 Continue\r\n\r\n");
    if (how == RESETS) e2b_memory_reset(&w.script);
    else e2b_memory_end(&w.script);
}

static void a_kept_link_dies(void **state)
{
    (void)state;
    for (int how = 0; how < WAYS; how++) {
        for (int repeatable = 0; repeatable < 2; repeatable++) {
            wired_setup(&w);
            kept_link_that_dies(how);
            e2b_memory_accept(&w.script);
            wired_reply(&w, WIRED_OK);
            wired_ready(&w, 1, 0);
            assert_int_equal(wired_get(&w, repeatable), E2B_OK);
            e2b_err err = wired_get(&w, repeatable);
            bool again = repeatable && how <= BREAKS_SENDING;
            e2b_err expected = again ? E2B_OK : how == BREAKS_SENDING ? E2B_SEND : how < BREAKS_SENDING ? E2B_NO_REPLY : E2B_TRUNCATED;
            if (err != expected) fail_msg("way %d, %d: %s", how, repeatable, e2b_err_name(err));
            assert_int_equal(w.port.opened, again ? 2 : 1);
            assert_int_equal(w.connections[1].requests, again ? 1 : 0);
            wired_done(&w);
        }
    }
}

/* Once only, and only where the link was a kept one. */
static void repeated_once(void **state)
{
    (void)state;
    wired_setup(&w);
    kept_link_that_dies(ENDS);
    for (int i = 0; i < 3; i++) {
        e2b_memory_accept(&w.script);
        e2b_memory_request(&w.script);
        e2b_memory_end(&w.script);
    }
    wired_ready(&w, 1, 0);
    assert_int_equal(wired_get(&w, true), E2B_OK);
    assert_int_equal(wired_get(&w, true), E2B_NO_REPLY);
    assert_int_equal(w.port.opened, 2);
    assert_int_equal(wired_get(&w, true), E2B_NO_REPLY);
    assert_int_equal(w.port.opened, 3);
    wired_done(&w);
}

/* The second try is on a fresh link although another one is kept. */
static void repeated_on_a_fresh_link(void **state)
{
    (void)state;
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    wired_reply(&w, WIRED_OK);
    e2b_memory_request(&w.script);
    e2b_memory_end(&w.script);
    e2b_memory_accept(&w.script);
    wired_reply(&w, WIRED_OK);
    e2b_memory_request(&w.script);
    e2b_memory_end(&w.script);
    e2b_memory_accept(&w.script);
    wired_reply(&w, WIRED_OK);
    wired_ready(&w, 2, 0);
    e2b_call first = wired_call(&w, true), second = wired_call(&w, true);
    assert_int_equal(e2b_call_begin(&first), E2B_OK);
    assert_int_equal(e2b_call_simple(&second), E2B_OK);
    e2b_str body;
    assert_int_equal(e2b_call_collect(&first, &body), E2B_OK);
    check_str(body, str_of("{}"));
    e2b_call_end(&first);
    assert_int_equal(w.port.opened, 2);
    assert_int_equal(wired_get(&w, true), E2B_OK);
    assert_int_equal(w.port.opened, 3);
    wired_done(&w);
}

/* ---- What is written down -------------------------------------------------------------------- */

static void check_text(const char *words)
{
    if (!strstr(w.client.error.text, words)) fail_msg("no '%s' in: %s", words, w.client.error.text);
    assert_true(strncmp(w.client.error.text, "ask: ", 5) == 0);
}

static void transport_failures(void **state)
{
    (void)state;
    wired_setup(&w);
    e2b_memory_refuse(&w.script);
    e2b_memory_accept(&w.script);
    wired_reply(&w, "HTTP/1.1 503 Unavailable\r\nContent-Length: 9\r\n\r\nhalf");
    e2b_memory_end(&w.script);
    wired_ready(&w, 1, 0);
    assert_int_equal(wired_get(&w, true), E2B_CONNECT);
    check_text("example.test:8080");
    assert_int_equal(w.client.error.http_status, 0);
    /* The status counts, though the answer was cut. */
    assert_int_equal(wired_get(&w, true), E2B_TRUNCATED);
    assert_int_equal(w.client.error.http_status, 503);
    wired_done(&w);
}

static int32_t refuse_to_open(void *context, e2b_link *link, const e2b_target *target)
{
    (void)target;
    link->error = *(int *)context == 0 ? 111 : 113;
    return *(int *)context == 0 ? E2B_IO_CONNECT : E2B_IO_UNSUPPORTED;
}

static uint64_t no_time(void *context)
{
    (void)context;
    return 0;
}

static void the_ports_own_number(void **state)
{
    (void)state;
    int what = 0;
    wired_setup(&w);
    wired_ready(&w, 1, 0);
    e2b_port port = w.port.port;
    port.context = &what;
    port.open = refuse_to_open;
    port.now_ms = no_time;
    port.trace = NULL;
    w.client.port = &port;
    assert_int_equal(wired_get(&w, true), E2B_CONNECT);
    assert_int_equal(w.client.error.port_error, 111);
    /* While cleaning up the earlier failure stays as it was. */
    w.client.error.port_error = 5;
    w.client.cleaning = 1;
    assert_int_equal(wired_get(&w, true), E2B_CONNECT);
    assert_int_equal(w.client.error.port_error, 5);
    assert_int_equal(w.client.cleanup_error.port_error, 111);
    w.client.cleaning = 0;
    what = 1;
    assert_int_equal(wired_get(&w, true), E2B_UNSUPPORTED);
    check_text("E2B_API_URL");
    assert_int_equal(w.client.error.port_error, 0);
    w.client.port = &w.port.port;
}

static void refusals(void **state)
{
    (void)state;
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    wired_reply(&w, "HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 33\r\n\r\n{\"code\":429,\"message\":\"slow down\"}");
    e2b_memory_accept(&w.script);
    wired_reply(&w, "HTTP/1.1 302 Found\r\nLocation: http://elsewhere.test/\r\nContent-Length: 0\r\n\r\n");
    wired_reply(&w, "HTTP/1.1 429 Too Many\r\nRetry-After: 8\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n");
    wired_ready(&w, 1, 0);
    assert_int_equal(wired_get(&w, true), E2B_RATE_LIMITED);
    assert_int_equal(w.client.error.http_status, 429);
    assert_int_equal(w.client.error.retry_after_s, 7);
    assert_int_equal(w.client.conns[0].use, E2B_USE_FREE); /* a byte too much came */
    assert_int_equal(wired_get(&w, true), E2B_REDIRECT);
    assert_int_equal(w.client.error.http_status, 302);
    assert_int_equal(w.client.error.retry_after_s, 0);
    assert_int_equal(w.client.conns[0].use, E2B_USE_KEPT);
    assert_int_equal(w.port.opened, 2);
    assert_int_equal(wired_get(&w, true), E2B_COMPRESSED);
    wired_done(&w);
}

static void busy_sends_nothing(void **state)
{
    (void)state;
    wired_setup(&w);
    wired_ready(&w, 1, 0);
    e2b_conn *conn;
    assert_int_equal(wired_acquire(&w, 3, E2B_USE_STREAM, 0, &conn), E2B_OK);
    uint64_t calls = w.port.calls;
    assert_int_equal(wired_get(&w, true), E2B_BUSY);
    assert_int_equal(w.port.calls, calls);
    check_text(e2b_err_text(E2B_BUSY));
    wired_done(&w);
}

/* ---- How links end ---------------------------------------------------------------------------- */

static void a_lost_answer_closes_by_reset(void **state)
{
    (void)state;
    for (int repeatable = 0; repeatable < 2; repeatable++) {
        wired_setup(&w);
        e2b_memory_accept(&w.script);
        e2b_memory_take(&w.script, 20);
        e2b_memory_accept(&w.script);
        e2b_memory_request(&w.script);
        wired_ready(&w, 1, 0);
        e2b_call call = wired_call(&w, repeatable);
        assert_int_equal(e2b_call_begin(&call), E2B_SEND_TIMEOUT);
        assert_false(call.sent);
        assert_int_equal(w.connections[0].closes, 1);
        assert_int_equal(w.connections[0].aborts, repeatable ? 0 : 1);
        call = wired_call(&w, repeatable);
        assert_int_equal(e2b_call_begin(&call), E2B_REPLY_TIMEOUT);
        assert_true(call.sent);
        assert_int_equal(w.connections[1].aborts, repeatable ? 0 : 1);
        wired_done(&w);
    }
}

static void write_long_body(e2b_text *text, const void *subject)
{
    for (int i = 0; i < 3000; i++) e2b_text_string(text, subject);
}

/* An answer that comes before the request was taken says why it was not. */
static void refused_before_all_was_sent(void **state)
{
    (void)state;
    for (int answered = 0; answered < 3; answered++) {
        wired_setup(&w);
        e2b_memory_accept(&w.script);
        e2b_memory_early(&w.script);
        e2b_memory_send_fails(&w.script);
        if (answered == 1) e2b_memory_text(&w.script, "HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large");
        if (answered == 2) e2b_memory_text(&w.script, WIRED_OK);
        e2b_memory_end(&w.script);
        wired_ready(&w, 1, 1024);
        e2b_call call = wired_call(&w, false);
        call.request.method = "POST";
        call.request.content_type = "text/plain";
        call.request.body = write_long_body;
        call.request.subject = "0123456789";
        e2b_err err = e2b_call_simple(&call);
        assert_int_equal(err, answered == 1 ? E2B_BAD_REQUEST : E2B_SEND);
        assert_false(call.sent);
        assert_int_equal(w.client.error.http_status == 413, answered == 1);
        assert_int_equal(w.client.conns[0].use, E2B_USE_FREE);
        wired_done(&w);
    }
}

/* ---- Time --------------------------------------------------------------------------------------- */

/* A server that never stops and never pauses does not outlast the call. */
static void answers_without_end(void **state)
{
    (void)state;
    for (int fast = 0; fast < 2; fast++) {
        wired_setup(&w);
        e2b_memory_accept(&w.script);
        wired_reply(&w, "HTTP/1.1 200 OK\r\n\r\n");
        e2b_memory_repeat(&w.script, 4000000000u);
        static char filler[8192]; /* fills the buffer at each receive */
        memset(filler, 'x', sizeof filler);
        e2b_memory_data(&w.script, filler, fast ? sizeof filler : 40);
        if (!fast) e2b_memory_advance(&w.script, 1);
        e2b_memory_repeat_end(&w.script);
        wired_ready(&w, 1, 1024);
        e2b_call call = wired_call(&w, false);
        call.deadline = e2b_deadline(&w.client, 500, 0);
        assert_int_equal(e2b_call_begin(&call), E2B_OK);
        uint8_t *piece;
        size_t length;
        e2b_err err;
        while (!(err = e2b_call_body(&call, &piece, &length))) {
            assert_true(length > 0);
            e2b_conn_take(call.conn, length);
            if (fast) w.port.now_ms++; /* the work takes its time */
        }
        assert_int_equal(err, E2B_REPLY_TIMEOUT);
        assert_true(w.port.now_ms >= 500 && w.port.now_ms <= 502);
        wired_done(&w);
    }
}

static void traced(void **state)
{
    (void)state;
    char trace[300] = {0};
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    wired_reply(&w, WIRED_OK);
    wired_ready(&w, 1, 0);
    w.port.trace = trace;
    w.port.trace_size = sizeof trace - 1;
    e2b_call call = wired_call(&w, true);
    call.request.id = str_of(WIRED_KEY); /* no id, but a place where one might slip in */
    call.request.api_key = w.client.api_key;
    assert_int_equal(e2b_call_simple(&call), E2B_OK);
    assert_non_null(strstr(trace, "> GET /x"));
    assert_non_null(strstr(trace, " to example.test\n< 200\n"));
    assert_null(strstr(trace, "0123456789abcdef"));
    wired_done(&w);
}

/* A finished stream's last bytes are waited for only where the call has time for that. */
static void draining_within_the_deadline(void **state)
{
    (void)state;
    static const uint32_t drains[] = {E2B_NO_LIMIT, 5000, 100, 99, 0};
    for (size_t i = 0; i < sizeof drains / sizeof *drains; i++) {
        e2b_conn *conn;
        uint8_t *piece;
        size_t length;
        wired_setup(&w);
        e2b_memory_accept(&w.script);
        wired_reply(&w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n");
        e2b_memory_accept(&w.script);
        wired_reply(&w, WIRED_OK);
        wired_ready(&w, 1, 0);
        assert_int_equal(wired_acquire(&w, 0, E2B_USE_STREAM, 0, &conn), E2B_OK);
        wired_exchange(&w, conn);
        assert_int_equal(e2b_conn_body(&w.client, conn, &piece, &length), E2B_OK);
        e2b_conn_take(conn, length);
        e2b_slot_release(&w.client, conn, true);
        assert_int_equal(conn->use, E2B_USE_DRAIN);
        w.client.limits.drain_ms = drains[i];
        e2b_call call = wired_call(&w, true);
        call.deadline = 100;
        assert_int_equal(e2b_call_simple(&call), E2B_OK);
        assert_int_equal(w.port.opened, 2);
        assert_int_equal(w.port.now_ms, i < 3 ? 0 : i == 3 ? 99 : 50);
        wired_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_link_dies), cmocka_unit_test(repeated_once), cmocka_unit_test(repeated_on_a_fresh_link),
        cmocka_unit_test(transport_failures), cmocka_unit_test(the_ports_own_number), cmocka_unit_test(refusals),
        cmocka_unit_test(busy_sends_nothing), cmocka_unit_test(a_lost_answer_closes_by_reset),
        cmocka_unit_test(refused_before_all_was_sent), cmocka_unit_test(answers_without_end), cmocka_unit_test(draining_within_the_deadline), cmocka_unit_test(traced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
