/* process_json: process events in JSON, their output as base64 inside. */
#include <string.h>

#include "base/base64.h"
#include "base/json_read.h"
#include "envd/process_reader.h"

/* ---- Keys ------------------------------------------------------------------------ */

static uint8_t member_of(const e2b_json_reader *json)
{
    if (e2b_json_key_is(json, "data")) return E2B_MEMBER_DATA;
    if (e2b_json_key_is(json, "start")) return E2B_MEMBER_START;
    if (e2b_json_key_is(json, "end")) return E2B_MEMBER_END;
    return E2B_MEMBER_OTHER;
}

static uint8_t field_of(const e2b_process_reader *reader)
{
    const e2b_json_reader *json = &reader->as.json;
    switch (reader->member) {
    case E2B_MEMBER_START: return e2b_json_key_is(json, "pid");
    case E2B_MEMBER_DATA:
        if (e2b_json_key_is(json, "stdout")) return E2B_DATA_OUT;
        if (e2b_json_key_is(json, "stderr")) return E2B_DATA_ERR;
        return e2b_json_key_is(json, "pty") ? E2B_DATA_PTY : 0;
    case E2B_MEMBER_END:
        if (e2b_json_key_is(json, "exitCode")) return E2B_END_CODE;
        if (e2b_json_key_is(json, "exited")) return E2B_END_EXITED;
        if (e2b_json_key_is(json, "status")) return E2B_END_STATUS;
        return e2b_json_key_is(json, "error") ? E2B_END_ERROR : 0;
    default: return 0;
    }
}

/* in_event: 1 inside "event", 2 inside a member of it that is known. */
static bool take_key(e2b_process_reader *reader, uint8_t depth)
{
    const e2b_json_reader *json = &reader->as.json;
    if (depth == 1) {
        /* Two events in one message: the last would win, but the first may have been given out. */
        if (reader->member && e2b_json_key_is(json, "event")) return false;
        reader->in_event = e2b_json_key_is(json, "event");
    }
    if (depth == 2 && reader->in_event) {
        reader->in_event = 1;
        reader->field = member_of(json); /* its value decides whether it is there: null is not */
    }
    if (depth == 3 && reader->in_event == 2) {
        reader->field = field_of(reader);
        if (reader->member == E2B_MEMBER_END && reader->field >= E2B_END_STATUS) e2b_process_words_begin(reader, reader->field);
    }
    return true;
}

/* A member's value, or that of a field within it. */
static bool take_object(e2b_process_reader *reader, const e2b_json_item *item)
{
    if (item->depth == 0) return item->kind == E2B_JSON_OBJECT;
    if (item->depth == 1) return !reader->in_event || item->kind == E2B_JSON_OBJECT;
    if (item->depth == 2 && reader->in_event) {
        uint8_t member = reader->field;
        if (member == E2B_MEMBER_OTHER) return true;
        if (item->kind != E2B_JSON_OBJECT) return false;
        reader->in_event = 2;
        return e2b_process_member(reader, member);
    }
    /* A known field of the wrong type. */
    return !(item->depth == 3 && reader->in_event == 2 && reader->field);
}

/* ---- Scalars --------------------------------------------------------------------- */

static bool take_number(e2b_process_reader *reader, int64_t number)
{
    if (reader->member == E2B_MEMBER_START) {
        reader->pid = number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
        return reader->pid != 0;
    }
    if (reader->member != E2B_MEMBER_END || reader->field != E2B_END_CODE) return false;
    reader->exit_code = (int32_t)number;
    return number >= INT32_MIN && number <= INT32_MAX;
}

static bool take_scalar(e2b_process_reader *reader, uint8_t depth)
{
    const e2b_json_reader *json = &reader->as.json;
    int64_t number;
    bool truth;
    if (e2b_json_is_null(json)) return depth > 0;
    if (depth == 0) return false;
    if (depth == 1) return !reader->in_event;
    if (depth == 2) return !reader->in_event || reader->field == E2B_MEMBER_OTHER;
    if (depth > 3 || reader->in_event != 2 || !reader->field) return true;
    if (reader->member == E2B_MEMBER_END && reader->field == E2B_END_EXITED) {
        if (!e2b_json_bool(json, &truth)) return false;
        reader->exited = truth;
        return true;
    }
    return e2b_json_int64(json, &number) && take_number(reader, number);
}

/* ---- Strings --------------------------------------------------------------------- */

static size_t ascii_run(const char *text, size_t len)
{
    size_t count = 0;
    while (count < len && (unsigned char)text[count] < 0x80) count++;
    return count;
}

/* Escapes have no business in base64, but some encoders write \/ or \u003d.
 * What they stand for fits where they stood, as long as it is one byte: the
 * last digit of an escape may be all that lies in this piece. False: a bad one;
 * what stood before it is there. */
static bool unescape(e2b_json_reader *json, const e2b_json_item *item, size_t *len)
{
    char *out = (char *)(uintptr_t)item->raw.ptr, part[64] = "";
    size_t done = 0;
    bool good;
    *len = 0;
    do {
        size_t count = item->raw.len - done < sizeof part ? item->raw.len - done : sizeof part;
        e2b_json_item slice = *item;
        e2b_text text = {part, sizeof part, 0, 0};
        slice.raw = (e2b_str){item->raw.ptr + done, count};
        slice.last = item->last && done + count == item->raw.len;
        good = e2b_json_text(json, &slice, &text) && e2b_text_fits(&text);
        size_t stored = e2b_text_stored(&text), ascii = ascii_run(part, stored);
        good = good && ascii == stored;
        memcpy(out + *len, part, ascii);
        *len += ascii;
        done += count;
    } while (good && done < item->raw.len);
    return good;
}

static int32_t give(const e2b_process_reader *reader, const uint8_t *at, size_t len, int32_t *kind, e2b_str *data)
{
    if (len == 0) return E2B_READ_MORE;
    *kind = reader->field == E2B_DATA_OUT ? E2B_EVENT_OUT : reader->field == E2B_DATA_ERR ? E2B_EVENT_ERR : E2B_EVENT_PTY;
    *data = (e2b_str){(const char *)at, len};
    return E2B_READ_DATA;
}

/* Decodes a piece in place. Characters of a group whose rest is still to come
 * are carried over and put before the next piece. What decodes at once needs
 * no look for escapes: a backslash would have stopped it. What came before the
 * first bad character is given, however the input was cut. */
static int32_t decode(e2b_process_reader *reader, e2b_json_item *item, int32_t *kind, e2b_str *data)
{
    e2b_json_reader *json = &reader->as.json;
    uint8_t *at = (uint8_t *)(uintptr_t)item->raw.ptr - reader->carry_len;
    size_t rest = item->raw.len, done = 0, decoded = 0;
    if (reader->padded && rest) return E2B_READ_BAD;
    /* text_state: an escape began in an earlier piece. */
    bool escaped = json->text_state != 0, good = true;
    if (escaped) good = unescape(json, item, &rest);
    memcpy(at, reader->carry, reader->carry_len);
    rest += reader->carry_len;
    if (!escaped) done = e2b_base64_decode_plain((const char *)at, rest & ~(size_t)3, at);
    size_t written = done / 4 * 3;
    rest -= done;
    if (!escaped && rest && memchr(at + done, '\\', rest)) {
        item->raw = (e2b_str){(const char *)at + done, rest};
        good = unescape(json, item, &rest);
    }
    reader->carry_len = item->last ? 0 : (uint8_t)(rest & 3);
    rest -= reader->carry_len;
    memcpy(reader->carry, at + done + rest, reader->carry_len);
    e2b_base64 state;
    memset(&state, 0, sizeof state);
    /* The rest lies behind what was written, and shrinks as it is decoded. */
    if (rest && !e2b_base64_decode(&state, (const char *)at + done, rest, at + written, &decoded)) good = false;
    reader->padded = state.padding != 0;
    reader->broken = !good || !e2b_base64_end(&state);
    int32_t result = give(reader, at, written + decoded, kind, data);
    return result == E2B_READ_MORE && reader->broken ? E2B_READ_BAD : result;
}

static int32_t take_payload(e2b_process_reader *reader, e2b_json_item *item, int32_t *kind, e2b_str *data)
{
    if (reader->seen != (reader->field | 0x80)) {
        if (!e2b_process_payload(reader, reader->field)) return E2B_READ_BAD;
        reader->carry_len = reader->padded = 0;
    }
    /* Marked while its pieces come, so that a second string is told from a second piece. */
    reader->seen = (uint8_t)(item->last ? reader->field : reader->field | 0x80);
    return decode(reader, item, kind, data);
}

static int32_t take_text(e2b_process_reader *reader, e2b_json_item *item, int32_t *kind, e2b_str *data)
{
    char part[sizeof reader->status];
    e2b_text text = {part, sizeof part, 0, 0};
    uint8_t depth = item->depth;
    if (depth == 0 || (depth == 1 && reader->in_event)) return E2B_READ_BAD;
    if (depth == 2 && reader->in_event && reader->field != E2B_MEMBER_OTHER) return E2B_READ_BAD;
    if (depth != 3 || reader->in_event != 2 || !reader->field) return E2B_READ_MORE;
    if (reader->member == E2B_MEMBER_DATA) return take_payload(reader, item, kind, data);
    if (reader->member != E2B_MEMBER_END || (reader->field != E2B_END_STATUS && reader->field != E2B_END_ERROR)) return E2B_READ_BAD;
    if (!e2b_json_text(&reader->as.json, item, &text)) return E2B_READ_BAD;
    e2b_process_words(reader, reader->field, part, e2b_text_stored(&text));
    return E2B_READ_MORE;
}

/* ---- Messages -------------------------------------------------------------------- */

static int32_t take_item(e2b_process_reader *reader, e2b_json_item *item, int32_t *kind, e2b_str *data)
{
    switch (item->kind) {
    case E2B_JSON_KEY: return take_key(reader, item->depth) ? E2B_READ_MORE : E2B_READ_BAD;
    case E2B_JSON_OBJECT:
    case E2B_JSON_ARRAY: return take_object(reader, item) ? E2B_READ_MORE : E2B_READ_BAD;
    case E2B_JSON_SCALAR: return take_scalar(reader, item->depth) ? E2B_READ_MORE : E2B_READ_BAD;
    case E2B_JSON_TEXT: return take_text(reader, item, kind, data);
    default: return E2B_READ_MORE;
    }
}

int32_t e2b_process_read_json(e2b_process_reader *reader, uint8_t *in, size_t len, size_t *used, int32_t *kind, e2b_str *data)
{
    *used = 0;
    while (*used < len) {
        size_t part;
        e2b_json_item item;
        int32_t found = e2b_json_read(&reader->as.json, (const char *)in + *used, len - *used, &part, &item);
        *used += part;
        if (found == E2B_JSON_BAD) return E2B_READ_BAD;
        if (found == E2B_JSON_MORE || found == E2B_JSON_DONE) continue;
        int32_t result = take_item(reader, &item, kind, data);
        if (result != E2B_READ_MORE) return result;
    }
    return E2B_READ_MORE;
}

bool e2b_process_end_json(e2b_process_reader *reader)
{
    size_t used;
    e2b_json_item item;
    /* A bare number would be whole too, but is no message. */
    return e2b_json_read(&reader->as.json, NULL, 0, &used, &item) == E2B_JSON_DONE;
}
