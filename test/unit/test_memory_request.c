/* Requests are seen when they are whole, and a responder is asked about them. */
#include "scripted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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
            scripted f;
            scripted_setup(&f);
            e2b_memory_accept(&f.script);
            e2b_memory_request(&f.script);
            e2b_memory_text(&f.script, "reply");
            e2b_memory_request(&f.script);
            e2b_memory_end(&f.script);
            scripted_ready(&f);
            e2b_link link = scripted_dial(&f);
            for (size_t at = 0; at < length; at += step) {
                size_t part = length - at < step ? length - at : step;
                scripted_expect_answer(&f, &link, E2B_IO_AGAIN);
                assert_int_equal(f.port.port.send(&f.port, &link, requests[i] + at, part), part);
            }
            assert_int_equal(f.connections[0].requests, 1);
            scripted_expect(&f, &link, "reply");
            scripted_expect_answer(&f, &link, E2B_IO_AGAIN);
            assert_int_equal(scripted_give(&f, &link, requests[0]), strlen(requests[0]));
            scripted_expect_answer(&f, &link, E2B_IO_END);
        }
    }
}

static void test_early_answers_the_head(void **state)
{
    scripted f;
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_early(&f.script);
    e2b_memory_text(&f.script, "100");
    e2b_memory_request(&f.script);
    e2b_memory_text(&f.script, "200");
    e2b_memory_early(&f.script);
    e2b_memory_text(&f.script, "413");
    scripted_ready(&f);
    e2b_link link = scripted_dial(&f);
    assert_int_equal(scripted_give(&f, &link, "PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r"), 36);
    scripted_expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(scripted_give(&f, &link, "\n"), 1);
    scripted_expect(&f, &link, "100");
    scripted_expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(scripted_give(&f, &link, "abc"), 3);
    scripted_expect(&f, &link, "200");
    scripted_expect_answer(&f, &link, E2B_IO_AGAIN);
    assert_int_equal(scripted_give(&f, &link, requests[0]), strlen(requests[0]));
    scripted_expect(&f, &link, "413");
}

/* ---- The responder --------------------------------------------------------------- */

static int echo(void *context, const e2b_memory_request_seen *seen, e2b_memory_script *reply)
{
    int *calls = context;
    char label[] = {(char)('0' + seen->connection), (char)('0' + seen->number), ':'};
    assert_false(seen->cut);
    assert_memory_equal(seen->head.ptr, seen->number == 1 ? "POST /2" : "POST / ", 7);
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
    scripted f;
    int calls = 0;
    (void)state;
    scripted_setup(&f);
    e2b_memory_accept(&f.script);
    e2b_memory_text(&f.script, "first ");
    scripted_ready(&f);
    f.port.respond = echo;
    f.port.respond_context = &calls;
    e2b_link one = scripted_dial(&f), two = scripted_dial(&f);
    const char *request = "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcdPOST";
    scripted_expect(&f, &one, "first ");
    /* Each request is taken alone, the next one once its reply is under way. */
    assert_int_equal(scripted_give(&f, &one, request), strlen(request) - 4);
    assert_int_equal(scripted_give(&f, &two, request), strlen(request) - 4);
    scripted_expect_answer(&f, &one, E2B_IO_AGAIN);
    assert_int_equal(scripted_give(&f, &one, "POST /2 HTTP/1.1\r\nContent-Length: 1\r\n\r\n!"), 40);
    assert_int_equal(scripted_give(&f, &one, request), E2B_IO_AGAIN);
    assert_int_equal(scripted_wait(&f, &one, E2B_WANT_RECV, 100), E2B_WANT_RECV);
    assert_int_equal(f.port.now_ms, 5);
    scripted_expect(&f, &one, "00:abcd");
    assert_int_equal(scripted_wait(&f, &two, E2B_WANT_RECV, 100), E2B_WANT_RECV);
    scripted_expect(&f, &two, "10:abcd");
    assert_int_equal(scripted_wait(&f, &one, E2B_WANT_RECV, 100), E2B_WANT_RECV);
    scripted_expect(&f, &one, "01:!");
    assert_int_equal(scripted_give(&f, &one, "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\ndead"), 42);
    scripted_expect_answer(&f, &one, E2B_IO_RESET);
    assert_int_equal(calls, 3);
    assert_int_equal(f.connections[0].requests, 3);
}

static void test_elements_are_used_again(void **state)
{
    scripted f;
    int calls = 0;
    (void)state;
    scripted_setup(&f);
    scripted_ready(&f);
    f.port.respond = echo;
    f.port.respond_context = &calls;
    e2b_link stays = scripted_dial(&f);
    for (int i = 1; i < 6; i++) {
        e2b_link link = scripted_dial(&f);
        assert_int_equal(scripted_give(&f, &link, "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"), 39);
        assert_int_equal(f.connections[1].number, i);
        assert_int_equal(f.connections[1].sent_length, 39);
        scripted_hang_up(&f, &link, false);
    }
    assert_int_equal(f.connections[0].number, 0);
    assert_true(f.connections[0].open);
    assert_int_equal(calls, 5);
    scripted_hang_up(&f, &stays, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_is_seen_whole),
        cmocka_unit_test(test_early_answers_the_head),
        cmocka_unit_test(test_responder),
        cmocka_unit_test(test_elements_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
