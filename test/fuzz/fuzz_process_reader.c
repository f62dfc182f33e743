/* Process events in both codecs: the same output and the same end however the
 * messages are cut, decoded where they lie. Each message is two bytes of
 * length and its payload. */
#include <stdlib.h>
#include <string.h>

#include "envd/process_reader.h"
#include "fuzz.h"

#define BEFORE 3 /* bytes before a piece that a decoder may write to */

typedef struct run {
    fuzz_log streams[4]; /* by kind of event; 0: the rest */
    bool broken;
} run;

static bool feed(e2b_process_reader *reader, const uint8_t *data, size_t length, run *r)
{
    uint8_t *memory = malloc(BEFORE + length);
    FUZZ_CHECK(memory != NULL);
    memset(memory, 0xee, BEFORE);
    memcpy(memory + BEFORE, data, length);
    size_t at = 0;
    int32_t found = E2B_READ_MORE;
    while (at < length && found != E2B_READ_BAD) {
        size_t used;
        int32_t kind = 0;
        e2b_str out = {NULL, 0};
        found = e2b_process_read(reader, memory + BEFORE + at, length - at, &used, &kind, &out);
        FUZZ_CHECK(used <= length - at);
        FUZZ_CHECK(found != E2B_READ_MORE || at + used == length);
        if (found == E2B_READ_DATA) {
            FUZZ_CHECK(kind >= E2B_EVENT_OUT && kind <= E2B_EVENT_PTY && out.len > 0);
            FUZZ_CHECK((const uint8_t *)out.ptr >= memory && (const uint8_t *)out.ptr + out.len <= memory + BEFORE + length);
            FUZZ_CHECK(reader->started && !reader->ended);
            fuzz_log_add(&r->streams[kind], out.ptr, out.len);
        }
        at += used;
    }
    free(memory);
    return found != E2B_READ_BAD;
}

static void run_all(fuzz_bytes input, uint8_t codec, uint32_t cut, run *r)
{
    e2b_process_reader reader;
    memset(r, 0, sizeof *r);
    e2b_process_reader_start(&reader, codec);
    while (input.left >= 2 && !r->broken) {
        size_t left = (size_t)input.at[0] << 8 | input.at[1];
        input.at += 2;
        input.left -= 2;
        if (left > input.left) left = input.left;
        while (left > 0 && !r->broken) {
            size_t length = fuzz_piece(&cut, left);
            r->broken = !feed(&reader, input.at, length, r);
            input.at += length;
            input.left -= length;
            left -= length;
        }
        if (!r->broken) r->broken = !e2b_process_message_end(&reader);
    }
    fuzz_log_number(&r->streams[0], r->broken);
    FUZZ_CHECK(reader.status_len <= sizeof reader.status);
    if (r->broken) return;
    fuzz_log_number(&r->streams[0], reader.pid);
    fuzz_log_number(&r->streams[0], reader.exit_code);
    fuzz_log_number(&r->streams[0], reader.exited);
    fuzz_log_number(&r->streams[0], reader.ended);
    fuzz_log_add(&r->streams[0], reader.status, reader.status_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static run whole, cut;
    fuzz_bytes input = {data, size};
    uint8_t codec = fuzz_byte(&input) & 1, how = fuzz_byte(&input);
    run_all(input, codec, 0, &whole);
    run_all(input, codec, 1u + how, &cut);
    for (size_t i = 0; i < 4; i++) FUZZ_CHECK(fuzz_log_equal(&whole.streams[i], &cut.streams[i]));
    return 0;
}
