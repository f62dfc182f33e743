/* json_reference: a slow JSON recogniser to compare ours with. It is RFC 8259
 * written down rule by rule, recursive, over whole text, and shares nothing
 * with lib/. */
#ifndef JSON_REFERENCE_H
#define JSON_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `text` is one JSON value with white space around it, at most
 * `depth` containers inside each other. With `loose`, what stands in string
 * values (not in names) may be anything. */
bool json_reference(const char *text, size_t len, int depth, bool loose);

/* The length of the UTF-8 sequence at the start of `text`, 0 if it is none. */
size_t utf8_reference(const char *text, size_t len, unsigned long *code);

#endif
