/* incremental: one harness for every parser that is fed in pieces.
 *
 * A test describes its parser by three functions that write what the parser
 * finds into a log. The harness feeds an input whole, byte by byte, cut in two
 * at every place and in random pieces, and demands the same log and the same
 * outcome each time. It cuts the input off at every byte and demands that the
 * log so far is a prefix of the whole one and that the end is seen for what it
 * is. Once a parser said BAD it is fed more and must stay so.
 *
 * Each piece lies directly before an unreadable page, in memory that is
 * overwritten once the call is over: reading past a piece, or keeping a
 * pointer into it, shows. Where memory can't be protected the piece is a
 * malloc of its exact length.
 */
#ifndef INCREMENTAL_H
#define INCREMENTAL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct incremental_log incremental_log;

/* One event, on a line of its own. */
void log_event(incremental_log *log, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* Bytes of a stream called `name`, logged as hex. Adjacent calls of one name
 * are one entry, however many they are; empty ones leave no trace. */
void log_data(incremental_log *log, const char *name, const void *bytes, size_t len);

#define INCREMENTAL_MORE 0 /* all used; more may follow */
#define INCREMENTAL_DONE 1 /* the parser found its own end after *used bytes; what follows is not its business */
#define INCREMENTAL_BAD 2

typedef struct incremental_parser {
    size_t state_size;
    /* `context` is passed through. The state is zeroed before. */
    void (*reset)(void *state, const void *context);
    /* Feeds one piece, perhaps an empty one, and sets *used. The piece may be
     * written to, for parsers that work in place. After BAD: BAD again, *used
     * 0 and nothing logged. A parser whose input goes to the end of the stream
     * (JSON, base64) never says DONE and leaves the verdict to `end`. */
    int (*feed)(void *state, char *in, size_t len, size_t *used, incremental_log *log);
    /* The stream has ended (never called after DONE): true if that is a proper
     * end. May log what only the end brings. NULL: the end is never proper. */
    bool (*end)(void *state, incremental_log *log);
    /* Whether `in` cut to `len` bytes is a whole input of its own, at whose end
     * `end` says true. Asked for each cut of an input that is not bad up to the
     * cut. NULL: no such input is. */
    bool (*is_whole)(const void *context, const char *in, size_t len);
    const void *context;
} incremental_parser;

/* Checks all of the above and fails the running cmocka test if it does not
 * hold. Returns the log of the uncut run, valid until the next call: a line
 * for each entry and a last line "whole", "cut off", "done N" or "bad". */
const char *incremental_check(const incremental_parser *parser, const void *in, size_t len);

/* Only the uncut run: for comparing many inputs against a reference quickly. */
const char *incremental_run(const incremental_parser *parser, const void *in, size_t len);

/* A copy of `in` that ends directly before unreadable memory, valid until the
 * next call. Writable. */
char *guarded_copy(const void *in, size_t len);

/* A small generator of reproducible numbers: same seed, same sequence. */
unsigned int test_random(unsigned int *seed);

/* Whether bulk tests should take a sample (E2B_TEST_SAMPLED is set). */
bool test_sampled(void);

#endif
