/* The client against what the real API server answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recorded_call.h"

static recorded_run run;
static recorded_replies replies;

static int open_replies(void **state)
{
    (void)state;
    replies = recorded_open("control-plane");
    return 0;
}

static void every_way(const char *call)
{
    size_t runs = 0, of = 0;
    for (size_t i = 0; i < replies.count; i++) {
        if (!recorded_is_call(&replies.at[i], call)) continue;
        runs += recorded_call_every_way(&run, &replies.at[i]);
        of++;
    }
    assert_true(of > 0);
    print_message("# %s: %zu replies, %zu runs\n", call, of, runs);
}

#define TEST_OF(name, call) \
    static void name(void **state) \
    { \
        (void)state; \
        every_way(call); \
    }
TEST_OF(create, "create")
TEST_OF(connect_, "connect")
TEST_OF(resume, "resume")
TEST_OF(info, "info")
TEST_OF(list, "list")
TEST_OF(timeout, "timeout")
TEST_OF(pause_, "pause")
TEST_OF(kill_, "kill")
TEST_OF(health, "health")

/* Three calls in turn over one link, as they were recorded. */
static void one_connection(void **state)
{
    static const char *const names[] = {"one-connection#1", "one-connection#2", "one-connection#3"};
    (void)state;
    e2b_memory_script_init(&run.script, run.steps, sizeof run.steps);
    e2b_memory_accept(&run.script);
    for (int i = 0; i < 3; i++) {
        const recorded_reply *reply = recorded_find(replies, names[i]);
        e2b_memory_request(&run.script);
        e2b_memory_data(&run.script, reply->bytes.ptr, reply->bytes.len);
        if (!reply->then.len) continue;
        e2b_memory_request(&run.script);
        e2b_memory_data(&run.script, reply->then.ptr, reply->then.len);
    }
    recorded_ready(&run, 1024, false);
    for (int i = 0; i < 3; i++) {
        const recorded_reply *reply = recorded_find(replies, names[i]);
        recorded_way way = recorded_whole(reply, 1024);
        recorded_make_call(&run, reply, &way);
    }
    assert_int_equal(run.port.opened, 1);
    assert_int_equal(run.port.closes, 0);
    e2b_client_close(&run.client);
}

/* Page after page, each with the token of the one before. */
static void list_of_three_pages(void **state)
{
    static const char *const names[] = {"list-page-1", "list-page-2", "list-empty"};
    static char sent[4096];
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    size_t count = 0, expected = 0;
    (void)state;
    e2b_memory_script_init(&run.script, run.steps, sizeof run.steps);
    e2b_memory_accept(&run.script);
    for (int i = 0; i < 3; i++) {
        const recorded_reply *reply = recorded_find(replies, names[i]);
        e2b_memory_request(&run.script);
        e2b_memory_data(&run.script, reply->bytes.ptr, reply->bytes.len);
        expected += reply->line_count;
    }
    recorded_ready(&run, 1024, false);
    memset(sent, 0, sizeof sent);
    run.connections[0].sent = sent;
    run.connections[0].sent_size = sizeof sent - 1;
    assert_int_equal(e2b_sandbox_list_open(&run.client, &list, &(e2b_list_options){.limit = 2}), E2B_OK);
    for (;; count++) {
        assert_int_equal(e2b_sandbox_list_next(&list, &info), E2B_OK);
        if (!info.id[0]) break;
    }
    e2b_sandbox_list_close(&list);
    assert_int_equal(count, expected);
    assert_int_equal(run.connections[0].requests, 3);
    assert_non_null(strstr(sent, "GET /v2/sandboxes?limit=2 "));
    assert_non_null(strstr(sent, "GET /v2/sandboxes?limit=2&nextToken=MjAyNi0xMS0zMFQyMjoxMTozMS45NTMyNFpfX2lmNHdjZWxjeDMwbnFrN3FpOWh0NA%3D%3D "));
    e2b_client_close(&run.client);
}

static void every_call_is_made(void **state)
{
    static const char *const calls[] = {"create", "connect", "resume", "info", "list", "timeout", "pause", "kill", "health"};
    (void)state;
    for (size_t i = 0; i < replies.count; i++) {
        size_t known = 0;
        for (size_t j = 0; j < sizeof calls / sizeof calls[0]; j++) known += recorded_is_call(&replies.at[i], calls[j]);
        if (!known) fail_msg("%s: no test makes the call %s", replies.at[i].name.ptr, replies.at[i].call.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create), cmocka_unit_test(connect_), cmocka_unit_test(resume), cmocka_unit_test(info),
        cmocka_unit_test(list), cmocka_unit_test(timeout), cmocka_unit_test(pause_), cmocka_unit_test(kill_),
        cmocka_unit_test(health), cmocka_unit_test(one_connection), cmocka_unit_test(list_of_three_pages),
        cmocka_unit_test(every_call_is_made),
    };
    return cmocka_run_group_tests_name("control plane recordings", tests, open_replies, NULL);
}
