/* json_canonical: two JSON texts are the same value if their canonical forms
 * are the same bytes. Shares nothing with lib/. */
#ifndef JSON_CANONICAL_H
#define JSON_CANONICAL_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the value in `text` with its names sorted by their bytes, no blanks,
 * and nothing escaped but quotes, backslashes and control bytes. NUL-terminated.
 * False if the text is not one JSON value, names a member twice or does not fit. */
bool json_canonical(const char *text, size_t len, char *out, size_t size);

#endif
