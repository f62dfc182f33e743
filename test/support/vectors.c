#include "vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int nibble(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    if (found == NULL) {
        fail_msg("not a hex digit: %c", c);
        return 0;
    }
    return (int)(found - digits);
}

/* Decodes `len` hex digits in place and ends the result with a NUL if there is room. */
static e2b_str unhex(char *hex, size_t len)
{
    assert_int_equal(len % 2, 0);
    for (size_t i = 0; i < len / 2; i++) {
        hex[i] = (char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
    }
    if (len > 0) {
        hex[len / 2] = '\0';
    }
    return (e2b_str){hex, len / 2};
}

void vectors_open(vector_file *vectors, const char *name)
{
    const char *folder = getenv("E2B_VECTORS");
    char path[1024];
    memset(vectors, 0, sizeof *vectors);
    vectors->name = name;
    int length = snprintf(path, sizeof path, "%s/%s.txt", folder != NULL ? folder : "out/vectors", name);
    assert_true(length > 0 && (size_t)length < sizeof path);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s can't be read: run make in the top folder, or set E2B_VECTORS", path);
        return;
    }
    size_t len = 0;
    for (size_t size = 1u << 16;; size *= 2) {
        vectors->text = realloc(vectors->text, size);
        assert_non_null(vectors->text);
        len += fread(vectors->text + len, 1, size - 1 - len, file);
        if (len < size - 1) {
            break;
        }
    }
    assert_int_equal(ferror(file), 0);
    fclose(file);
    vectors->text[len] = '\0';
    vectors->next = vectors->text;
}

static void add_field(vector_file *vectors, char *name, e2b_str value)
{
    if (vectors->count % 64 == 0) {
        vectors->fields = realloc(vectors->fields, (vectors->count + 64) * sizeof vectors->fields[0]);
        assert_non_null(vectors->fields);
    }
    vectors->fields[vectors->count++] = (vector_field){name, value};
}

bool vectors_next(vector_file *vectors)
{
    char *line = vectors->next;
    char *end = strchr(line, '\n');
    vectors->count = 0;
    if (end == NULL) {
        return false;
    }
    *end = '\0';
    vectors->next = end + 1;
    vectors->row++;
    while (line < end) {
        size_t len = strcspn(line, " ");
        char *equals = memchr(line, '=', len);
        assert_non_null(equals);
        line[len] = '\0';
        *equals = '\0';
        add_field(vectors, line, unhex(equals + 1, len - (size_t)(equals + 1 - line)));
        line += len + 1;
    }
    return true;
}

void vectors_close(vector_file *vectors)
{
    assert_true(vectors->row > 0);
    free(vectors->text);
    free(vectors->fields);
    memset(vectors, 0, sizeof *vectors);
}

size_t vector_count(const vector_file *vectors, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < vectors->count; i++) {
        count += strcmp(vectors->fields[i].name, name) == 0;
    }
    return count;
}

e2b_str vector_at(const vector_file *vectors, const char *name, size_t index)
{
    for (size_t i = 0; i < vectors->count; i++) {
        if (strcmp(vectors->fields[i].name, name) == 0 && index-- == 0) {
            return vectors->fields[i].value;
        }
    }
    fail_msg("%s, row %zu: no %s", vectors->name, vectors->row, name);
    return (e2b_str){NULL, 0};
}

e2b_str vector_value(const vector_file *vectors, const char *name)
{
    if (vector_count(vectors, name) != 1) {
        fail_msg("%s, row %zu: %zu of %s", vectors->name, vectors->row, vector_count(vectors, name), name);
    }
    return vector_at(vectors, name, 0);
}

bool vector_is(const vector_file *vectors, const char *name, const char *value)
{
    if (vector_count(vectors, name) != 1) {
        return false;
    }
    e2b_str found = vector_at(vectors, name, 0);
    return found.len == strlen(value) && memcmp(found.ptr, value, found.len) == 0;
}

e2b_str vector_bytes(e2b_str hex)
{
    return unhex((char *)(uintptr_t)hex.ptr, hex.len);
}
