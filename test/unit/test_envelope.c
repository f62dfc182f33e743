#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "incremental.h"
#include "wire/envelope.h"

typedef struct envelope_state {
    e2b_envelope envelope;
    bool bad;
} envelope_state;

static void reset(void *state, const void *context)
{
    (void)state;
    (void)context;
}

static int feed(void *state, char *in, size_t len, size_t *used, incremental_log *log)
{
    envelope_state *s = state;
    e2b_envelope *envelope = &s->envelope;
    *used = 0;
    if (s->bad) return INCREMENTAL_BAD;
    while (*used < len || (e2b_envelope_open(envelope) && envelope->left == 0)) {
        if (!e2b_envelope_open(envelope)) {
            size_t part;
            e2b_err err = e2b_envelope_read(envelope, (uint8_t *)in + *used, len - *used, &part);
            *used += part;
            if (err) {
                log_event(log, "%s", e2b_err_name(err));
                s->bad = true;
                return INCREMENTAL_BAD;
            }
            if (e2b_envelope_open(envelope))
                log_event(log, "%s of %lu", e2b_envelope_is_last(envelope) ? "last" : "message", (unsigned long)envelope->left);
            else
                assert_int_equal(*used, len);
        }
        if (!e2b_envelope_open(envelope)) continue;
        size_t part = len - *used < envelope->left ? len - *used : envelope->left;
        log_data(log, "payload", in + *used, part);
        e2b_envelope_take(envelope, part);
        *used += part;
        if (envelope->left == 0) {
            log_event(log, "end");
            e2b_envelope_close(envelope);
        }
    }
    return INCREMENTAL_MORE;
}

static bool end(void *state, incremental_log *log)
{
    envelope_state *s = state;
    (void)log;
    return !s->bad && s->envelope.have == 0 && e2b_envelope_is_last(&s->envelope);
}

static bool is_whole(const void *context, const char *in, size_t len)
{
    (void)in;
    return context && len >= *(const size_t *)context;
}

static const char *run(const void *in, size_t len, const size_t *whole)
{
    incremental_parser parser = {sizeof(envelope_state), reset, feed, end, is_whole, whole};
    return incremental_check(&parser, in, len);
}

#define CHECK(in, expected) assert_string_equal(run(in, sizeof(in) - 1, NULL), expected)

static void messages(void **state)
{
    (void)state;
    CHECK("\0\0\0\0\2{}\2\0\0\0\2{}", "message of 2\npayload 7b7d\nend\nlast of 2\npayload 7b7d\nend\nwhole\n");
    CHECK("\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0", "message of 0\nend\nmessage of 0\nend\nlast of 0\nend\nwhole\n");
    CHECK("\0\0\0\0\1a\0\0\0\0\1b", "message of 1\npayload 61\nend\nmessage of 1\npayload 62\nend\ncut off\n");
    CHECK("\0\1\2\3\4a", "message of 16909060\npayload 61\ncut off\n");
    CHECK("\0\377\377\377\377a", "message of 4294967295\npayload 61\ncut off\n");
    CHECK("\2\200\0\0\0", "last of 2147483648\ncut off\n");
    CHECK("", "cut off\n");
}

static void refused(void **state)
{
    (void)state;
    CHECK("\1\0\0\0\2{}", "E2B_COMPRESSED\nbad\n");
    CHECK("\3\0\0\0\2{}", "E2B_COMPRESSED\nbad\n");
    CHECK("\4\0\0\0\2{}", "E2B_PROTOCOL\nbad\n");
    CHECK("\200\0\0\0\2{}", "E2B_PROTOCOL\nbad\n");
    CHECK("\6\0\0\0\2{}", "E2B_PROTOCOL\nbad\n");
    CHECK("{\"code\":1}", "E2B_PROTOCOL\nbad\n");
    CHECK("\0\0\0\0\1a\1", "message of 1\npayload 61\nend\nE2B_COMPRESSED\nbad\n");
    /* Nothing may follow the last. */
    const char after[] = "\2\0\0\0\0\0\0\0\0\1a";
    incremental_parser parser = {sizeof(envelope_state), reset, feed, end, is_whole, NULL};
    assert_string_equal(incremental_run(&parser, after, sizeof after - 1), "last of 0\nend\nE2B_PROTOCOL\nbad\n");
}

/* All strings of flags and lengths that matter, against the format read at once. */
static void every_short_input(void **state)
{
    (void)state;
    static const uint8_t alphabet[] = {0, 1, 2, 0x80};
    incremental_parser parser = {sizeof(envelope_state), reset, feed, end, is_whole, NULL};
    enum { LENGTH = 8 };
    for (uint32_t n = 0; n < 1u << (2 * LENGTH); n++) {
        uint8_t in[LENGTH];
        for (size_t i = 0; i < LENGTH; i++) in[i] = alphabet[n >> (2 * i) & 3];
        const char *verdict = "cut off";
        bool last = false;
        for (size_t at = 0; at < LENGTH;) {
            if (last || (in[at] != 0 && in[at] != 2)) {
                verdict = "bad";
                break;
            }
            last = in[at] == 2;
            if (LENGTH - at < 5) {
                last = false;
                break;
            }
            uint64_t length = (uint64_t)in[at + 1] << 24 | (uint64_t)in[at + 2] << 16 | (uint64_t)in[at + 3] << 8 | in[at + 4];
            if (length > LENGTH - at - 5) {
                last = false;
                break;
            }
            at += 5 + (size_t)length;
        }
        if (last && strcmp(verdict, "bad") != 0) verdict = "whole";
        const char *log = incremental_run(&parser, in, LENGTH);
        size_t len = strlen(verdict);
        assert_true(strlen(log) > len && strncmp(log + strlen(log) - 1 - len, verdict, len) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages), cmocka_unit_test(refused), cmocka_unit_test(every_short_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
