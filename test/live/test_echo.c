/* Input and output never block each other: 64 MiB through cat, from one thread,
 * in both codecs, through small slots and large ones. */
#include <stdlib.h>
#include <string.h>

#include "live_client.h"
#include "tally.h"

enum { TOTAL = 64 << 20, PIECE = 1 << 20 };

static uint8_t memory[E2B_CLIENT_MEMORY(2, 64 * 1024)];
static uint8_t *data;

/* No two places of it look alike. */
static void fill_data(void)
{
    uint64_t x = 88172645463325252u;
    data = malloc(TOTAL);
    for (size_t i = 0; i < TOTAL; i += sizeof x) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy(data + i, &x, sizeof x);
    }
}

/* Lends the next piece, or ends the input. */
static e2b_err offer(e2b_process *cat, size_t *offered)
{
    if (*offered == TOTAL) return e2b_process_end_input(cat);
    *offered += PIECE;
    return e2b_process_send(cat, data + *offered - PIECE, PIECE);
}

static void echo(e2b_sandbox *sandbox, const char *name)
{
    static const char *const argv[] = {"cat"};
    tally_case at = {name, 0};
    e2b_process_options options;
    e2b_process cat;
    e2b_event event;
    size_t offered = 0, back = 0, largest = 0;
    memset(&options, 0, sizeof options);
    memset(&event, 0, sizeof event);
    options.input = true;
    e2b_err err = e2b_process_start(sandbox, &cat, argv, 1, &options);
    if (!err) err = offer(&cat, &offered);
    while (!err && event.kind != E2B_EVENT_END && !at.failed) {
        err = e2b_process_next(&cat, &event, E2B_NO_LIMIT);
        if (err) break;
        if (event.kind == E2B_EVENT_SENT) err = offer(&cat, &offered);
        CHECK(&at, event.kind != E2B_EVENT_INPUT_END && event.kind != E2B_EVENT_ERR, "event %d", (int)event.kind);
        if (event.kind != E2B_EVENT_OUT) continue;
        CHECK(&at, back + event.data.len <= TOTAL && memcmp(data + back, event.data.ptr, event.data.len) == 0,
              "other bytes behind %zu", back);
        back += event.data.len;
        if (event.data.len > largest) largest = event.data.len;
    }
    CHECK(&at, !err, "%s: %s", e2b_err_name(err), e2b_reason(sandbox->client, err));
    CHECK(&at, back == TOTAL, "%zu bytes came back", back);
    HOLDS(&at, largest <= sandbox->client->buffer_size);
    HOLDS(&at, event.kind == E2B_EVENT_END && event.exited && event.exit_code == 0);
    e2b_process_close(&cat);
    tally_add(&at);
}

static void with(const char *name, int32_t codec, size_t buffer)
{
    live_client live;
    e2b_sandbox sandbox;
    e2b_client_options options;
    tally_case at = {name, 0};
    memset(&options, 0, sizeof options);
    memset(&sandbox, 0, sizeof sandbox);
    options.codec = codec;
    HOLDS(&at, live_client_open(&live, &options, 2, memory, E2B_CLIENT_MEMORY(2, buffer)));
    if (!at.failed && HOLDS(&at, e2b_sandbox_create(&live.client, &sandbox, NULL) == E2B_OK)) {
        echo(&sandbox, name);
        HOLDS(&at, e2b_sandbox_kill(&sandbox) == E2B_OK);
    }
    live_client_close(&live);
    tally_add(&at);
}

int main(void)
{
    fill_data();
    with("JSON, 4 KiB", E2B_CODEC_JSON, 4 * 1024);
    with("JSON, 64 KiB", E2B_CODEC_JSON, 64 * 1024);
    with("protobuf, 4 KiB", E2B_CODEC_PROTO, 4 * 1024);
    with("protobuf, 64 KiB", E2B_CODEC_PROTO, 64 * 1024);
    free(data);
    return tally_end();
}
