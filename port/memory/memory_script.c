#include "memory_script.h"

#include <string.h>

/* ---- Writing ---------------------------------------------------------------- */

void e2b_memory_script_init(e2b_memory_script *script, void *memory, size_t size)
{
    memset(script, 0, sizeof *script);
    script->memory = memory;
    script->size = size;
}

static size_t put_number(uint8_t *out, uint32_t number)
{
    size_t length = 0;
    while (number > 127) {
        out[length++] = (uint8_t)(number | 128);
        number >>= 7;
    }
    out[length++] = (uint8_t)number;
    return length;
}

static void put(e2b_memory_script *script, const uint8_t *step, size_t length, const void *data, size_t data_length)
{
    size_t room = script->size - script->length;
    if (script->full || length > room || data_length > room - length) {
        script->full = true;
        return;
    }
    memcpy(script->memory + script->length, step, length);
    script->length += length;
    if (data_length > 0) {
        memcpy(script->memory + script->length, data, data_length);
        script->length += data_length;
    }
}

static void put_plain(e2b_memory_script *script, uint8_t kind)
{
    put(script, &kind, 1, NULL, 0);
}

static void put_one(e2b_memory_script *script, uint8_t kind, uint32_t number)
{
    uint8_t step[6];
    step[0] = kind;
    put(script, step, 1 + put_number(step + 1, number), NULL, 0);
}

void e2b_memory_accept(e2b_memory_script *script) { put_plain(script, STEP_ACCEPT); }
void e2b_memory_refuse(e2b_memory_script *script) { put_plain(script, STEP_REFUSE); }
void e2b_memory_hang(e2b_memory_script *script) { put_plain(script, STEP_HANG); }
void e2b_memory_would_block(e2b_memory_script *script) { put_plain(script, STEP_WOULD_BLOCK); }
void e2b_memory_take(e2b_memory_script *script, uint32_t count) { put_one(script, STEP_TAKE, count); }
void e2b_memory_send_fails(e2b_memory_script *script) { put_plain(script, STEP_SEND_FAILS); }
void e2b_memory_advance(e2b_memory_script *script, uint32_t ms) { put_one(script, STEP_ADVANCE, ms); }
void e2b_memory_end(e2b_memory_script *script) { put_plain(script, STEP_END); }
void e2b_memory_end_unclean(e2b_memory_script *script) { put_plain(script, STEP_END_UNCLEAN); }
void e2b_memory_reset(e2b_memory_script *script) { put_plain(script, STEP_RESET); }
void e2b_memory_request(e2b_memory_script *script) { put_plain(script, STEP_REQUEST); }
void e2b_memory_early(e2b_memory_script *script) { put_plain(script, STEP_EARLY); }
void e2b_memory_pass(e2b_memory_script *script, uint32_t point) { put_one(script, STEP_PASS, point); }
void e2b_memory_repeat(e2b_memory_script *script, uint32_t times) { put_one(script, STEP_REPEAT, times); }
void e2b_memory_repeat_end(e2b_memory_script *script) { put_plain(script, STEP_REPEAT_END); }

void e2b_memory_after(e2b_memory_script *script, uint32_t point, uint32_t times)
{
    uint8_t step[11];
    step[0] = STEP_AFTER;
    size_t length = 1 + put_number(step + 1, point);
    length += put_number(step + length, times);
    put(script, step, length, NULL, 0);
}

void e2b_memory_data(e2b_memory_script *script, const void *data, size_t length)
{
    uint8_t step[6];
    if (length > UINT32_MAX) {
        script->full = true;
        return;
    }
    step[0] = STEP_DATA;
    put(script, step, 1 + put_number(step + 1, (uint32_t)length), data, length);
}

void e2b_memory_text(e2b_memory_script *script, const char *text)
{
    e2b_memory_data(script, text, strlen(text));
}

/* ---- Reading ---------------------------------------------------------------- */

static uint32_t get_number(const uint8_t *script, uint32_t length, uint32_t *at)
{
    uint32_t number = 0;
    for (unsigned shift = 0; shift < 35 && *at < length; shift += 7) {
        uint8_t byte = script[(*at)++];
        number |= (uint32_t)(byte & 127u) << shift;
        if (byte < 128)
            break;
    }
    return number;
}

bool e2b_memory_step_read(const uint8_t *script, uint32_t length, uint32_t at, e2b_memory_step *step)
{
    memset(step, 0, sizeof *step);
    if (at >= length)
        return false;
    step->kind = (uint8_t)(script[at++] % STEP_KINDS);
    switch (step->kind) {
    case STEP_DATA:
        step->first = get_number(script, length, &at);
        if (step->first > length - at)
            step->first = length - at;
        break;
    case STEP_TAKE:
    case STEP_ADVANCE:
    case STEP_PASS:
    case STEP_REPEAT:
        step->first = get_number(script, length, &at);
        break;
    case STEP_AFTER:
        step->first = get_number(script, length, &at);
        step->second = get_number(script, length, &at);
        break;
    default:
        break;
    }
    step->body = at;
    step->next = step->kind == STEP_DATA ? at + step->first : at;
    return true;
}

bool e2b_memory_cursor_pass(e2b_memory_cursor *cursor, const e2b_memory_step *step, bool last_round)
{
    unsigned depth = cursor->block_at[0] == 0 ? 0 : cursor->block_at[1] == 0 ? 1 : 2;
    cursor->at = step->next;
    if (step->kind == STEP_REPEAT && depth < 2) {
        cursor->block_at[depth] = step->next;
        cursor->block_left[depth] = step->first > 0 ? step->first - 1 : 0;
    }
    if (step->kind != STEP_REPEAT_END || depth == 0)
        return false;
    if (cursor->block_left[depth - 1] == 0 || last_round) {
        cursor->block_at[depth - 1] = 0;
        return false;
    }
    cursor->block_left[depth - 1]--;
    cursor->at = cursor->block_at[depth - 1];
    return true;
}

static bool begins_connection(uint8_t kind)
{
    return kind == STEP_ACCEPT || kind == STEP_REFUSE || kind == STEP_HANG;
}

static bool has_connection(const uint8_t *script, uint32_t from, uint32_t to)
{
    e2b_memory_step step;
    for (; e2b_memory_step_read(script, to, from, &step); from = step.next) {
        if (begins_connection(step.kind))
            return true;
    }
    return false;
}

bool e2b_memory_cursor_begin(e2b_memory_cursor *cursor, const uint8_t *script, uint32_t length, e2b_memory_step *step)
{
    while (e2b_memory_step_read(script, length, cursor->at, step)) {
        uint32_t block = cursor->block_at[1] != 0 ? cursor->block_at[1] : cursor->block_at[0];
        /* A block of gigabytes that belongs to the connection before is left at once. */
        bool last_round = step->kind == STEP_REPEAT_END && !has_connection(script, block, cursor->at);
        e2b_memory_cursor_pass(cursor, step, last_round);
        if (begins_connection(step->kind))
            return true;
    }
    return false;
}
