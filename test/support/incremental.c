/* For MAP_ANONYMOUS. */
#define _DEFAULT_SOURCE
#include "incremental.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct incremental_log {
    char *text;
    size_t len, size;
    char data_name[32]; /* of the data entry that is still open, or "" */
};

static void log_append(incremental_log *log, const char *bytes, size_t len)
{
    if (log->size - log->len <= len) {
        log->size = (log->len + len + 1) * 2;
        log->text = realloc(log->text, log->size);
        assert_non_null(log->text);
    }
    memcpy(log->text + log->len, bytes, len);
    log->len += len;
    log->text[log->len] = '\0';
}

static void log_reset(incremental_log *log)
{
    log->len = 0;
    log->data_name[0] = '\0';
    log_append(log, "", 0);
}

static void log_close_data(incremental_log *log)
{
    if (log->data_name[0] != '\0') {
        log_append(log, "\n", 1);
        log->data_name[0] = '\0';
    }
}

void log_event(incremental_log *log, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert_true(len >= 0 && (size_t)len < sizeof line);
    log_close_data(log);
    log_append(log, line, (size_t)len);
    log_append(log, "\n", 1);
}

void log_data(incremental_log *log, const char *name, const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *at = bytes;
    if (len == 0) {
        return;
    }
    if (strcmp(log->data_name, name) != 0) {
        log_close_data(log);
        assert_true(strlen(name) < sizeof log->data_name);
        memcpy(log->data_name, name, strlen(name) + 1);
        log_append(log, name, strlen(name));
        log_append(log, " ", 1);
    }
    while (len > 0) {
        char hex[1024];
        size_t count = len < sizeof hex / 2 ? len : sizeof hex / 2;
        for (size_t i = 0; i < count; i++) {
            hex[2 * i] = digits[at[i] >> 4];
            hex[2 * i + 1] = digits[at[i] & 15];
        }
        log_append(log, hex, 2 * count);
        at += count;
        len -= count;
    }
}

/* ---- Guarded memory -------------------------------------------------------- */

typedef struct guard {
    char *memory; /* `size` bytes, then the unreadable page; or a malloc */
    size_t size;
    bool mapped;
} guard;

static guard guarded;

static void guard_release(void)
{
    if (guarded.mapped) {
        munmap(guarded.memory, guarded.size + (size_t)sysconf(_SC_PAGESIZE));
    } else {
        free(guarded.memory);
    }
    guarded = (guard){NULL, 0, false};
}

static bool guard_map(size_t len)
{
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0) {
        return false;
    }
    size_t unit = (size_t)page;
    size_t size = (len / unit + 1) * unit;
    char *memory = mmap(NULL, size + unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    if (mprotect(memory + size, unit, PROT_NONE) != 0) {
        munmap(memory, size + unit);
        return false;
    }
    guarded = (guard){memory, size, true};
    return true;
}

char *guarded_copy(const void *in, size_t len)
{
    if (!guarded.mapped || guarded.size < len) {
        guard_release();
        if (!guard_map(len)) {
            guarded = (guard){malloc(len > 0 ? len : 1), len, false};
            assert_non_null(guarded.memory);
        }
    }
    char *copy = guarded.memory + guarded.size - len;
    if (len > 0) {
        memcpy(copy, in, len);
    }
    return copy;
}

/* ---- Runs ------------------------------------------------------------------- */

unsigned int test_random(unsigned int *seed)
{
    uint32_t x = *seed != 0 ? *seed : 0x9e3779b9u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *seed = x;
    return x;
}

bool test_sampled(void)
{
    const char *value = getenv("E2B_TEST_SAMPLED");
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

/* Where a run's next piece ends. */
typedef struct cutting {
    const char *name;
    size_t at;         /* two pieces: where the cut is; else the longest piece */
    unsigned int seed; /* random pieces if not 0 */
} cutting;

static size_t next_piece(cutting *cut, size_t position, size_t len)
{
    size_t left = len - position;
    size_t piece = cut->at;
    if (cut->seed != 0) {
        /* Mostly short pieces, some of them empty. */
        piece = test_random(&cut->seed) % (cut->at + 1);
    } else if (strcmp(cut->name, "two pieces") == 0) {
        piece = position < cut->at ? cut->at - position : left;
    }
    return piece < left ? piece : left;
}

typedef struct run {
    incremental_log log;
    size_t log_before_end;
    int verdict;
    bool proper_end;
} run;

static run whole_run, other_run;

static int feed_copy(const incremental_parser *parser, void *state, const char *in, size_t len, size_t *used,
                     incremental_log *log)
{
    char *piece = guarded_copy(in, len);
    *used = 0;
    int verdict = parser->feed(state, piece, len, used, log);
    assert_true(verdict == INCREMENTAL_MORE || verdict == INCREMENTAL_DONE || verdict == INCREMENTAL_BAD);
    assert_true(*used <= len);
    if (verdict == INCREMENTAL_MORE && *used != len) {
        fail_msg("the parser wants more but left %zu of %zu bytes", len - *used, len);
    }
    memset(piece, 0xa5, len);
    return verdict;
}

static void check_bad_is_final(const incremental_parser *parser, void *state, run *result, const char *rest, size_t len)
{
    size_t log_len = result->log.len;
    for (int turn = 0; turn < 3; turn++) {
        size_t used;
        size_t count = turn == 1 ? 0 : len;
        int verdict = feed_copy(parser, state, rest, count, &used, &result->log);
        if (verdict != INCREMENTAL_BAD || used != 0) {
            fail_msg("fed %zu bytes after BAD: verdict %d, %zu used", count, verdict, used);
        }
    }
    if (parser->end != NULL && parser->end(state, &result->log)) {
        fail_msg("a proper end after BAD");
    }
    if (result->log.len != log_len) {
        fail_msg("logged after BAD: %s", result->log.text + log_len);
    }
}

static void run_pieces(const incremental_parser *parser, const char *in, size_t len, cutting cut, run *result)
{
    void *state = calloc(1, parser->state_size > 0 ? parser->state_size : 1);
    size_t position = 0;
    assert_non_null(state);
    log_reset(&result->log);
    result->verdict = INCREMENTAL_MORE;
    result->proper_end = false;
    parser->reset(state, parser->context);
    bool fed = false;
    while (result->verdict == INCREMENTAL_MORE && (position < len || !fed)) {
        size_t used;
        size_t piece = next_piece(&cut, position, len);
        result->verdict = feed_copy(parser, state, in + position, piece, &used, &result->log);
        position += used;
        fed = true;
    }
    if (result->verdict == INCREMENTAL_BAD) {
        check_bad_is_final(parser, state, result, in, len);
    }
    result->log_before_end = result->log.len;
    if (result->verdict == INCREMENTAL_MORE && parser->end != NULL) {
        result->proper_end = parser->end(state, &result->log);
    }
    if (result->verdict == INCREMENTAL_DONE) {
        log_event(&result->log, "done %zu", position);
    } else if (result->verdict == INCREMENTAL_BAD) {
        log_event(&result->log, "bad");
    } else {
        log_event(&result->log, result->proper_end ? "whole" : "cut off");
    }
    free(state);
}

static void compare_cut(const incremental_parser *parser, const char *in, size_t len, cutting cut)
{
    run_pieces(parser, in, len, cut, &other_run);
    if (strcmp(whole_run.log.text, other_run.log.text) != 0) {
        fail_msg("%s, %zu, seed %u of %zu bytes:\n-- whole:\n%.1500s\n-- in pieces:\n%.1500s", cut.name, cut.at,
                 cut.seed, len, whole_run.log.text, other_run.log.text);
    }
}

static void check_cut_off(const incremental_parser *parser, const char *in, size_t len)
{
    run_pieces(parser, in, len, (cutting){"whole", len, 0}, &other_run);
    size_t shown = other_run.log_before_end;
    if (shown > whole_run.log_before_end || memcmp(other_run.log.text, whole_run.log.text, shown) != 0) {
        fail_msg("cut off after %zu bytes it found what the whole input does not hold:\n%.1500s", len,
                 other_run.log.text);
    }
    if (other_run.verdict != INCREMENTAL_MORE) {
        /* Found its end, or the input bad, before the cut: then the whole input gives the same. */
        assert_string_equal(other_run.log.text, whole_run.log.text);
        return;
    }
    bool expected = parser->is_whole != NULL && parser->is_whole(parser->context, in, len);
    if (other_run.proper_end != expected) {
        fail_msg("cut off after %zu bytes: it says that is %s end", len, expected ? "no proper" : "a proper");
    }
}

const char *incremental_run(const incremental_parser *parser, const void *in, size_t len)
{
    run_pieces(parser, in, len, (cutting){"whole", len, 0}, &whole_run);
    return whole_run.log.text;
}

const char *incremental_check(const incremental_parser *parser, const void *in, size_t len)
{
    const char *bytes = in;
    size_t budget = test_sampled() ? 150 : 3000;
    size_t stride = len / budget + 1;
    incremental_run(parser, in, len);
    compare_cut(parser, bytes, len, (cutting){"pieces of", 1, 0});
    for (size_t at = 0; at <= len; at += stride) {
        compare_cut(parser, bytes, len, (cutting){"two pieces", at, 0});
    }
    for (unsigned int turn = 1; turn <= (test_sampled() ? 10u : 50u); turn++) {
        size_t longest = turn % 3 == 0 ? len / 3 + 2 : turn % 7 + 1;
        compare_cut(parser, bytes, len, (cutting){"random pieces", longest, turn * 2654435761u});
    }
    for (size_t cut = 0; cut < len; cut += stride) {
        check_cut_off(parser, bytes, cut);
    }
    return whole_run.log.text;
}
