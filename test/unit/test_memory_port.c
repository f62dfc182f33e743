/* The scripted transport: how connections begin and end, faults, what is kept,
 * and snapshots. */
#include "scripted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- Beginning and ending ---------------------------------------------------- */

static void test_accept_data_end(void **state)
{
    scripted f;
    char out[4];
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_text(&f.script, "hello");
    e2b_memory_data(&f.script, NULL, 0);
    e2b_memory_end(&f.script);
    scripted_ready(&f);
    e2b_link link = scripted_dial(&f);
    assert_int_equal(scripted_take(&f, &link, out, 4), 4);
    assert_memory_equal(out, "hell", 4);
    assert_int_equal(scripted_take(&f, &link, out, 4), 1);
    assert_int_equal(out[0], 'o');
    scripted_expect_answer(&f, &link, E2B_IO_END);
    scripted_expect_answer(&f, &link, E2B_IO_END);
    assert_int_equal(scripted_give(&f, &link, "late"), 4);
    scripted_hang_up(&f, &link, false);
    assert_int_equal(f.connections[0].received, 5);
    assert_int_equal(f.connections[0].closes, 1);
    assert_int_equal(f.connections[0].aborts, 0);
    assert_int_equal(f.port.received, 5);
    assert_int_equal(f.port.sent, 4);
    assert_string_equal(f.connections[0].host, "example.test");
}

static void test_how_connections_begin_and_end(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    e2b_memory_refuse(&f.script);
    e2b_memory_hang(&f.script);
    e2b_memory_text(&f.script, "never seen");
    e2b_memory_accept(&f.script);
    e2b_memory_reset(&f.script);
    e2b_memory_text(&f.script, "never seen");
    e2b_memory_accept(&f.script);
    e2b_memory_end_unclean(&f.script);
    scripted_ready(&f);

    e2b_link refused = scripted_dial(&f), hanging = scripted_dial(&f), reset = scripted_dial(&f), unclean = scripted_dial(&f), beyond = scripted_dial(&f);
    assert_int_equal(scripted_wait(&f, &refused, E2B_WANT_SEND, 5), E2B_WANT_SEND);
    assert_int_equal(scripted_give(&f, &refused, "x"), E2B_IO_CONNECT);
    assert_int_not_equal(refused.error, 0);
    scripted_expect_answer(&f, &refused, E2B_IO_CONNECT);

    assert_int_equal(scripted_give(&f, &hanging, "x"), E2B_IO_AGAIN);
    scripted_expect_answer(&f, &hanging, E2B_IO_AGAIN);
    assert_int_equal(scripted_wait(&f, &hanging, E2B_WANT_SEND | E2B_WANT_RECV, 7), 0);
    assert_int_equal(f.port.now_ms, 7);

    scripted_expect_answer(&f, &reset, E2B_IO_RESET);
    assert_int_not_equal(reset.error, 0);
    assert_int_equal(scripted_give(&f, &reset, "x"), E2B_IO_RESET);
    scripted_expect_answer(&f, &unclean, E2B_IO_END_UNCLEAN);
    assert_int_equal(scripted_give(&f, &beyond, "x"), 1);
    scripted_expect_answer(&f, &beyond, E2B_IO_AGAIN);
    scripted_hang_up(&f, &reset, true);
    assert_int_equal(f.port.opened, 5);
    assert_int_equal(f.port.closes, 1);
    assert_int_equal(f.port.aborts, 1);
}

static void test_used_up(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    scripted_ready(&f);
    f.port.used_up = E2B_MEMORY_REFUSE;
    e2b_link first = scripted_dial(&f), second = scripted_dial(&f);
    scripted_expect_answer(&f, &first, E2B_IO_AGAIN);
    scripted_expect_answer(&f, &second, E2B_IO_CONNECT);

    scripted_ready(&f);
    f.port.used_up = E2B_MEMORY_END;
    first = scripted_dial(&f);
    second = scripted_dial(&f);
    scripted_expect_answer(&f, &first, E2B_IO_END);
    scripted_expect_answer(&f, &second, E2B_IO_END);

    e2b_memory_open(&f.port, NULL, 0);
    first = scripted_dial(&f);
    scripted_expect_answer(&f, &first, E2B_IO_AGAIN);
}

/* ---- Faults, randomness, trace ----------------------------------------------------- */

static void test_the_call_that_fails(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 5; nth++) {
        scripted f;
        char out[8];
        e2b_link link = {0};
        e2b_target target = {0};
        int32_t answers[5];
        scripted_setup(&f);
        e2b_memory_accept(&f.script);
        e2b_memory_text(&f.script, "data");
        scripted_ready(&f);
        f.port.fail_call = nth;
        f.port.fail_outcome = E2B_IO_FAILED;
        answers[0] = f.port.port.open(&f.port, &link, &target);
        answers[1] = scripted_give(&f, &link, "x");
        e2b_wait_item item = {&link, E2B_WANT_RECV, 0};
        answers[2] = scripted_pause(&f, &item, 1, 0);
        answers[3] = scripted_take(&f, &link, out, 2);
        answers[4] = f.port.port.random(&f.port, out, 1);
        assert_int_equal(answers[nth - 1], E2B_IO_FAILED);
        /* A connection that failed stays failed. */
        if (nth != 1)
            assert_int_equal(scripted_take(&f, &link, out, 2) == E2B_IO_FAILED, nth == 2 || nth == 4);
        assert_true(f.port.calls >= 5);
    }
}

static void test_cancel_at_a_wait(void **state)
{
    scripted f;
    volatile int cancel = 0;
    (void)state;
    scripted_setup(&f);
    scripted_ready(&f);
    f.port.cancel_wait = 2;
    f.port.cancel = &cancel;
    assert_int_equal(scripted_pause(&f, NULL, 0, 10), E2B_IO_OK);
    assert_int_equal(cancel, 0);
    assert_int_equal(scripted_pause(&f, NULL, 0, 10), E2B_IO_OK);
    assert_int_equal(cancel, 1);
    assert_int_equal(f.port.now_ms, 10);
    assert_int_equal(f.port.waits, 2);
}

static void test_random_follows_the_seed(void **state)
{
    scripted f;
    uint8_t one[32], two[32], other[32];
    (void)state;
    scripted_setup(&f);
    scripted_ready(&f);
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
    scripted f;
    char lines[8];
    (void)state;
    scripted_setup(&f);
    scripted_ready(&f);
    f.port.trace = lines;
    f.port.trace_size = sizeof lines;
    f.port.port.trace(&f.port, "one", 3);
    f.port.port.trace(&f.port, "second", 6);
    assert_memory_equal(lines, "one\nseco", 8);
    assert_int_equal(f.port.trace_length, 11);
}

/* ---- Snapshots ---------------------------------------------------------------- */

/* Everything a run depends on, as the header says. */
typedef struct saved {
    e2b_memory_port port;
    e2b_memory_connection connections[2];
    uint8_t reply[2][512];
    e2b_link link;
} saved;

static size_t run_on(scripted *f, e2b_link *link, char *out, size_t size)
{
    size_t got = 0;
    for (int i = 0; i < 100 && got < size; i++) {
        int32_t n = scripted_take(f, link, out + got, 1);
        if (n == E2B_IO_AGAIN)
            scripted_wait(f, link, E2B_WANT_RECV, 3);
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

static int answer(void *context, const e2b_memory_request_seen *seen, e2b_memory_script *reply)
{
    (void)context;
    e2b_memory_advance(reply, 5);
    e2b_memory_data(reply, seen->body.ptr, seen->body.len);
    e2b_memory_text(reply, " was said");
    return 0;
}

static void test_snapshot(void **state)
{
    (void)state;
    for (int at = 0; at < 20; at++) {
        scripted f;
        char byte, first[256], second[256];
        scripted_setup(&f);
        e2b_memory_accept(&f.script);
        e2b_memory_text(&f.script, "abc");
        e2b_memory_repeat(&f.script, 3);
        e2b_memory_advance(&f.script, 2);
        e2b_memory_text(&f.script, "de");
        e2b_memory_repeat_end(&f.script);
        scripted_ready(&f);
        f.port.respond = answer;
        e2b_link link = scripted_dial(&f);
        assert_int_equal(scripted_give(&f, &link, "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"), 39);
        for (int i = 0; i < at; i++) {
            if (scripted_take(&f, &link, &byte, 1) == E2B_IO_AGAIN)
                scripted_wait(&f, &link, E2B_WANT_RECV, 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accept_data_end),
        cmocka_unit_test(test_how_connections_begin_and_end),
        cmocka_unit_test(test_used_up),
        cmocka_unit_test(test_the_call_that_fails),
        cmocka_unit_test(test_cancel_at_a_wait),
        cmocka_unit_test(test_random_follows_the_seed),
        cmocka_unit_test(test_trace_is_kept),
        cmocka_unit_test(test_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
