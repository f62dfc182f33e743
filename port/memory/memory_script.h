/* memory_script: how the steps of a script lie in bytes.
 *
 * A step is one byte, its kind modulo the number of kinds, then its numbers,
 * then for data the bytes. A number is little-endian base 128, high bit for
 * "more", at most five bytes. Numbers and data that run past the end are cut
 * off there, so every byte string is a script. */
#ifndef E2B_MEMORY_SCRIPT_H
#define E2B_MEMORY_SCRIPT_H

#include "e2b_memory.h"

/* The order is the format: corpora of fuzzers depend on it. */
enum {
    STEP_ACCEPT,
    STEP_REFUSE,
    STEP_HANG,
    STEP_DATA,        /* length, bytes */
    STEP_WOULD_BLOCK,
    STEP_TAKE,        /* count */
    STEP_SEND_FAILS,
    STEP_ADVANCE,     /* ms */
    STEP_END,
    STEP_END_UNCLEAN,
    STEP_RESET,
    STEP_REQUEST,
    STEP_EARLY,
    STEP_PASS,        /* point */
    STEP_AFTER,       /* point, times */
    STEP_REPEAT,      /* times */
    STEP_REPEAT_END,
    STEP_KINDS
};

typedef struct e2b_memory_step {
    uint32_t first;  /* the first number; of data the length */
    uint32_t second;
    uint32_t body;   /* offset after the numbers */
    uint32_t next;   /* offset of the step that follows */
    uint8_t kind;
} e2b_memory_step;

/* Reads the step at `at`; false at the end. */
bool e2b_memory_step_read(const uint8_t *script, uint32_t length, uint32_t at, e2b_memory_step *step);

/* Goes past the step: into a repeated block, back to its beginning, or on.
 * True if it went back. `last_round`: leaves the block instead of going back. */
bool e2b_memory_cursor_pass(e2b_memory_cursor *cursor, const e2b_memory_step *step, bool last_round);

/* Moves the cursor to the step after the next accept, refuse or hang and
 * gives that step; false if there is none any more. */
bool e2b_memory_cursor_begin(e2b_memory_cursor *cursor, const uint8_t *script, uint32_t length, e2b_memory_step *step);

#endif
