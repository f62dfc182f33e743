#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "check_str.h"
#include "json_documents.h"
#include "wire/reply.h"
#include "wired.h"

static wired w;

static e2b_call ask(const char *body, size_t len, size_t most, bool cut)
{
    char head[100];
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", len + cut);
    wired_reply(&w, head);
    e2b_memory_data(&w.script, body, len);
    e2b_memory_end(&w.script);
    wired_ready(&w, 1, 1024);
    w.port.recv_max = most;
    e2b_call call = wired_call(&w, true);
    assert_int_equal(e2b_call_begin(&call), E2B_OK);
    return call;
}

/* All items as letters. */
static e2b_err items(const char *body, size_t len, size_t most, bool cut, char *out)
{
    e2b_call call = ask(body, len, most, cut);
    e2b_reply reply = {&call, NULL};
    e2b_json_item item;
    e2b_err err;
    while (!(err = e2b_reply_next(&reply, &item)) && item.kind != E2B_JSON_DONE) {
        static const char letters[] = "?{[}kts";
        if (item.kind != E2B_JSON_TEXT || item.last) *out++ = letters[item.kind];
    }
    *out = '\0';
    if (!err) {
        /* Again the same; then it is given back. */
        assert_int_equal(e2b_reply_next(&reply, &item), E2B_OK);
        assert_int_equal(item.kind, E2B_JSON_DONE);
        e2b_call_end(&call);
    } else {
        assert_null(call.conn);
        assert_int_equal(w.client.error.code, err);
        assert_int_equal(w.client.error.http_status, 200);
    }
    wired_done(&w);
    return err;
}

static void documents(void **state)
{
    (void)state;
    static const struct {
        const char *body, *items;
    } rows[] = {
        {"{}", "{}"}, {" [] \r\n", "[}"}, {"[1,\"a\",null]", "[sts}"}, {"{\"a\":{\"b\":[true]},\"c\":\"\"}", "{k{k[s}}kt}"}, {"\"x\"", "t"},
        {"true", "s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t most = 0; most < 12; most++) {
            char found[64];
            assert_int_equal(items(rows[i].body, strlen(rows[i].body), most, false, found), E2B_OK);
            assert_string_equal(found, rows[i].items);
            assert_int_equal(items(rows[i].body, strlen(rows[i].body), most, true, found), E2B_TRUNCATED);
        }
    }
}

static void what_is_no_json(void **state)
{
    (void)state;
    char found[512];
    for (size_t i = 0; i < json_bad_count; i++) {
        if (json_bad[i].len > 400) continue;
        assert_int_equal(items(json_bad[i].text, json_bad[i].len, 0, false, found), E2B_PROTOCOL);
        assert_int_equal(items(json_bad[i].text, json_bad[i].len, 1, false, found), E2B_PROTOCOL);
    }
    static const char *const rows[] = {"", " ", "{", "{\"a\":1", "[1,2", "{} {}", "<html>", "{}\nx"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(items(rows[i], strlen(rows[i]), 0, false, found), E2B_PROTOCOL);
        assert_non_null(strstr(w.client.error.text, "not JSON"));
    }
}

static void captured(void **state)
{
    (void)state;
    static const char body[] = "{\"skip\":{\"m\":{}},\"m\": { \"a\" : [1, {\"b\":\"}\"}] ,\"c\":\"\\\"\" } ,\"after\":[ 2 ]}";
    for (size_t most = 0; most < 10; most++) {
        e2b_call call = ask(body, sizeof body - 1, most, false);
        e2b_reply reply = {&call, NULL};
        e2b_json_item item;
        char object[100], array[100];
        e2b_text text = {object, sizeof object, 0, 0}, list = {array, sizeof array, 0, 0};
        while (!e2b_reply_next(&reply, &item) && item.kind != E2B_JSON_DONE) {
            if (item.depth != 1) continue;
            if (item.kind == E2B_JSON_OBJECT && e2b_json_key_is(&call.conn->reader, "m"))
                assert_int_equal(e2b_reply_capture(&reply, &item, &text), E2B_OK);
            if (item.kind == E2B_JSON_ARRAY) assert_int_equal(e2b_reply_capture(&reply, &item, &list), E2B_OK);
        }
        check_str((e2b_str){object, (size_t)text.total}, str_of("{ \"a\" : [1, {\"b\":\"}\"}] ,\"c\":\"\\\"\" }"));
        check_str((e2b_str){array, (size_t)list.total}, str_of("[ 2 ]"));
        assert_null(reply.capture);
        e2b_call_end(&call);
        wired_done(&w);
    }
}

static void capture_of_what_is_cut(void **state)
{
    (void)state;
    static const char body[] = "{\"m\":{\"a\":1";
    e2b_call call = ask(body, sizeof body - 1, 0, true);
    e2b_reply reply = {&call, NULL};
    e2b_json_item item;
    char object[8];
    e2b_text text = {object, sizeof object, 0, 0};
    for (int i = 0; i < 3; i++) assert_int_equal(e2b_reply_next(&reply, &item), E2B_OK);
    assert_int_equal(e2b_reply_capture(&reply, &item, &text), E2B_TRUNCATED);
    assert_null(call.conn);
    wired_done(&w);
}

/* A string longer than the buffer, and many items, in the same memory. */
static void long_answers(void **state)
{
    (void)state;
    wired_setup(&w);
    e2b_memory_accept(&w.script);
    wired_reply(&w, "HTTP/1.1 200 OK\r\n\r\n[\"");
    e2b_memory_repeat(&w.script, 3000);
    e2b_memory_text(&w.script, "0123456789");
    e2b_memory_repeat_end(&w.script);
    e2b_memory_text(&w.script, "\"");
    e2b_memory_repeat(&w.script, 3000);
    e2b_memory_text(&w.script, ",{\"a\":[1,2,3]}");
    e2b_memory_repeat_end(&w.script);
    e2b_memory_text(&w.script, "]");
    e2b_memory_end(&w.script);
    wired_ready(&w, 1, 1024);
    e2b_call call = wired_call(&w, true);
    assert_int_equal(e2b_call_begin(&call), E2B_OK);
    e2b_reply reply = {&call, NULL};
    e2b_json_item item;
    size_t text = 0, scalars = 0;
    while (!e2b_reply_next(&reply, &item) && item.kind != E2B_JSON_DONE) {
        if (item.kind == E2B_JSON_TEXT) text += item.raw.len;
        scalars += item.kind == E2B_JSON_SCALAR;
    }
    assert_int_equal(item.kind, E2B_JSON_DONE);
    assert_int_equal(text, 30000);
    assert_int_equal(scalars, 9000);
    e2b_call_end(&call);
    wired_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents), cmocka_unit_test(what_is_no_json), cmocka_unit_test(captured),
        cmocka_unit_test(capture_of_what_is_cut), cmocka_unit_test(long_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
