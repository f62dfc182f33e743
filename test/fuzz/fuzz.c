#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_broken(const char *file, int line, const char *promise)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, promise);
    abort();
}

uint8_t *fuzz_copy(const void *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    FUZZ_CHECK(copy != NULL);
    if (size > 0) memcpy(copy, data, size);
    return copy;
}

uint8_t fuzz_byte(fuzz_bytes *bytes)
{
    if (bytes->left == 0) return 0;
    bytes->left--;
    return *bytes->at++;
}

size_t fuzz_piece(uint32_t *cut, size_t left)
{
    if (*cut == 0) return left;
    *cut = *cut * 1664525u + 1013904223u;
    size_t piece = 1 + (*cut >> 24) % (*cut >> 16 & 1 ? 4 : 40);
    if (*cut == 0) *cut = 1;
    return piece < left ? piece : left;
}

void fuzz_log_add(fuzz_log *log, const void *bytes, size_t length)
{
    size_t room = sizeof log->bytes - log->length;
    if (length > room) length = room;
    if (length > 0) memcpy(log->bytes + log->length, bytes, length);
    log->length += length;
}

void fuzz_log_number(fuzz_log *log, int64_t number)
{
    char text[32];
    int length = snprintf(text, sizeof text, "<%lld>", (long long)number);
    fuzz_log_add(log, text, (size_t)length);
}

bool fuzz_log_equal(const fuzz_log *a, const fuzz_log *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}
