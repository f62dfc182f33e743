/* text: a bounded text builder that can count before it writes.
 *
 * A builder sees the whole text as it is appended and stores the part that
 * lies in its window, the `size` bytes from position `skip` on. That one rule
 * gives three uses:
 *   - count only:      {NULL, 0, 0, 0}; then total is the length
 *   - a plain buffer:  {buffer, size, 0, 0}; it fitted if total <= size
 *   - piece by piece:  append the same text again with skip moved on, and a
 *     text of any length goes through a small buffer
 * Nothing is NUL-terminated unless e2b_text_terminate is called.
 */
#ifndef E2B_BASE_TEXT_H
#define E2B_BASE_TEXT_H

#include "e2b.h"

typedef struct e2b_text {
    char *out;      /* the window; may be NULL if size is 0 */
    size_t size;    /* of the window */
    uint64_t skip;  /* position in the text of the window's first byte */
    uint64_t total; /* bytes appended so far */
} e2b_text;

/* A C string as a borrowed one; NULL is the empty string. */
e2b_str e2b_str_of(const char *string);

/* How many bytes the window holds. */
size_t e2b_text_stored(const e2b_text *text);
/* Whether everything appended lies in the window. */
bool e2b_text_fits(const e2b_text *text);
/* Makes a C string of what is stored; cuts the last byte off if the window is full. size must be > 0. */
void e2b_text_terminate(e2b_text *text);

/* The bytes may overlap the window, as long as no byte is read after its place was written. */
void e2b_text_bytes(e2b_text *text, const void *bytes, size_t count);
void e2b_text_string(e2b_text *text, const char *string); /* a C string */
void e2b_text_str(e2b_text *text, e2b_str str);
void e2b_text_char(e2b_text *text, char c);
void e2b_text_u64(e2b_text *text, uint64_t value);
void e2b_text_i64(e2b_text *text, int64_t value);
void e2b_text_hex(e2b_text *text, const uint8_t *bytes, size_t count); /* lower case */
/* Standard base64 with padding. Work is proportional to what lies in the window, not to count. */
void e2b_text_base64(e2b_text *text, const void *bytes, size_t count);
/* Percent-encodes all but A-Z a-z 0-9 - . _ ~ with `prefix` before the two upper-case
 * hex digits: "%" for once, "%25" for twice, "%2525" for three times. */
void e2b_text_percent(e2b_text *text, e2b_str str, const char *prefix);

#endif
