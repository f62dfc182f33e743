#include "base/json_value.h"

#include <limits.h>
#include <string.h>

#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#define JSMN_STATIC
#include <jsmn.h>

#include "base/json_read.h"
#include "base/json_text.h"
#include "base/number.h"

/* E2B_CLIENT_MEMORY counts 20 bytes a token. */
typedef char token_fits_its_place[sizeof(jsmntok_t) <= 20 ? 1 : -1];

/* jsmn is a tokeniser: it takes a missing colon, any word that begins with t,
 * bytes that are not UTF-8, and stops at a NUL as if that were the end. What
 * passes here it tokenises rightly. */
static bool is_json(e2b_str text, bool cut)
{
    e2b_json_reader reader;
    memset(&reader, 0, sizeof reader);
    size_t at = 0;
    int32_t kind;
    do {
        e2b_json_item item;
        e2b_text nowhere = {NULL, 0, 0, 0};
        size_t used;
        kind = e2b_json_read(&reader, text.ptr + at, text.len - at, &used, &item);
        at += used;
        if (kind == E2B_JSON_BAD || (kind == E2B_JSON_TEXT && !e2b_json_text(&reader, &item, &nowhere))) {
            return false;
        }
    } while (kind != E2B_JSON_MORE && kind != E2B_JSON_DONE);
    return cut || e2b_json_finish(&reader);
}

e2b_err e2b_json_parse(e2b_json_value *value, void *tokens, e2b_str text, bool cut)
{
    value->text = text;
    value->tokens = tokens;
    value->count = 0;
    if (text.len > INT_MAX) {
        return E2B_LIMIT; /* jsmn's offsets are ints */
    }
    if (!is_json(text, cut)) {
        return E2B_PROTOCOL;
    }
    jsmntok_t *token = tokens;
    jsmn_parser parser;
    jsmn_init(&parser);
    int found = jsmn_parse(&parser, text.ptr, text.len, token, E2B_TOKEN_COUNT);
    if (found == JSMN_ERROR_NOMEM && !cut) {
        return E2B_LIMIT; /* checked text fails for want of tokens only */
    }
    if (found == JSMN_ERROR_PART && !cut) {
        /* A number or literal alone: jsmn waits for ever for what ends it. */
        jsmn_fill_token(token, JSMN_PRIMITIVE, (int)parser.pos, (int)text.len);
        token->parent = -1;
        parser.toknext = 1;
    }
    value->count = parser.toknext;
    return E2B_OK;
}

/* index < value->count */
static const jsmntok_t *token_at(const e2b_json_value *value, size_t index)
{
    return (const jsmntok_t *)value->tokens + index;
}

static bool has_type(const e2b_json_value *value, size_t index, jsmntype_t type)
{
    return index < value->count && token_at(value, index)->type == type;
}

/* Of a string (without its quotes) or a number; these are never left open. */
static e2b_str token_text(const e2b_json_value *value, size_t index)
{
    const jsmntok_t *token = token_at(value, index);
    e2b_str text = {value->text.ptr + token->start, (size_t)(token->end - token->start)};
    return text;
}

static bool key_is(const e2b_json_value *value, size_t index, const char *name)
{
    e2b_str raw = token_text(value, index);
    e2b_json_reader reader;
    memset(&reader, 0, sizeof reader);
    return e2b_json_key_piece(&reader, raw.ptr, raw.len) && e2b_json_key_is(&reader, name);
}

size_t e2b_json_member(const e2b_json_value *value, size_t object, const char *name)
{
    size_t found = 0;
    if (!e2b_json_value_is_object(value, object)) {
        return 0;
    }
    /* Children of an object are its names; a name's value is the token after
     * it, which a cut may have taken. */
    for (size_t i = object + 1; i + 1 < value->count; i++) {
        if (token_at(value, i)->parent == (int)object && key_is(value, i, name)) {
            found = i + 1;
        }
    }
    return found;
}

bool e2b_json_value_is_object(const e2b_json_value *value, size_t index)
{
    return has_type(value, index, JSMN_OBJECT);
}

bool e2b_json_value_is_string(const e2b_json_value *value, size_t index)
{
    return has_type(value, index, JSMN_STRING);
}

bool e2b_json_value_text(const e2b_json_value *value, size_t index, e2b_text *out)
{
    if (!e2b_json_value_is_string(value, index)) {
        return false;
    }
    e2b_str raw = token_text(value, index);
    e2b_json_reader reader;
    memset(&reader, 0, sizeof reader);
    return e2b_json_unescape(&reader, raw.ptr, raw.len, out) && e2b_json_text_whole(&reader);
}

bool e2b_json_value_int64(const e2b_json_value *value, size_t index, int64_t *number)
{
    return has_type(value, index, JSMN_PRIMITIVE) && e2b_parse_json_integer(token_text(value, index), number);
}
