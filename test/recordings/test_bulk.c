/* The two long streams of the real daemon, in both codecs: events larger than
 * every buffer. A quarter of a million places each, so that with
 * E2B_TEST_SAMPLED about one in 65 is tried, by a fixed seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recorded_call.h"
#include "recorded_stream.h"

/* What one receive takes: a buffer without the room that is kept free in it. */
#define RECEIVE(slot) ((slot) - 8u)

static recorded_stream stream;
static recorded_replies replies;

static int open_replies(void **state)
{
    (void)state;
    replies = recorded_open("envd");
    return 0;
}

static void play(const char *name)
{
    static const size_t slots[] = {1024, 4096, 16384};
    const recorded_reply *reply = recorded_find(replies, name);
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        recorded_way way = recorded_whole(reply, slots[i]);
        recorded_play(&stream, reply, &way);
        recorded_play_run(&stream, reply, &way);
        for (way.most = 1; way.most < 5000; way.most = way.most * 3 + 1) recorded_play(&stream, reply, &way);
        way.most = 0;
        for (way.split = 1; way.split < reply->bytes.len; way.split += 997) recorded_play(&stream, reply, &way);
    }
}

static void cut(const char *name)
{
    const recorded_reply *reply = recorded_find(replies, name);
    size_t runs = recorded_cut_rest(&stream, reply, 4096, RECEIVE(4096), 0);
    runs += recorded_cut_rest(&stream, reply, 1024, 16, 1);
    print_message("# %s: %zu runs\n", name, runs);
}

static void split(const char *name)
{
    print_message("# %s: %zu runs\n", name, recorded_split(&stream, recorded_find(replies, name), 16384, RECEIVE(16384)));
}

#define JSON "start-bulk-events"
#define BINARY "proto-start-bulk-events"
static void json_in_pieces(void **state) { (void)state; play(JSON); }
static void binary_in_pieces(void **state) { (void)state; play(BINARY); }
static void json_cut(void **state) { (void)state; cut(JSON); }
static void binary_cut(void **state) { (void)state; cut(BINARY); }
static void json_split(void **state) { (void)state; split(JSON); }
static void binary_split(void **state) { (void)state; split(BINARY); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_in_pieces), cmocka_unit_test(binary_in_pieces), cmocka_unit_test(json_cut),
        cmocka_unit_test(binary_cut), cmocka_unit_test(json_split), cmocka_unit_test(binary_split),
    };
    return cmocka_run_group_tests_name("bulk recordings", tests, open_replies, NULL);
}
