/* number: numbers and their text. Nothing here knows a locale. */
#ifndef E2B_BASE_NUMBER_H
#define E2B_BASE_NUMBER_H

#include "base/text.h"

/* Decimal digits only, the whole text, no sign, no blanks. False if not or out of range. */
bool e2b_parse_u64(e2b_str text, uint64_t *value);
/* With an optional '-'. */
bool e2b_parse_i64(e2b_str text, int64_t *value);

/* A JSON number (RFC 8259) whose value is a whole number, fraction and
 * exponent allowed: 5, -0, 5.0, 5.36870912e9. */
bool e2b_parse_json_integer(e2b_str text, int64_t *value);

/* The shortest decimal text of a number of 512ths, with at least one digit
 * after the point: 1 -> 0.001953125, 512 -> 1.0. */
void e2b_text_512ths(e2b_text *text, uint64_t count);

#endif
