#include "process_messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "envd/process_reader.h"
#include "incremental.h"
#include "wire/envelope.h"

static uint8_t stream[1 << 17];
static size_t stream_len;

typedef struct reading {
    e2b_envelope envelope;
    e2b_process_reader reader;
    bool bad, started, ended;
} reading;

static void reset(void *state, const void *codec)
{
    e2b_process_reader_start(&((reading *)state)->reader, *(const uint8_t *)codec);
}

static void log_message(reading *r, incremental_log *log)
{
    const e2b_process_reader *reader = &r->reader;
    if (reader->started && !r->started) log_event(log, "start %lu", (unsigned long)reader->pid);
    if (reader->ended && !r->ended)
        log_event(log, "end %ld %s '%.*s'", (long)reader->exit_code, reader->exited ? "exited" : "killed",
                  (int)reader->status_len, reader->status);
    r->started = reader->started;
    r->ended = reader->ended;
}

/* Uses up part of a message's payload. */
static bool take_payload(reading *r, uint8_t *in, size_t len, size_t *used, incremental_log *log)
{
    int32_t kind = 0;
    e2b_str data = {NULL, 0};
    if (len > r->envelope.left) len = r->envelope.left;
    int32_t found = e2b_process_read(&r->reader, in, len, used, &kind, &data);
    assert_true(*used <= len);
    if (found == E2B_READ_BAD) {
        size_t again = 1;
        assert_int_equal(e2b_process_read(&r->reader, in, len, &again, &kind, &data), E2B_READ_BAD);
        assert_int_equal(again, 0);
        return false;
    }
    if (found == E2B_READ_DATA) {
        assert_true(data.len > 0 && (const uint8_t *)data.ptr >= in - 3 && (const uint8_t *)data.ptr + data.len <= in + len);
        log_data(log, kind == E2B_EVENT_OUT ? "out" : kind == E2B_EVENT_ERR ? "err" : "pty", data.ptr, data.len);
    } else {
        assert_int_equal(*used, len);
    }
    e2b_envelope_take(&r->envelope, *used);
    if (r->envelope.left) return true;
    e2b_envelope_close(&r->envelope);
    if (!e2b_process_message_end(&r->reader)) return false;
    log_message(r, log);
    return true;
}

static bool take_all(reading *r, uint8_t *in, size_t len, size_t *used, incremental_log *log)
{
    while (*used < len || (e2b_envelope_open(&r->envelope) && !r->envelope.left)) {
        size_t part = 0;
        if (!e2b_envelope_open(&r->envelope)) {
            assert_int_equal(e2b_envelope_read(&r->envelope, in + *used, len - *used, &part), E2B_OK);
            *used += part;
            continue;
        }
        if (!take_payload(r, in + *used, len - *used, &part, log)) return false;
        *used += part;
    }
    return true;
}

/* The reader writes to its input and up to three bytes before it: a copy of
 * just that size. */
static int feed(void *state, char *in, size_t len, size_t *used, incremental_log *log)
{
    reading *r = state;
    *used = 0;
    if (r->bad) return INCREMENTAL_BAD;
    uint8_t *copy = malloc(len + 3);
    assert_non_null(copy);
    memcpy(copy + 3, in, len);
    r->bad = !take_all(r, copy + 3, len, used, log);
    memset(copy, 0xee, len + 3);
    free(copy);
    return r->bad ? INCREMENTAL_BAD : INCREMENTAL_MORE;
}

static bool end(void *state, incremental_log *log)
{
    (void)log;
    return !((reading *)state)->bad && ((reading *)state)->envelope.have == 0;
}

static bool is_whole(const void *context, const char *in, size_t len)
{
    (void)context;
    size_t at = 0;
    while (len - at >= 5) {
        const uint8_t *prefix = (const uint8_t *)in + at;
        size_t length = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
        if (len - at - 5 < length) return false;
        at += 5 + length;
    }
    return at == len;
}

static void add(const void *bytes, size_t len)
{
    assert_true(stream_len + 5 + len <= sizeof stream);
    const uint8_t prefix[5] = {0, (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len};
    memcpy(stream + stream_len, prefix, 5);
    if (len) memcpy(stream + stream_len + 5, bytes, len);
    stream_len += 5 + len;
}

static const char *check(uint8_t codec)
{
    incremental_parser parser = {sizeof(reading), reset, feed, end, is_whole, &codec};
    return incremental_check(&parser, stream, stream_len);
}

const char *json_messages(const char *first, ...)
{
    va_list arguments;
    va_start(arguments, first);
    stream_len = 0;
    for (const char *message = first; message; message = va_arg(arguments, const char *)) add(message, strlen(message));
    va_end(arguments);
    return check(E2B_CODEC_JSON);
}

const char *json_message(const char *bytes, size_t len)
{
    static const char start[] = "{\"event\":{\"start\":{\"pid\":7}}}";
    stream_len = 0;
    add(start, sizeof start - 1);
    add(bytes, len);
    return check(E2B_CODEC_JSON);
}

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

const char *proto_messages(const char *first, ...)
{
    va_list arguments;
    va_start(arguments, first);
    stream_len = 0;
    for (const char *message = first; message; message = va_arg(arguments, const char *)) {
        uint8_t bytes[4096];
        size_t len = 0;
        for (const char *c = message; *c; c += 2) bytes[len++] = (uint8_t)(digit(c[0]) << 4 | digit(c[1]));
        assert_true(len < sizeof bytes);
        add(bytes, len);
    }
    va_end(arguments);
    return check(E2B_CODEC_PROTO);
}
