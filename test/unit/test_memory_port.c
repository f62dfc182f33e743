/* The scripted transport: each step, time, faults, the responder, snapshots,
 * and that any bytes are a script. */
#include "e2b_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    uint8_t steps[1024];
    e2b_memory_script script;
    e2b_memory_port port;
    e2b_memory_connection connections[2];
    char sent[2][256];
    uint8_t reply[2][512];
} fixture;

static void setup(fixture *f)
{
    memset(f, 0, sizeof *f);
    e2b_memory_script_init(&f->script, f->steps, sizeof f->steps);
}

static void ready(fixture *f)
{
    assert_false(f->script.full);
    e2b_memory_open(&f->port, f->script.memory, f->script.length);
    f->port.connections = f->connections;
    f->port.connection_count = 2;
    for (int i = 0; i < 2; i++) {
        f->connections[i].sent = f->sent[i];
        f->connections[i].sent_size = sizeof f->sent[i];
        f->connections[i].reply = f->reply[i];
        f->connections[i].reply_size = sizeof f->reply[i];
    }
}

static e2b_link dial(fixture *f)
{
    e2b_link link = {0};
    e2b_target target = {0};
    target.host.ptr = "example.test";
    target.host.len = 12;
    target.tcp_port = 80;
    assert_int_equal(f->port.port.open(f->port.port.context, &link, &target), E2B_IO_OK);
    return link;
}

static int32_t take(fixture *f, e2b_link *link, char *out, size_t size)
{
    return f->port.port.recv(f->port.port.context, link, out, size);
}

static int32_t give(fixture *f, e2b_link *link, const char *text)
{
    return f->port.port.send(f->port.port.context, link, text, strlen(text));
}

static void hang_up(fixture *f, e2b_link *link, bool abort)
{
    f->port.port.close(f->port.port.context, link, abort);
}

static int32_t pause_for(fixture *f, e2b_wait_item *items, size_t count, uint32_t ms)
{
    uint64_t space[8 + E2B_WAIT_SPARE];
    return f->port.port.wait(f->port.port.context, items, count, space, ms);
}

static uint8_t wait_one(fixture *f, e2b_link *link, uint8_t wanted, uint32_t ms)
{
    e2b_wait_item item = {link, wanted, 0};
    assert_int_equal(pause_for(f, &item, 1, ms), E2B_IO_OK);
    return item.ready;
}

static void expect(fixture *f, e2b_link *link, const char *text)
{
    char out[256];
    size_t got = 0, length = strlen(text);
    while (got < length) {
        int32_t n = take(f, link, out + got, length - got);
        assert_true(n > 0);
        got += (size_t)n;
    }
    assert_memory_equal(out, text, length);
}

static void expect_answer(fixture *f, e2b_link *link, int32_t answer)
{
    char out[16];
    assert_int_equal(take(f, link, out, sizeof out), answer);
}

/* ---- Beginning and ending ---------------------------------------------------- */

static void test_accept_data_end(void **state)
{
    fixture f;
    char out[4];
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_text(&f.script, "hello");
    e2b_memory_data(&f.script, NULL, 0);
    e2b_memory_end(&f.script);
    ready(&f);
    e2b_link link = dial(&f);
    assert_int_equal(take(&f, &link, out, 4), 4);
    assert_memory_equal(out, "hell", 4);
    assert_int_equal(take(&f, &link, out, 4), 1);
    assert_int_equal(out[0], 'o');
    expect_answer(&f, &link, E2B_IO_END);
    expect_answer(&f, &link, E2B_IO_END);
    assert_int_equal(give(&f, &link, "late"), 4);
    hang_up(&f, &link, false);
    assert_int_equal(f.connections[0].received, 5);
    assert_int_equal(f.connections[0].closes, 1);
    assert_int_equal(f.connections[0].aborts, 0);
    assert_int_equal(f.port.received, 5);
    assert_int_equal(f.port.sent, 4);
    assert_string_equal(f.connections[0].host, "example.test");
}

static void test_how_connections_begin_and_end(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    e2b_memory_refuse(&f.script);
    e2b_memory_hang(&f.script);
    e2b_memory_text(&f.script, "never seen");
    e2b_memory_accept(&f.script);
    e2b_memory_reset(&f.script);
    e2b_memory_text(&f.script, "never seen");
    e2b_memory_accept(&f.script);
    e2b_memory_end_unclean(&f.script);
    ready(&f);

    e2b_link refused = dial(&f), hanging = dial(&f), reset = dial(&f), unclean = dial(&f), beyond = dial(&f);
    assert_int_equal(wait_one(&f, &refused, E2B_WANT_SEND, 5), E2B_WANT_SEND);
    assert_int_equal(give(&f, &refused, "x"), E2B_IO_CONNECT);
    assert_int_not_equal(refused.error, 0);
    expect_answer(&f, &refused, E2B_IO_CONNECT);

    assert_int_equal(give(&f, &hanging, "x"), E2B_IO_AGAIN);
    expect_answer(&f, &hanging, E2B_IO_AGAIN);
    assert_int_equal(wait_one(&f, &hanging, E2B_WANT_SEND | E2B_WANT_RECV, 7), 0);
    assert_int_equal(f.port.now_ms, 7);

    expect_answer(&f, &reset, E2B_IO_RESET);
    assert_int_not_equal(reset.error, 0);
    assert_int_equal(give(&f, &reset, "x"), E2B_IO_RESET);
    expect_answer(&f, &unclean, E2B_IO_END_UNCLEAN);
    assert_int_equal(give(&f, &beyond, "x"), 1);
    expect_answer(&f, &beyond, E2B_IO_AGAIN);
    hang_up(&f, &reset, true);
    assert_int_equal(f.port.opened, 5);
    assert_int_equal(f.port.closes, 1);
    assert_int_equal(f.port.aborts, 1);
}

static void test_used_up(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    ready(&f);
    f.port.used_up = E2B_MEMORY_REFUSE;
    e2b_link first = dial(&f), second = dial(&f);
    expect_answer(&f, &first, E2B_IO_AGAIN);
    expect_answer(&f, &second, E2B_IO_CONNECT);

    ready(&f);
    f.port.used_up = E2B_MEMORY_END;
    first = dial(&f);
    second = dial(&f);
    expect_answer(&f, &first, E2B_IO_END);
    expect_answer(&f, &second, E2B_IO_END);

    e2b_memory_open(&f.port, NULL, 0);
    first = dial(&f);
    expect_answer(&f, &first, E2B_IO_AGAIN);
}

/* ---- Blocking, time and order ------------------------------------------------- */

static void test_would_block(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_would_block(&f.script);
    e2b_memory_text(&f.script, "a");
    e2b_memory_would_block(&f.script);
    e2b_memory_would_block(&f.script);
    e2b_memory_text(&f.script, "b");
    ready(&f);
    e2b_link link = dial(&f);
    assert_int_equal(give(&f, &link, "xy"), E2B_IO_AGAIN);
    assert_int_equal(give(&f, &link, "xy"), 2);
    expect(&f, &link, "a");
    expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(wait_one(&f, &link, E2B_WANT_RECV, 1000), E2B_WANT_RECV);
    assert_int_equal(f.port.now_ms, 0);
    expect(&f, &link, "b");
}

static void test_sizes_of_calls(void **state)
{
    fixture f;
    char out[8];
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_text(&f.script, "abcde");
    ready(&f);
    f.port.recv_max = 2;
    f.port.send_max = 3;
    e2b_link link = dial(&f);
    assert_int_equal(take(&f, &link, out, 8), 2);
    assert_int_equal(take(&f, &link, out, 1), 1);
    assert_int_equal(take(&f, &link, out, 8), 2);
    assert_int_equal(give(&f, &link, "12345"), 3);
    assert_memory_equal(f.sent[0], "123", 3);
}

static void test_take(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_take(&f.script, 3);
    e2b_memory_text(&f.script, "a");
    e2b_memory_advance(&f.script, 10);
    e2b_memory_take(&f.script, 1);
    e2b_memory_reset(&f.script);
    ready(&f);
    e2b_link link = dial(&f);
    expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(give(&f, &link, "12"), 2);
    expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(give(&f, &link, "345"), 1);
    assert_int_equal(give(&f, &link, "45"), E2B_IO_AGAIN);
    assert_int_equal(wait_one(&f, &link, E2B_WANT_SEND | E2B_WANT_RECV, 1000), E2B_WANT_RECV);
    expect(&f, &link, "a");
    assert_int_equal(give(&f, &link, "45"), E2B_IO_AGAIN);
    assert_int_equal(wait_one(&f, &link, E2B_WANT_SEND, 1000), E2B_WANT_SEND);
    assert_int_equal(f.port.now_ms, 10);
    assert_int_equal(give(&f, &link, "45"), 1);
    assert_int_equal(give(&f, &link, "5"), E2B_IO_RESET);
    assert_memory_equal(f.sent[0], "1234", 4);
    assert_int_equal(f.connections[0].sent_length, 4);
}

static void test_send_fails_while_the_answer_comes(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_early(&f.script);
    e2b_memory_send_fails(&f.script);
    e2b_memory_text(&f.script, "413");
    ready(&f);
    e2b_link link = dial(&f);
    assert_int_equal(give(&f, &link, "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"), 41);
    assert_int_equal(give(&f, &link, "def"), E2B_IO_RESET);
    expect(&f, &link, "413");
}

static void test_connections_wait_in_parallel(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    for (uint32_t i = 0; i < 2; i++) {
        e2b_memory_accept(&f.script);
        e2b_memory_advance(&f.script, 100 + 50 * i);
        e2b_memory_text(&f.script, "x");
    }
    ready(&f);
    f.port.now_ms = 1000;
    e2b_link one = dial(&f), two = dial(&f);
    e2b_wait_item items[2] = {{&two, E2B_WANT_RECV, 0}, {&one, E2B_WANT_RECV, 0}};
    assert_int_equal(pause_for(&f, items, 2, 60), E2B_IO_OK);
    assert_int_equal(items[0].ready | items[1].ready, 0);
    assert_int_equal(f.port.now_ms, 1060);
    assert_int_equal(pause_for(&f, items, 2, 1000), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 1100);
    assert_int_equal(items[0].ready, 0);
    assert_int_equal(items[1].ready, E2B_WANT_RECV);
    expect(&f, &one, "x");
    assert_int_equal(pause_for(&f, items, 2, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 1150);
    assert_int_equal(items[0].ready, E2B_WANT_RECV);
    expect(&f, &two, "x");
    /* Nothing is due any more. */
    assert_int_equal(pause_for(&f, items, 2, 30), E2B_IO_OK);
    assert_int_equal(f.port.port.now_ms(f.port.port.context), 1180);
    assert_int_equal(pause_for(&f, items, 2, UINT32_MAX), E2B_IO_FAILED);
    assert_int_equal(pause_for(&f, NULL, 0, 20), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 1200);
    assert_int_equal(f.port.port.unix_time(f.port.port.context), 1700000001);
    f.port.unix_start = -1;
    assert_true(f.port.port.unix_time(f.port.port.context) < 0);
}

static void test_wake_ms_cuts_waits(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    ready(&f);
    f.port.port.wake_ms = 100;
    assert_int_equal(pause_for(&f, NULL, 0, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 100);
}

static void test_after_another_connection(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_after(&f.script, 3, 2);
    e2b_memory_text(&f.script, "stream");
    e2b_memory_accept(&f.script);
    e2b_memory_text(&f.script, "1");
    e2b_memory_pass(&f.script, 3);
    e2b_memory_advance(&f.script, 20);
    e2b_memory_pass(&f.script, 3);
    ready(&f);
    e2b_link one = dial(&f), two = dial(&f);
    e2b_wait_item items[2] = {{&one, E2B_WANT_RECV, 0}, {&two, E2B_WANT_RECV, 0}};
    assert_int_equal(pause_for(&f, items, 2, 10), E2B_IO_OK);
    assert_int_equal(items[0].ready, 0);
    expect(&f, &two, "1");
    expect_answer(&f, &one, E2B_IO_AGAIN);
    assert_int_equal(pause_for(&f, items, 2, 1000), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 20);
    assert_int_equal(items[0].ready, E2B_WANT_RECV);
    expect(&f, &one, "stream");
}

/* ---- Requests ------------------------------------------------------------------ */

static const char *const requests[] = {
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 5\r\nX: y\r\n\r\n12345",
    "POST / HTTP/1.1\r\nContent-Lengthy: 99\r\nContent-Length:2\r\n\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nA;x=1\r\n0123456789\r\n1\r\n\n\r\n0\r\nTrailer: 1\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
};

static void test_request_is_seen_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        size_t length = strlen(requests[i]);
        for (size_t step = 1; step <= length; step++) {
            fixture f;
            setup(&f);
            e2b_memory_accept(&f.script);
            e2b_memory_request(&f.script);
            e2b_memory_text(&f.script, "reply");
            e2b_memory_request(&f.script);
            e2b_memory_end(&f.script);
            ready(&f);
            e2b_link link = dial(&f);
            for (size_t at = 0; at < length; at += step) {
                size_t part = length - at < step ? length - at : step;
                expect_answer(&f, &link, E2B_IO_AGAIN);
                assert_int_equal(f.port.port.send(&f.port, &link, requests[i] + at, part), part);
            }
            assert_int_equal(f.connections[0].requests, 1);
            expect(&f, &link, "reply");
            expect_answer(&f, &link, E2B_IO_AGAIN);
            assert_int_equal(give(&f, &link, requests[0]), strlen(requests[0]));
            expect_answer(&f, &link, E2B_IO_END);
        }
    }
}

static void test_early_answers_the_head(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_early(&f.script);
    e2b_memory_text(&f.script, "100");
    e2b_memory_request(&f.script);
    e2b_memory_text(&f.script, "200");
    ready(&f);
    e2b_link link = dial(&f);
    assert_int_equal(give(&f, &link, "PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r"), 36);
    expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(give(&f, &link, "\n"), 1);
    expect(&f, &link, "100");
    expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(give(&f, &link, "abc"), 3);
    expect(&f, &link, "200");
}

/* ---- Repeating ------------------------------------------------------------------ */

static void test_repeat_gives_gigabytes(void **state)
{
    fixture f;
    char block[256], out[65536];
    (void)state;
    setup(&f);
    memset(block, 'x', sizeof block);
    e2b_memory_accept(&f.script);
    e2b_memory_repeat(&f.script, 1024);
    e2b_memory_repeat(&f.script, 1024);
    e2b_memory_data(&f.script, block, sizeof block);
    e2b_memory_repeat_end(&f.script);
    e2b_memory_text(&f.script, ".");
    e2b_memory_repeat_end(&f.script);
    e2b_memory_end(&f.script);
    ready(&f);
    e2b_link link = dial(&f);
    uint64_t total = 0;
    int32_t n;
    while ((n = take(&f, &link, out, sizeof out)) > 0)
        total += (uint64_t)n;
    assert_int_equal(n, E2B_IO_END);
    assert_true(total == UINT64_C(1024) * (1024 * sizeof block + 1));
}

static void test_repeat_whole_connections(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    e2b_memory_repeat(&f.script, 3);
    e2b_memory_accept(&f.script);
    e2b_memory_repeat(&f.script, UINT32_MAX);
    e2b_memory_text(&f.script, "y\n");
    e2b_memory_repeat_end(&f.script);
    e2b_memory_repeat_end(&f.script);
    e2b_memory_refuse(&f.script);
    ready(&f);
    f.port.used_up = E2B_MEMORY_END;
    for (int i = 0; i < 3; i++) {
        e2b_link link = dial(&f);
        for (int k = 0; k < 10; k++)
            expect(&f, &link, "y\n");
        hang_up(&f, &link, true);
    }
    e2b_link last = dial(&f);
    expect_answer(&f, &last, E2B_IO_CONNECT);
}

static void test_repeat_of_nothing_ends(void **state)
{
    fixture f;
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    for (int i = 0; i < 3; i++)
        e2b_memory_repeat(&f.script, UINT32_MAX);
    e2b_memory_would_block(&f.script);
    e2b_memory_pass(&f.script, 1);
    e2b_memory_advance(&f.script, 0);
    for (int i = 0; i < 4; i++)
        e2b_memory_repeat_end(&f.script);
    e2b_memory_end(&f.script);
    ready(&f);
    e2b_link link = dial(&f);
    assert_int_equal(wait_one(&f, &link, E2B_WANT_RECV, 10), E2B_WANT_RECV);
    expect_answer(&f, &link, E2B_IO_END);
}

/* ---- The responder --------------------------------------------------------------- */

static int echo(void *context, const e2b_memory_request_seen *seen, e2b_memory_script *reply)
{
    int *calls = context;
    char label[] = {(char)('0' + seen->connection), (char)('0' + seen->number), ':'};
    assert_false(seen->cut);
    assert_memory_equal(seen->head.ptr, "POST", 4);
    assert_memory_equal(seen->head.ptr + seen->head.len - 4, "\r\n\r\n", 4);
    if (seen->body.len == 4 && memcmp(seen->body.ptr, "dead", 4) == 0)
        return 1;
    e2b_memory_advance(reply, 5);
    e2b_memory_data(reply, label, sizeof label);
    e2b_memory_data(reply, seen->body.ptr, seen->body.len);
    ++*calls;
    return 0;
}

static void test_responder(void **state)
{
    fixture f;
    int calls = 0;
    (void)state;
    setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_text(&f.script, "first ");
    ready(&f);
    f.port.respond = echo;
    f.port.respond_context = &calls;
    e2b_link one = dial(&f), two = dial(&f);
    const char *request = "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcdPOST";
    expect(&f, &one, "first ");
    /* Each request is taken alone, the next one once its reply is under way. */
    assert_int_equal(give(&f, &one, request), strlen(request) - 4);
    assert_int_equal(give(&f, &two, request), strlen(request) - 4);
    expect_answer(&f, &one, E2B_IO_AGAIN);
    assert_int_equal(wait_one(&f, &one, E2B_WANT_RECV, 100), E2B_WANT_RECV);
    assert_int_equal(f.port.now_ms, 5);
    expect(&f, &one, "00:abcd");
    assert_int_equal(wait_one(&f, &two, E2B_WANT_RECV, 100), E2B_WANT_RECV);
    expect(&f, &two, "10:abcd");
    assert_int_equal(give(&f, &one, "POST /2 HTTP/1.1\r\nContent-Length: 1\r\n\r\n!"), 40);
    assert_int_equal(wait_one(&f, &one, E2B_WANT_RECV, 100), E2B_WANT_RECV);
    expect(&f, &one, "01:!");
    assert_int_equal(give(&f, &one, "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\ndead"), 42);
    expect_answer(&f, &one, E2B_IO_RESET);
    assert_int_equal(calls, 3);
    assert_int_equal(f.connections[0].requests, 3);
}

static void test_elements_are_used_again(void **state)
{
    fixture f;
    int calls = 0;
    (void)state;
    setup(&f);
    ready(&f);
    f.port.respond = echo;
    f.port.respond_context = &calls;
    e2b_link stays = dial(&f);
    for (int i = 1; i < 6; i++) {
        e2b_link link = dial(&f);
        assert_int_equal(give(&f, &link, "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"), 39);
        assert_int_equal(f.connections[1].number, i);
        assert_int_equal(f.connections[1].sent_length, 39);
        hang_up(&f, &link, false);
    }
    assert_int_equal(f.connections[0].number, 0);
    assert_true(f.connections[0].open);
    assert_int_equal(calls, 5);
    hang_up(&f, &stays, false);
}

/* ---- Faults, randomness, trace ----------------------------------------------------- */

static void test_the_call_that_fails(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 5; nth++) {
        fixture f;
        char out[8];
        e2b_link link = {0};
        e2b_target target = {0};
        int32_t answers[5];
        setup(&f);
        e2b_memory_accept(&f.script);
        e2b_memory_text(&f.script, "data");
        ready(&f);
        f.port.fail_call = nth;
        f.port.fail_outcome = E2B_IO_FAILED;
        answers[0] = f.port.port.open(&f.port, &link, &target);
        answers[1] = give(&f, &link, "x");
        e2b_wait_item item = {&link, E2B_WANT_RECV, 0};
        answers[2] = pause_for(&f, &item, 1, 0);
        answers[3] = take(&f, &link, out, 2);
        answers[4] = f.port.port.random(&f.port, out, 1);
        assert_int_equal(answers[nth - 1], E2B_IO_FAILED);
        /* A connection that failed stays failed. */
        if (nth != 1)
            assert_int_equal(take(&f, &link, out, 2) == E2B_IO_FAILED, nth == 2 || nth == 4);
        assert_true(f.port.calls >= 5);
    }
}

static void test_cancel_at_a_wait(void **state)
{
    fixture f;
    volatile int cancel = 0;
    (void)state;
    setup(&f);
    ready(&f);
    f.port.cancel_wait = 2;
    f.port.cancel = &cancel;
    assert_int_equal(pause_for(&f, NULL, 0, 10), E2B_IO_OK);
    assert_int_equal(cancel, 0);
    assert_int_equal(pause_for(&f, NULL, 0, 10), E2B_IO_OK);
    assert_int_equal(cancel, 1);
    assert_int_equal(f.port.now_ms, 10);
    assert_int_equal(f.port.waits, 2);
}

static void test_random_follows_the_seed(void **state)
{
    fixture f;
    uint8_t one[32], two[32], other[32];
    (void)state;
    setup(&f);
    ready(&f);
    assert_int_equal(f.port.port.random(&f.port, one, sizeof one), E2B_IO_OK);
    f.port.seed = 0;
    assert_int_equal(f.port.port.random(&f.port, two, sizeof two), E2B_IO_OK);
    f.port.seed = 1;
    assert_int_equal(f.port.port.random(&f.port, other, sizeof other), E2B_IO_OK);
    assert_memory_equal(one, two, sizeof one);
    assert_memory_not_equal(one, other, sizeof one);
}

static void test_trace_is_kept(void **state)
{
    fixture f;
    char lines[8];
    (void)state;
    setup(&f);
    ready(&f);
    f.port.trace = lines;
    f.port.trace_size = sizeof lines;
    f.port.port.trace(&f.port, "one", 3);
    f.port.port.trace(&f.port, "second", 6);
    assert_memory_equal(lines, "one\nseco", 8);
    assert_int_equal(f.port.trace_length, 11);
}

/* ---- Snapshots and arbitrary bytes -------------------------------------------------- */

/* Everything a run depends on, as the header says. */
typedef struct saved {
    e2b_memory_port port;
    e2b_memory_connection connections[2];
    uint8_t reply[2][512];
    e2b_link link;
} saved;

static size_t run_on(fixture *f, e2b_link *link, char *out, size_t size)
{
    size_t got = 0;
    for (int i = 0; i < 100 && got < size; i++) {
        int32_t n = take(f, link, out + got, 1);
        if (n == E2B_IO_AGAIN)
            wait_one(f, link, E2B_WANT_RECV, 3);
        else if (n < 0)
            out[got++] = (char)n;
        else
            got += (size_t)n;
        if (n < 0 && n != E2B_IO_AGAIN)
            break;
    }
    memcpy(out + got, &f->port.now_ms, sizeof f->port.now_ms);
    return got + sizeof f->port.now_ms;
}

static void test_snapshot(void **state)
{
    (void)state;
    for (int at = 0; at < 20; at++) {
        fixture f;
        char byte, first[256], second[256];
        int calls = 0;
        setup(&f);
        e2b_memory_accept(&f.script);
        e2b_memory_text(&f.script, "abc");
        e2b_memory_repeat(&f.script, 3);
        e2b_memory_advance(&f.script, 2);
        e2b_memory_text(&f.script, "de");
        e2b_memory_repeat_end(&f.script);
        ready(&f);
        f.port.respond = echo;
        f.port.respond_context = &calls;
        e2b_link link = dial(&f);
        assert_int_equal(give(&f, &link, "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"), 39);
        for (int i = 0; i < at; i++) {
            if (take(&f, &link, &byte, 1) == E2B_IO_AGAIN)
                wait_one(&f, &link, E2B_WANT_RECV, 1);
        }
        saved copy = {f.port, {f.connections[0], f.connections[1]}, {{0}}, link};
        memcpy(copy.reply, f.reply, sizeof f.reply);
        size_t length = run_on(&f, &link, first, sizeof first - 8);
        f.port = copy.port;
        memcpy(f.connections, copy.connections, sizeof f.connections);
        memcpy(f.reply, copy.reply, sizeof f.reply);
        link = copy.link;
        assert_int_equal(run_on(&f, &link, second, sizeof second - 8), length);
        assert_memory_equal(first, second, length);
    }
}

static void test_any_bytes_are_a_script(void **state)
{
    uint8_t bytes[64];
    uint64_t seed = 1;
    char out[64];
    (void)state;
    for (int round = 0; round < 20000; round++) {
        fixture f;
        setup(&f);
        size_t length = (size_t)round % sizeof bytes;
        for (size_t i = 0; i < length; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            bytes[i] = (uint8_t)(seed >> 56);
            /* Large counts in the places where numbers stand. */
            if (i > 0 && (seed >> 40) % 4 == 0)
                bytes[i] |= 128;
        }
        ready(&f);
        /* A block of its own exact size, so that a sanitizer sees a read beyond it. */
        uint8_t *exact = malloc(length + 1);
        memcpy(exact, bytes, length);
        f.port.script = exact;
        f.port.script_length = (uint32_t)length;
        for (int dials = 0; dials < 6; dials++) {
            e2b_link link = dial(&f);
            for (int i = 0; i < 20; i++) {
                if (i % 3 == 0)
                    give(&f, &link, "GET / HTTP/1.1\r\n\r\n");
                int32_t n = take(&f, &link, out, sizeof out);
                assert_true(n != 0 && n <= (int32_t)sizeof out);
                if (n == E2B_IO_AGAIN)
                    wait_one(&f, &link, E2B_WANT_RECV, 50);
            }
            hang_up(&f, &link, false);
        }
        free(exact);
    }
}

static void test_a_script_that_does_not_fit(void **state)
{
    uint8_t memory[4];
    e2b_memory_script script;
    (void)state;
    e2b_memory_script_init(&script, memory, sizeof memory);
    e2b_memory_accept(&script);
    e2b_memory_text(&script, "12");
    assert_true(script.full);
    assert_int_equal(script.length, 1);
    e2b_memory_end(&script);
    assert_int_equal(script.length, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accept_data_end),
        cmocka_unit_test(test_how_connections_begin_and_end),
        cmocka_unit_test(test_used_up),
        cmocka_unit_test(test_would_block),
        cmocka_unit_test(test_sizes_of_calls),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_send_fails_while_the_answer_comes),
        cmocka_unit_test(test_connections_wait_in_parallel),
        cmocka_unit_test(test_wake_ms_cuts_waits),
        cmocka_unit_test(test_after_another_connection),
        cmocka_unit_test(test_request_is_seen_whole),
        cmocka_unit_test(test_early_answers_the_head),
        cmocka_unit_test(test_repeat_gives_gigabytes),
        cmocka_unit_test(test_repeat_whole_connections),
        cmocka_unit_test(test_repeat_of_nothing_ends),
        cmocka_unit_test(test_responder),
        cmocka_unit_test(test_elements_are_used_again),
        cmocka_unit_test(test_the_call_that_fails),
        cmocka_unit_test(test_cancel_at_a_wait),
        cmocka_unit_test(test_random_follows_the_seed),
        cmocka_unit_test(test_trace_is_kept),
        cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_any_bytes_are_a_script),
        cmocka_unit_test(test_a_script_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
