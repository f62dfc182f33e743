/* The JSON readers: the same items however the input is cut, and of the same
 * opinion as a slow recogniser about what is JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/json_value.h"
#include "base/json_write.h"
#include "fuzz.h"
#include "json_reference.h"

/* A string counts once it is whole: how much of a bad one is sound depends on the cuts. */
static void note_text(e2b_json_reader *reader, const e2b_json_item *item, fuzz_log *string, fuzz_log *log)
{
    char out[256];
    size_t done = 0;
    bool sound = true;
    do { /* unescaped is never longer */
        size_t left = item->raw.len - done, part = left < 64 ? left : 64;
        e2b_json_item slice = *item;
        e2b_text text = {out, sizeof out, 0, 0};
        slice.raw = (e2b_str){item->raw.ptr + done, part};
        slice.last = item->last && part == left;
        sound = e2b_json_text(reader, &slice, &text);
        FUZZ_CHECK(e2b_text_fits(&text));
        fuzz_log_add(string, out, e2b_text_stored(&text));
        done += part;
    } while (sound && done < item->raw.len);
    if (!item->last) return;
    fuzz_log_number(log, sound);
    if (sound) fuzz_log_add(log, string->bytes, string->length);
    string->length = 0;
}

static void note_scalar(const e2b_json_reader *reader, fuzz_log *log)
{
    int64_t number;
    bool truth;
    if (e2b_json_int64(reader, &number)) fuzz_log_number(log, number);
    if (e2b_json_bool(reader, &truth)) fuzz_log_number(log, truth);
    if (e2b_json_is_null(reader)) fuzz_log_add(log, "null", 4);
}

static bool read_all(fuzz_bytes input, uint32_t cut, fuzz_log *log)
{
    e2b_json_reader reader;
    static fuzz_log string;
    bool bad = false;
    string.length = 0;
    memset(&reader, 0, sizeof reader);
    log->length = 0;
    while (input.left > 0 && !bad) {
        size_t length = fuzz_piece(&cut, input.left), at = 0;
        uint8_t *piece = fuzz_copy(input.at, length);
        e2b_json_item item;
        int32_t kind;
        do {
            size_t used;
            kind = e2b_json_read(&reader, (const char *)piece + at, length - at, &used, &item);
            FUZZ_CHECK(used <= length - at);
            at += used;
            if (kind == E2B_JSON_TEXT) note_text(&reader, &item, &string, log);
            if (kind == E2B_JSON_SCALAR) note_scalar(&reader, log);
            if (kind == E2B_JSON_KEY) fuzz_log_number(log, e2b_json_key_is(&reader, "a"));
            if (kind != E2B_JSON_TEXT && kind != E2B_JSON_MORE && kind != E2B_JSON_DONE) fuzz_log_number(log, kind);
            bad = kind == E2B_JSON_BAD;
        } while (kind != E2B_JSON_MORE && kind != E2B_JSON_DONE && !bad);
        FUZZ_CHECK(bad || at == length);
        free(piece);
        input.at += length;
        input.left -= length;
    }
    return !bad && e2b_json_finish(&reader);
}

static void read_value(const char *text, size_t length, bool cut, bool valid)
{
    static const char names[4][12] = {"code", "message", "error", "sandboxId"};
    int tokens[E2B_TOKEN_COUNT * 5];
    char out[64];
    e2b_json_value value;
    e2b_err err = e2b_json_parse(&value, tokens, (e2b_str){text, length}, cut);
    if (!cut) FUZZ_CHECK((err == E2B_OK || err == E2B_LIMIT) == valid);
    if (err) return;
    FUZZ_CHECK(value.count <= E2B_TOKEN_COUNT);
    for (size_t i = 0; i < 4; i++) {
        int64_t number;
        e2b_text place = {out, sizeof out, 0, 0};
        size_t object = e2b_json_member(&value, 0, "error"), at = e2b_json_member(&value, i & 1 ? object : 0, names[i]);
        FUZZ_CHECK(at < E2B_TOKEN_COUNT);
        e2b_json_value_text(&value, at, &place);
        e2b_json_value_int64(&value, at, &number);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_log whole, cut;
    fuzz_bytes input = {data, size};
    uint8_t how = fuzz_byte(&input);
    bool valid = read_all(input, 0, &whole);
    FUZZ_CHECK(read_all(input, 1u + how, &cut) == valid);
    FUZZ_CHECK(fuzz_log_equal(&whole, &cut));
    uint8_t *text = fuzz_copy(input.at, input.left);
    FUZZ_CHECK(json_reference((const char *)text, input.left, E2B_JSON_DEPTH, true) == valid);
    read_value((const char *)text, input.left, false, json_reference((const char *)text, input.left, E2B_JSON_DEPTH, false));
    read_value((const char *)text, input.left, true, false);
    free(text);
    return 0;
}
