/* Walking objects and arrays of strings where they lie. */
#include <stdlib.h>
#include <string.h>

#include "e2b.h"
#include "fuzz.h"
#include "json_reference.h"

static bool inside(e2b_str part, const uint8_t *text, size_t length)
{
    return part.len == 0 || (part.ptr >= (const char *)text && part.ptr + part.len <= (const char *)text + length);
}

static size_t walk(const uint8_t *data, size_t size, bool pairs)
{
    uint8_t *text = fuzz_copy(data, size);
    e2b_str whole = {(const char *)text, size}, name = {NULL, 0}, value = {NULL, 0};
    size_t position = 0, count = 0, before = 0;
    while (pairs ? e2b_json_pairs(whole, &position, &name, &value) : e2b_json_strings(whole, &position, &value)) {
        FUZZ_CHECK(position > before && position <= size);
        FUZZ_CHECK(inside(name, text, size) && inside(value, text, size));
        before = position;
        count++;
    }
    FUZZ_CHECK(position == size);
    free(text);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    walk(data, size, true);
    walk(data, size, false);
    if (size > 0) { /* from any place */
        uint8_t *text = fuzz_copy(data, size);
        e2b_str whole = {(const char *)text, size}, name, value;
        size_t position = data[0] % size;
        while (e2b_json_pairs(whole, &position, &name, &value)) FUZZ_CHECK(inside(name, text, size) && inside(value, text, size));
        position = data[0] % size;
        while (e2b_json_strings(whole, &position, &value)) FUZZ_CHECK(inside(value, text, size));
        free(text);
    }
    return 0;
}
