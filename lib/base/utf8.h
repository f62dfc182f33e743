/* utf8: the strict form of RFC 3629: shortest, no surrogates, at most U+10FFFF. */
#ifndef E2B_BASE_UTF8_H
#define E2B_BASE_UTF8_H

#include "e2b.h"

bool e2b_utf8_valid(e2b_str text);

/* The length (1 to 4) of the sequence at the text's start and its code point, or 0 if it is not valid. */
size_t e2b_utf8_next(e2b_str text, uint32_t *code_point);

/* One byte of a text that comes in pieces. `state` is E2B_UTF8_WHOLE at first
 * and then what the call before gave; E2B_UTF8_WHOLE again means that the byte
 * ended a sequence, E2B_UTF8_BAD that it fits no valid text. Every other state
 * is below E2B_UTF8_BAD. */
#define E2B_UTF8_WHOLE 0
#define E2B_UTF8_BAD 8
uint8_t e2b_utf8_step(uint8_t state, uint8_t byte);

/* The 1 to 4 bytes of `code_point`, which must be a valid one. Returns their number. */
size_t e2b_utf8_encode(uint32_t code_point, char out[4]);

/* Makes server text fit for a terminal and a log, in place and never longer:
 * control characters (C0, DEL and C1) become spaces, bytes that are not UTF-8
 * '?', a sequence cut at the end is dropped. Returns the new length. */
size_t e2b_utf8_printable(char *text, size_t length);

#endif
