/* The client against the recorded replies of the real daemon that are no
 * streams: unary calls, and the input of a process beside its stream. With
 * E2B_TEST_SAMPLED cuts take the smallest slot only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recorded_call.h"
#include "recorded_oracle.h"
#include "recorded_stream.h"

static recorded_stream stream;
static recorded_replies replies;

static int open_replies(void **state)
{
    (void)state;
    replies = recorded_open("envd");
    return 0;
}

/* ---- Unary calls ------------------------------------------------------------------ */

static void every_way(const char *call)
{
    size_t runs = 0, of = 0;
    for (size_t i = 0; i < replies.count; i++) {
        if (!recorded_is_call(&replies.at[i], call)) continue;
        runs += recorded_call_every_way(&stream.run, &replies.at[i]);
        of++;
    }
    assert_true(of > 0);
    print_message("# %s: %zu replies, %zu runs\n", call, of, runs);
}

static void health(void **state) { (void)state; every_way("health"); }
static void processes(void **state) { (void)state; every_way("processes"); }
static void signals(void **state) { (void)state; every_way("signal"); }

/* Three calls in turn over one link, as they were recorded. */
static void one_connection(void **state)
{
    const recorded_reply *first = recorded_find(replies, "one-connection#1");
    const recorded_reply *second = recorded_find(replies, "one-connection#2");
    const recorded_reply *third = recorded_find(replies, "one-connection#3");
    const recorded_reply *const in_turn[] = {first, second, third};
    recorded_run *run = &stream.run;
    e2b_event event;
    (void)state;
    e2b_memory_script_init(&run->script, run->steps, sizeof run->steps);
    e2b_memory_accept(&run->script);
    for (int i = 0; i < 3; i++) {
        e2b_memory_request(&run->script);
        e2b_memory_data(&run->script, in_turn[i]->bytes.ptr, in_turn[i]->bytes.len);
    }
    recorded_ready(run, 1024, false);
    recorded_way way = recorded_whole(first, 1024);
    assert_int_equal(recorded_open_stream(&stream, first, NULL), E2B_OK);
    do {
        assert_int_equal(e2b_process_next(&stream.process, &event, 1000), E2B_OK);
        recorded_log_event(&stream.log, &event, first, &way);
    } while (!stream.log.ended);
    assert_int_equal(stream.log.out, first->out.len);
    way = recorded_whole(second, 1024);
    recorded_make_call(run, second, &way);
    assert_int_equal(recorded_open_stream(&stream, third, NULL), third->result);
    assert_int_equal(run->port.opened, 1);
    assert_int_equal(run->port.closes, 0);
    e2b_client_close(&run->client);
}

/* ---- Input ------------------------------------------------------------------------- */

/* The process whose input the replies were recorded for, or one like it: its
 * stream up to the start event, and the rest once the input was answered. */
static void script_beside_stream(const recorded_reply *reply, const recorded_way *way, const recorded_reply *of)
{
    e2b_memory_script *script = &stream.run.script;
    const recorded_reply *first = recorded_find(replies, reply->binary ? "proto-input" : "input");
    e2b_memory_script_init(script, stream.run.steps, sizeof stream.run.steps);
    e2b_memory_accept(script);
    e2b_memory_request(script);
    e2b_memory_data(script, of->bytes.ptr, of->started);
    e2b_memory_after(script, 1, 1);
    e2b_memory_advance(script, 1000);
    e2b_memory_data(script, of->bytes.ptr + of->started, of->bytes.len - of->started);
    e2b_memory_accept(script);
    if (way->kept) {
        e2b_memory_request(script);
        e2b_memory_data(script, first->bytes.ptr, first->bytes.len);
    }
    e2b_memory_request(script);
    recorded_add_pieces(script, reply, way);
    e2b_memory_pass(script, 1);
    recorded_add_ending(script, way->ending);
    /* For a client that would send it again. */
    e2b_memory_accept(script);
    e2b_memory_request(script);
    e2b_memory_data(script, first->bytes.ptr, first->bytes.len);
    recorded_ready(&stream.run, way->slot, of->binary);
    stream.run.port.recv_max = way->most;
}

typedef struct input_log {
    int sent, ended;
    e2b_err code;
    uint64_t taken;
} input_log;

/* To the END of the stream, or until something was sent. */
static void read_on(input_log *input, const recorded_reply *of, const recorded_reply *reply, const recorded_way *way,
                    bool until_sent)
{
    e2b_event event;
    while (!stream.log.ended && !(until_sent && input->sent)) {
        RECORDED_CHECK(e2b_process_next(&stream.process, &event, 10000) == E2B_OK);
        if (event.kind == E2B_EVENT_SENT) {
            input->sent++;
        } else if (event.kind == E2B_EVENT_INPUT_END) {
            input->ended++;
            input->code = event.code;
            input->taken = event.taken;
        } else {
            /* Input fails alone: the stream gives something, and its end, in time. */
            RECORDED_CHECK(recorded_log_event(&stream.log, &event, of, way));
        }
    }
}

static recorded_verdict judge_input(const recorded_reply *reply, const recorded_way *way)
{
    recorded_verdict verdict = recorded_judge(reply, way);
    /* While its stream lives a piece waits for its answer without a limit. */
    if (verdict.err == E2B_REPLY_TIMEOUT) verdict.err = E2B_OK;
    return verdict;
}

static void input_beside_stream(const recorded_reply *reply, const recorded_way *way)
{
    const recorded_reply *of = recorded_find(replies, reply->binary ? "proto-cat-start" : "cat-start");
    bool piece = recorded_is_call(reply, "send"), answered = way->cut >= reply->complete;
    recorded_verdict verdict = judge_input(reply, way);
    input_log input = {0, 0, E2B_OK, 0};
    script_beside_stream(reply, way, of);
    RECORDED_CHECK(recorded_open_stream(&stream, of, &(e2b_process_options){.input = true}) == E2B_OK);
    if (way->kept) {
        RECORDED_CHECK(e2b_process_send(&stream.process, "hi", 2) == E2B_OK);
        read_on(&input, of, reply, way, true);
        RECORDED_CHECK(input.sent == 1 && !stream.log.ended);
        input.sent = 0;
    }
    RECORDED_CHECK((piece ? e2b_process_send(&stream.process, "hi\n", 3) : e2b_process_end_input(&stream.process)) == E2B_OK);
    read_on(&input, of, reply, way, false);
    RECORDED_CHECK(stream.log.out == of->out.len && stream.process.exit_known == E2B_EXIT_CONFIRMED);
    RECORDED_CHECK(input.sent == (piece && answered && !verdict.err));
    RECORDED_CHECK(input.ended == (verdict.err != E2B_OK));
    RECORDED_CHECK(input.code == verdict.err);
    RECORDED_CHECK(input.taken == 0);
    if (verdict.refused) recorded_check_refusal(&stream.run.client.error, reply, way);
    else if (verdict.err) RECORDED_CHECK(e2b_err_may_have_run(input.code));
    /* Nothing is ever sent twice. */
    RECORDED_CHECK(recorded_requests(&stream.run) == 2u + way->kept);
    RECORDED_CHECK(stream.run.port.opened == 2);
    RECORDED_CHECK(e2b_process_send(&stream.process, "x", 1) == (verdict.err ? verdict.err : E2B_STATE));
    e2b_process_close(&stream.process);
    recorded_end(&stream.run, of, way);
}

static void input_every_way(const char *call)
{
    static const size_t slots[] = {1024, 4096, 16384};
    size_t runs = 0, of = 0;
    for (size_t i = 0; i < replies.count; i++) {
        const recorded_reply *reply = &replies.at[i];
        if (!recorded_is_call(reply, call)) continue;
        of++;
        for (size_t slot = 0; slot < sizeof slots / sizeof slots[0]; slot++) {
            recorded_way way = recorded_whole(reply, slots[slot]);
            for (; way.split < way.cut; way.split++, runs++) input_beside_stream(reply, &way);
            way.split = 0;
            way.most = 1;
            input_beside_stream(reply, &way);
            if (recorded_sampled() && slot > 0) continue;
            for (size_t cut = 0; cut <= reply->bytes.len; cut++)
                for (int ending = 0; ending < 2 * RECORDED_ENDINGS; ending++, runs++)
                    input_beside_stream(reply, &(recorded_way){cut, 0, 0, ending / 2, slots[slot], ending % 2 != 0});
        }
    }
    assert_true(of > 0);
    print_message("# %s: %zu replies, %zu runs\n", call, of, runs);
}

static void send_input(void **state) { (void)state; input_every_way("send"); }
static void end_input(void **state) { (void)state; input_every_way("end-input"); }

/* Each reply is of a call that some test here, or of streams, makes. */
static void every_call_is_made(void **state)
{
    static const char *const calls[] = {"health", "processes", "signal", "send", "end-input", "start", "process-connect"};
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
        cmocka_unit_test(health), cmocka_unit_test(processes), cmocka_unit_test(signals),
        cmocka_unit_test(one_connection), cmocka_unit_test(send_input), cmocka_unit_test(end_input),
        cmocka_unit_test(every_call_is_made),
    };
    return cmocka_run_group_tests_name("envd recordings", tests, open_replies, NULL);
}
