/* utf8: the strict form of RFC 3629: shortest, no surrogates, at most U+10FFFF. */
#ifndef E2B_BASE_UTF8_H
#define E2B_BASE_UTF8_H

#include "e2b.h"

bool e2b_utf8_valid(e2b_str text);

/* The length (1 to 4) of the sequence at the text's start and its code point, or 0 if it is not valid. */
size_t e2b_utf8_next(e2b_str text, uint32_t *code_point);

/* Makes server text fit for a terminal and a log, in place and never longer:
 * control bytes become spaces, bytes that are not UTF-8 '?', a sequence cut
 * at the end is dropped. Returns the new length. */
size_t e2b_utf8_printable(char *text, size_t length);

#endif
