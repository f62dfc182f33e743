/* Blocking, time, order between connections, and repeated blocks. */
#include "scripted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- Blocking, time and order ------------------------------------------------- */

static void test_would_block(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_would_block(&f.script);
    e2b_memory_text(&f.script, "a");
    e2b_memory_would_block(&f.script);
    e2b_memory_would_block(&f.script);
    e2b_memory_text(&f.script, "b");
    scripted_ready(&f);
    e2b_link link = scripted_dial(&f);
    assert_int_equal(scripted_give(&f, &link, "xy"), E2B_IO_AGAIN);
    assert_int_equal(scripted_give(&f, &link, "xy"), 2);
    scripted_expect(&f, &link, "a");
    scripted_expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(scripted_wait(&f, &link, E2B_WANT_RECV, 1000), E2B_WANT_RECV);
    assert_int_equal(f.port.now_ms, 0);
    scripted_expect(&f, &link, "b");
}

static void test_sizes_of_calls(void **state)
{
    scripted f;
    char out[8];
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_text(&f.script, "abcde");
    scripted_ready(&f);
    f.port.recv_max = 2;
    f.port.send_max = 3;
    e2b_link link = scripted_dial(&f);
    assert_int_equal(scripted_take(&f, &link, out, 8), 2);
    assert_int_equal(scripted_take(&f, &link, out, 1), 1);
    assert_int_equal(scripted_take(&f, &link, out, 8), 2);
    assert_int_equal(scripted_give(&f, &link, "12345"), 3);
    assert_memory_equal(f.sent[0], "123", 3);
}

static void test_take(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_take(&f.script, 3);
    e2b_memory_text(&f.script, "a");
    e2b_memory_advance(&f.script, 10);
    e2b_memory_take(&f.script, 1);
    e2b_memory_reset(&f.script);
    scripted_ready(&f);
    e2b_link link = scripted_dial(&f);
    scripted_expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(scripted_give(&f, &link, "12"), 2);
    scripted_expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(scripted_give(&f, &link, "345"), 1);
    assert_int_equal(scripted_give(&f, &link, "45"), E2B_IO_AGAIN);
    assert_int_equal(scripted_wait(&f, &link, E2B_WANT_SEND | E2B_WANT_RECV, 1000), E2B_WANT_RECV);
    scripted_expect(&f, &link, "a");
    assert_int_equal(scripted_give(&f, &link, "45"), E2B_IO_AGAIN);
    assert_int_equal(scripted_wait(&f, &link, E2B_WANT_SEND, 1000), E2B_WANT_SEND);
    assert_int_equal(f.port.now_ms, 10);
    assert_int_equal(scripted_give(&f, &link, "45"), 1);
    assert_int_equal(scripted_give(&f, &link, "5"), E2B_IO_RESET);
    assert_memory_equal(f.sent[0], "1234", 4);
    assert_int_equal(f.connections[0].sent_length, 4);
}

static void test_send_fails_while_the_answer_comes(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_early(&f.script);
    e2b_memory_send_fails(&f.script);
    e2b_memory_text(&f.script, "413");
    scripted_ready(&f);
    e2b_link link = scripted_dial(&f);
    assert_int_equal(scripted_give(&f, &link, "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"), 41);
    assert_int_equal(scripted_give(&f, &link, "def"), E2B_IO_RESET);
    scripted_expect(&f, &link, "413");
}

static void test_connections_wait_in_parallel(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    for (uint32_t i = 0; i < 2; i++) {
        e2b_memory_accept(&f.script);
        e2b_memory_advance(&f.script, 100 + 50 * i);
        e2b_memory_text(&f.script, "x");
    }
    scripted_ready(&f);
    f.port.now_ms = 1000;
    e2b_link one = scripted_dial(&f), two = scripted_dial(&f);
    e2b_wait_item items[2] = {{&two, E2B_WANT_RECV, 0}, {&one, E2B_WANT_RECV, 0}};
    assert_int_equal(scripted_pause(&f, items, 2, 60), E2B_IO_OK);
    assert_int_equal(items[0].ready | items[1].ready, 0);
    assert_int_equal(f.port.now_ms, 1060);
    assert_int_equal(scripted_pause(&f, items, 2, 1000), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 1100);
    assert_int_equal(items[0].ready, 0);
    assert_int_equal(items[1].ready, E2B_WANT_RECV);
    scripted_expect(&f, &one, "x");
    assert_int_equal(scripted_pause(&f, items, 2, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 1150);
    assert_int_equal(items[0].ready, E2B_WANT_RECV);
    scripted_expect(&f, &two, "x");
    /* Nothing is due any more. */
    assert_int_equal(scripted_pause(&f, items, 2, 30), E2B_IO_OK);
    assert_int_equal(f.port.port.now_ms(f.port.port.context), 1180);
    assert_int_equal(scripted_pause(&f, items, 2, UINT32_MAX), E2B_IO_FAILED);
    assert_int_equal(scripted_pause(&f, NULL, 0, 20), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 1200);
    assert_int_equal(f.port.port.unix_time(f.port.port.context), 1700000001);
    f.port.unix_start = -1;
    assert_true(f.port.port.unix_time(f.port.port.context) < 0);
}

static void test_wake_ms_cuts_waits(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    scripted_ready(&f);
    f.port.port.wake_ms = 100;
    assert_int_equal(scripted_pause(&f, NULL, 0, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 100);
}

static void test_after_another_connection(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_after(&f.script, 3, 2);
    e2b_memory_text(&f.script, "stream");
    e2b_memory_accept(&f.script);
    e2b_memory_text(&f.script, "1");
    e2b_memory_pass(&f.script, 3);
    e2b_memory_advance(&f.script, 20);
    e2b_memory_pass(&f.script, 3);
    scripted_ready(&f);
    e2b_link one = scripted_dial(&f), two = scripted_dial(&f);
    e2b_wait_item items[2] = {{&one, E2B_WANT_RECV, 0}, {&two, E2B_WANT_RECV, 0}};
    assert_int_equal(scripted_pause(&f, items, 2, 10), E2B_IO_OK);
    assert_int_equal(items[0].ready, 0);
    scripted_expect(&f, &two, "1");
    scripted_expect_answer(&f, &one, E2B_IO_AGAIN);
    assert_int_equal(scripted_pause(&f, items, 2, 1000), E2B_IO_OK);
    assert_int_equal(f.port.now_ms, 20);
    assert_int_equal(items[0].ready, E2B_WANT_RECV);
    scripted_expect(&f, &one, "stream");
}

/* ---- Repeating ------------------------------------------------------------------ */

static void test_repeat_gives_gigabytes(void **state)
{
    scripted f;
    char block[256], out[65536];
    (void)state;
    scripted_setup(&f);
    memset(block, 'x', sizeof block);
    e2b_memory_accept(&f.script);
    e2b_memory_repeat(&f.script, 1024);
    e2b_memory_repeat(&f.script, 1024);
    e2b_memory_data(&f.script, block, sizeof block);
    e2b_memory_repeat_end(&f.script);
    e2b_memory_text(&f.script, ".");
    e2b_memory_repeat_end(&f.script);
    e2b_memory_end(&f.script);
    scripted_ready(&f);
    e2b_link link = scripted_dial(&f);
    uint64_t total = 0;
    int32_t n;
    while ((n = scripted_take(&f, &link, out, sizeof out)) > 0)
        total += (uint64_t)n;
    assert_int_equal(n, E2B_IO_END);
    assert_true(total == UINT64_C(1024) * (1024 * sizeof block + 1));
}

static void test_repeat_whole_connections(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    e2b_memory_repeat(&f.script, 3);
    e2b_memory_accept(&f.script);
    e2b_memory_repeat(&f.script, UINT32_MAX);
    e2b_memory_text(&f.script, "y\n");
    e2b_memory_repeat_end(&f.script);
    e2b_memory_repeat_end(&f.script);
    e2b_memory_refuse(&f.script);
    scripted_ready(&f);
    f.port.used_up = E2B_MEMORY_END;
    for (int i = 0; i < 3; i++) {
        e2b_link link = scripted_dial(&f);
        for (int k = 0; k < 10; k++)
            scripted_expect(&f, &link, "y\n");
        scripted_hang_up(&f, &link, true);
    }
    e2b_link last = scripted_dial(&f);
    scripted_expect_answer(&f, &last, E2B_IO_CONNECT);
}

static void test_repeat_of_nothing_ends(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    for (int i = 0; i < 3; i++)
        e2b_memory_repeat(&f.script, UINT32_MAX);
    e2b_memory_would_block(&f.script);
    e2b_memory_pass(&f.script, 1);
    e2b_memory_advance(&f.script, 0);
    for (int i = 0; i < 4; i++)
        e2b_memory_repeat_end(&f.script);
    e2b_memory_end(&f.script);
    scripted_ready(&f);
    e2b_link link = scripted_dial(&f);
    assert_int_equal(scripted_wait(&f, &link, E2B_WANT_RECV, 10), E2B_WANT_RECV);
    scripted_expect_answer(&f, &link, E2B_IO_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_would_block),
        cmocka_unit_test(test_sizes_of_calls),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_send_fails_while_the_answer_comes),
        cmocka_unit_test(test_connections_wait_in_parallel),
        cmocka_unit_test(test_wake_ms_cuts_waits),
        cmocka_unit_test(test_after_another_connection),
        cmocka_unit_test(test_repeat_gives_gigabytes),
        cmocka_unit_test(test_repeat_whole_connections),
        cmocka_unit_test(test_repeat_of_nothing_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
