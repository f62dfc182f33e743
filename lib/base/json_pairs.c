#include "base/json_pairs.h"

#include <string.h>

#include "base/json_read.h"
#include "base/json_text.h"

/* Reads on to a string that must come now. *raw is what stands between its quotes. */
static bool read_string(e2b_json_reader *reader, e2b_str text, size_t *at, int32_t kind, e2b_str *raw)
{
    const char *from = text.ptr + *at;
    e2b_json_item item;
    size_t used;
    if (e2b_json_read(reader, from, text.len - *at, &used, &item) != kind || (kind == E2B_JSON_TEXT && !item.last)) {
        return false;
    }
    /* Only white space, a comma or a colon stand before the opening quote. */
    const char *start = (const char *)memchr(from, '"', used) + 1;
    raw->ptr = start;
    raw->len = (size_t)(from + used - 1 - start);
    *at += used;
    return true;
}

/* Brings a fresh reader to `position`: behind the outermost bracket at the
 * start, else behind a value, by feeding it `before`, the shortest text that
 * leads there. */
static bool resume(e2b_json_reader *reader, e2b_str text, size_t *position, const char *before)
{
    e2b_json_item item;
    size_t used;
    memset(reader, 0, sizeof *reader);
    if (*position >= text.len) {
        return false;
    }
    if (*position == 0) {
        e2b_json_read(reader, text.ptr, text.len, &used, &item);
        *position = used;
        return true;
    }
    for (size_t left = strlen(before); left > 0; left -= used) {
        e2b_json_read(reader, before, left, &used, &item);
        before += used;
    }
    return true;
}

static bool unescape_in_place(e2b_json_reader *reader, e2b_str raw, e2b_str *out)
{
    /* The text is the caller's own writable memory; e2b_str is const only for
     * the many that are not. */
    e2b_text place = {(char *)(uintptr_t)raw.ptr, raw.len, 0, 0};
    e2b_json_text_begin(reader);
    if (!e2b_json_unescape(reader, raw.ptr, raw.len, &place) || !e2b_json_text_whole(reader)) {
        return false;
    }
    out->ptr = raw.ptr;
    out->len = e2b_text_stored(&place);
    return true;
}

bool e2b_json_pairs(e2b_str object, size_t *position, e2b_str *name, e2b_str *value)
{
    e2b_json_reader reader;
    e2b_str raw_name, raw_value;
    size_t at = *position;
    *position = object.len; /* where it stays if nothing follows */
    if (!resume(&reader, object, &at, "{\"\":\"\"") ||
        !read_string(&reader, object, &at, E2B_JSON_KEY, &raw_name) ||
        !read_string(&reader, object, &at, E2B_JSON_TEXT, &raw_value) ||
        !unescape_in_place(&reader, raw_name, name) || !unescape_in_place(&reader, raw_value, value)) {
        return false;
    }
    *position = at;
    return true;
}

bool e2b_json_strings(e2b_str array, size_t *position, e2b_str *value)
{
    e2b_json_reader reader;
    e2b_str raw;
    size_t at = *position;
    *position = array.len;
    if (!resume(&reader, array, &at, "[\"\"") ||
        !read_string(&reader, array, &at, E2B_JSON_TEXT, &raw) || !unescape_in_place(&reader, raw, value)) {
        return false;
    }
    *position = at;
    return true;
}
