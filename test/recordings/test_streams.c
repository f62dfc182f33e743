/* The client against the recorded process streams of the real daemon, short
 * ones; test_bulk.c has the long ones. With E2B_TEST_SAMPLED the smallest slot
 * stands for all, except for whole streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recorded_stream.h"

#define LONGEST 4096u

static const size_t slots[] = {1024, 4096, 16384};
#define SLOTS (sizeof slots / sizeof slots[0])

static recorded_stream stream;
static recorded_replies replies;

static int open_replies(void **state)
{
    (void)state;
    replies = recorded_open("envd");
    return 0;
}

typedef size_t run_reply(const recorded_reply *reply, size_t slot);

static size_t play_whole(const recorded_reply *reply, size_t slot);

static void each(const char *what, run_reply *run)
{
    size_t slots_tried = recorded_sampled() && run != play_whole ? 1 : SLOTS;
    size_t runs = 0, of = 0;
    for (size_t i = 0; i < replies.count; i++) {
        const recorded_reply *reply = &replies.at[i];
        bool opens = recorded_is_call(reply, "start") || recorded_is_call(reply, "process-connect");
        if (!opens || reply->bytes.len > LONGEST) continue;
        for (size_t slot = 0; slot < slots_tried; slot++) runs += run(reply, slots[slot]);
        of++;
    }
    assert_true(of > 50);
    print_message("# %s: %zu replies, %zu runs\n", what, of, runs);
}

static recorded_way whole(const recorded_reply *reply, size_t slot)
{
    recorded_way way = recorded_whole(reply, slot);
    /* One that has no end was ended by its link. */
    if (reply->complete == RECORDED_NEVER) way.ending = RECORDED_CLEAN;
    return way;
}

static size_t play_whole(const recorded_reply *reply, size_t slot)
{
    recorded_way way = whole(reply, slot);
    recorded_play(&stream, reply, &way);
    way.kept = true;
    recorded_play(&stream, reply, &way);
    return 2;
}

static size_t play_bytes(const recorded_reply *reply, size_t slot)
{
    size_t runs = 0;
    recorded_way way = whole(reply, slot);
    for (way.most = 1; way.most < 20; way.most++, runs++) recorded_play(&stream, reply, &way);
    return runs;
}

static size_t play_splits(const recorded_reply *reply, size_t slot)
{
    return recorded_split(&stream, reply, slot, LONGEST);
}

static size_t cut_whole(const recorded_reply *reply, size_t slot)
{
    return recorded_cut_start(&stream, reply, slot) + recorded_cut_rest(&stream, reply, slot, LONGEST, 0);
}

static size_t cut_bytes(const recorded_reply *reply, size_t slot)
{
    return recorded_cut_rest(&stream, reply, slot, 16, 1);
}

static size_t run_every_way(const recorded_reply *reply, size_t slot)
{
    size_t runs = 0;
    recorded_way way = whole(reply, slot);
    /* The buffers of slots are the streams' own test. */
    if (recorded_is_call(reply, "process-connect") || slot != slots[0]) return 0;
    for (way.split = 0; way.split < way.cut; way.split++, runs++) recorded_play_run(&stream, reply, &way);
    for (size_t cut = 0; cut <= reply->bytes.len; cut++)
        for (int ending = 0; ending < RECORDED_ENDINGS; ending++, runs++)
            recorded_play_run(&stream, reply, &(recorded_way){cut, 0, 0, ending, slot, false});
    return runs;
}

static void whole_streams(void **state) { (void)state; each("whole", play_whole); }
static void byte_by_byte(void **state) { (void)state; each("byte by byte", play_bytes); }
static void split_in_two(void **state) { (void)state; each("split in two", play_splits); }
static void cut(void **state) { (void)state; each("cut", cut_whole); }
static void cut_byte_by_byte(void **state) { (void)state; each("cut, byte by byte", cut_bytes); }
static void run(void **state) { (void)state; each("e2b_run", run_every_way); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_streams), cmocka_unit_test(byte_by_byte), cmocka_unit_test(split_in_two),
        cmocka_unit_test(cut), cmocka_unit_test(cut_byte_by_byte), cmocka_unit_test(run),
    };
    return cmocka_run_group_tests_name("stream recordings", tests, open_replies, NULL);
}
