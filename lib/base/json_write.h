/* json_write: JSON appended to a text. */
#ifndef E2B_BASE_JSON_WRITE_H
#define E2B_BASE_JSON_WRITE_H

#include "base/text.h"

/* A JSON string in ASCII only: everything outside 0x20..0x7e is escaped,
 * lower-case hex, surrogate pairs above U+FFFF. The text must be valid UTF-8
 * (e2b_utf8_valid); a byte that is not becomes U+FFFD. */
void e2b_json_write_string(e2b_text *text, e2b_str string);

/* An object of strings: {"name":"value",...}. */
void e2b_json_write_pairs(e2b_text *text, const e2b_pair *pairs, size_t count);

#endif
