/* vectors: the exact data of test/vectors, row by row.
 *
 * The build turns each file into lines (test/vectors/convert.py); the folder
 * of these is named by E2B_VECTORS, out/vectors by default. Everything fails
 * the running cmocka test when it can't be done.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include "e2b.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct vector_field {
    char *name; /* "input.op" */
    e2b_str value;
} vector_field;

typedef struct vector_file {
    const char *name;
    char *text; /* the whole file, decoded in place */
    char *next;
    size_t row; /* of the current vector, from 1; for messages */
    vector_field *fields;
    size_t count;
} vector_file;

/* Opens the vectors of test/vectors/NAME.json. */
void vectors_open(vector_file *vectors, const char *name);
/* The next vector, false after the last. Its values stay until the next call. */
bool vectors_next(vector_file *vectors);
void vectors_close(vector_file *vectors);

/* How many values a name has: more than one for a list. */
size_t vector_count(const vector_file *vectors, const char *name);
/* A value by name and position; vector_value wants the only one. NUL-terminated. */
e2b_str vector_at(const vector_file *vectors, const char *name, size_t index);
e2b_str vector_value(const vector_file *vectors, const char *name);
/* Whether the name is there once and has this value. */
bool vector_is(const vector_file *vectors, const char *name, const char *value);
/* The bytes whose hex digits a value holds; it is decoded in place, so ask once. */
e2b_str vector_bytes(e2b_str hex);

#endif
