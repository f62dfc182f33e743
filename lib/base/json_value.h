/* json_value: a whole JSON text in memory, tokenised by jsmn, strictly checked.
 *
 * For values that somebody wants whole and that are small: error bodies,
 * end-of-stream payloads, a sandbox's metadata. jsmn accepts much that is not
 * JSON, so the text is checked by json_read first. This is the only file that
 * includes jsmn.h, with fixed options, since they change its struct.
 */
#ifndef E2B_BASE_JSON_VALUE_H
#define E2B_BASE_JSON_VALUE_H

#include "base/text.h"
#include "e2b.h"

typedef struct e2b_json_value {
    e2b_str text;
    void *tokens; /* E2B_TOKEN_COUNT * 20 bytes, aligned for int */
    size_t count; /* tokens found */
} e2b_json_value;

/* Tokenises `text` into `tokens`. E2B_PROTOCOL: not JSON. E2B_LIMIT: more than
 * E2B_TOKEN_COUNT tokens. With `cut`, the text may end too early or hold more
 * tokens: what was complete before that can be asked for. */
e2b_err e2b_json_parse(e2b_json_value *value, void *tokens, e2b_str text, bool cut);

/* Token 0 is the outermost value. The index of the last member `name` of the
 * object at `object`, or 0 if there is none or it is no object. */
size_t e2b_json_member(const e2b_json_value *value, size_t object, const char *name);

bool e2b_json_value_is_object(const e2b_json_value *value, size_t index);
bool e2b_json_value_is_string(const e2b_json_value *value, size_t index);
/* Appends the string at `index`, unescaped. False if it is no valid string. */
bool e2b_json_value_text(const e2b_json_value *value, size_t index, e2b_text *out);
bool e2b_json_value_int64(const e2b_json_value *value, size_t index, int64_t *number);

#endif
