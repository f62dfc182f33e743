#include "base/json_read.h"

#include <string.h>

#include "base/json_text.h"
#include "base/number.h"

/* reader->state: where in a token the input stands. */
enum {
    BETWEEN, /* between tokens */
    KEY,
    KEY_ESCAPE, /* after a backslash, so that a quote is not the end */
    TEXT,
    TEXT_ESCAPE,
    WORD, /* true, false, null */
    MINUS,
    ZERO,
    DIGITS,
    POINT,
    FRACTION,
    EXPONENT_MARK,
    EXPONENT_SIGN,
    EXPONENT,
    BAD
};

/* reader->expect: what the grammar allows between tokens. Zero at the start. */
enum {
    VALUE,
    ELEMENT_OR_END, /* after [ */
    NAME_OR_END,    /* after { */
    NAME,           /* after a comma in an object */
    COLON,
    COMMA_OR_END,
    NOTHING /* the outermost value is complete */
};

static bool in_object(const e2b_json_reader *reader)
{
    return reader->depth > 0 && (reader->objects >> (reader->depth - 1) & 1u) != 0;
}

static void value_complete(e2b_json_reader *reader)
{
    reader->state = BETWEEN;
    reader->expect = reader->depth > 0 ? COMMA_OR_END : NOTHING;
}

static int32_t bad(e2b_json_reader *reader)
{
    reader->state = BAD;
    return E2B_JSON_BAD;
}

static int32_t give(const e2b_json_reader *reader, e2b_json_item *item, int32_t kind)
{
    item->depth = reader->depth;
    return kind;
}

/* ---- Between tokens -------------------------------------------------------- */

static int32_t open_container(e2b_json_reader *reader, e2b_json_item *item, bool object)
{
    if (reader->depth == E2B_JSON_DEPTH) {
        return bad(reader);
    }
    int32_t kind = give(reader, item, object ? E2B_JSON_OBJECT : E2B_JSON_ARRAY);
    uint32_t bit = (uint32_t)1 << reader->depth;
    reader->objects = object ? reader->objects | bit : reader->objects & ~bit;
    reader->depth++;
    reader->expect = object ? NAME_OR_END : ELEMENT_OR_END;
    return kind;
}

static int32_t close_container(e2b_json_reader *reader, e2b_json_item *item, bool object)
{
    bool may_end = reader->expect == COMMA_OR_END || reader->expect == (object ? NAME_OR_END : ELEMENT_OR_END);
    if (!may_end || in_object(reader) != object) {
        return bad(reader);
    }
    reader->depth--;
    value_complete(reader);
    return give(reader, item, E2B_JSON_END);
}

static int32_t begin_string(e2b_json_reader *reader)
{
    if (reader->expect == NAME || reader->expect == NAME_OR_END) {
        reader->state = KEY;
        e2b_json_key_begin(reader);
        return E2B_JSON_MORE;
    }
    if (reader->expect == VALUE || reader->expect == ELEMENT_OR_END) {
        reader->state = TEXT;
        e2b_json_text_begin(reader);
        return E2B_JSON_MORE;
    }
    return bad(reader);
}

/* The first byte of a number or literal, kept like all of its text in reader->key. */
static int32_t begin_scalar(e2b_json_reader *reader, char byte)
{
    if (reader->expect != VALUE && reader->expect != ELEMENT_OR_END) {
        return bad(reader);
    }
    if (byte == '-') {
        reader->state = MINUS;
    } else if (byte == '0') {
        reader->state = ZERO;
    } else if (byte >= '1' && byte <= '9') {
        reader->state = DIGITS;
    } else if (byte == 't' || byte == 'f' || byte == 'n') {
        reader->state = WORD;
    } else {
        return bad(reader);
    }
    memset(reader->key, 0, sizeof reader->key);
    reader->key[0] = byte;
    reader->key_len = 1;
    return E2B_JSON_MORE;
}

/* One byte that is not white space. */
static int32_t between(e2b_json_reader *reader, char byte, e2b_json_item *item)
{
    bool value = reader->expect == VALUE || reader->expect == ELEMENT_OR_END;
    switch (byte) {
    case '{':
    case '[': return value ? open_container(reader, item, byte == '{') : bad(reader);
    case '}':
    case ']': return close_container(reader, item, byte == '}');
    case '"': return begin_string(reader);
    case ':':
        if (reader->expect != COLON) {
            return bad(reader);
        }
        reader->expect = VALUE;
        return E2B_JSON_MORE;
    case ',':
        if (reader->expect != COMMA_OR_END) {
            return bad(reader);
        }
        reader->expect = in_object(reader) ? NAME : VALUE;
        return E2B_JSON_MORE;
    default: return begin_scalar(reader, byte);
    }
}

/* ---- Strings --------------------------------------------------------------- */

/* How many bytes at `in` belong to the string; *closed if a quote follows
 * them. Each byte is looked at twice at most, however many backslashes there
 * are: the quote found stays found until a backslash takes it away. */
static size_t string_piece(e2b_json_reader *reader, const char *in, size_t len, bool *closed)
{
    size_t at = 0, quote = 0;
    *closed = false;
    if (reader->state == KEY_ESCAPE || reader->state == TEXT_ESCAPE) {
        at = 1;
        reader->state--;
    }
    while (at < len) {
        if (quote <= at) {
            const char *found = memchr(in + at, '"', len - at);
            quote = found != NULL ? (size_t)(found - in) : len;
        }
        const char *backslash = memchr(in + at, '\\', quote - at);
        if (backslash == NULL) {
            *closed = quote < len;
            return quote;
        }
        at = (size_t)(backslash - in) + 2;
    }
    if (at > len) {
        reader->state++;
    }
    return len;
}

static int32_t key_piece(e2b_json_reader *reader, const char *in, size_t len, size_t *used, e2b_json_item *item)
{
    bool closed;
    size_t count = string_piece(reader, in, len, &closed);
    *used = count + (closed ? 1 : 0);
    if (!e2b_json_key_piece(reader, in, count) || (closed && !e2b_json_text_whole(reader))) {
        return bad(reader);
    }
    if (!closed) {
        return E2B_JSON_MORE;
    }
    reader->state = BETWEEN;
    reader->expect = COLON;
    return give(reader, item, E2B_JSON_KEY);
}

static int32_t text_piece(e2b_json_reader *reader, const char *in, size_t len, size_t *used, e2b_json_item *item)
{
    size_t count = string_piece(reader, in, len, &item->last);
    *used = count + (item->last ? 1 : 0);
    item->raw.ptr = in;
    item->raw.len = count;
    if (item->last) {
        value_complete(reader);
    }
    return give(reader, item, E2B_JSON_TEXT);
}

/* ---- Numbers and literals -------------------------------------------------- */

static void keep(e2b_json_reader *reader, char byte)
{
    if (reader->key_len < E2B_JSON_KEY_SIZE) {
        reader->key[reader->key_len++] = byte;
    } else {
        reader->key_len = E2B_JSON_KEY_TOO_LONG;
    }
}

/* Whether the number may end in this state. */
static bool number_whole(uint8_t state)
{
    return state == ZERO || state == DIGITS || state == FRACTION || state == EXPONENT;
}

/* The state after one more byte of the number; BETWEEN if the byte is none of it. */
static uint8_t number_step(uint8_t state, char byte)
{
    bool digit = byte >= '0' && byte <= '9';
    bool exponent = byte == 'e' || byte == 'E';
    switch (state) {
    case MINUS: return byte == '0' ? ZERO : digit ? DIGITS : BETWEEN;
    case ZERO: return byte == '.' ? POINT : exponent ? EXPONENT_MARK : BETWEEN;
    case DIGITS: return digit ? DIGITS : byte == '.' ? POINT : exponent ? EXPONENT_MARK : BETWEEN;
    case POINT: return digit ? FRACTION : BETWEEN;
    case FRACTION: return digit ? FRACTION : exponent ? EXPONENT_MARK : BETWEEN;
    case EXPONENT_MARK: return digit ? EXPONENT : byte == '+' || byte == '-' ? EXPONENT_SIGN : BETWEEN;
    default: return digit ? EXPONENT : BETWEEN;
    }
}

static int32_t number_byte(e2b_json_reader *reader, char byte, size_t *used, e2b_json_item *item)
{
    uint8_t next = number_step(reader->state, byte);
    if (next != BETWEEN) {
        *used = 1;
        keep(reader, byte);
        reader->state = next;
        return E2B_JSON_MORE;
    }
    if (!number_whole(reader->state)) {
        return bad(reader);
    }
    value_complete(reader);
    return give(reader, item, E2B_JSON_SCALAR);
}

static int32_t word_byte(e2b_json_reader *reader, char byte, size_t *used, e2b_json_item *item)
{
    const char *word = reader->key[0] == 't' ? "true" : reader->key[0] == 'f' ? "false" : "null";
    if (byte != word[reader->key_len]) {
        return bad(reader);
    }
    *used = 1;
    keep(reader, byte);
    if (word[reader->key_len] != '\0') {
        return E2B_JSON_MORE;
    }
    value_complete(reader);
    return give(reader, item, E2B_JSON_SCALAR);
}

/* ---- The reader ------------------------------------------------------------ */

static size_t white_space(const char *in, size_t len)
{
    size_t count = 0;
    while (count < len && (in[count] == ' ' || in[count] == '\n' || in[count] == '\r' || in[count] == '\t')) {
        count++;
    }
    return count;
}

/* Takes in at least one byte, or gives an item, or is BAD. len > 0. */
static int32_t step(e2b_json_reader *reader, const char *in, size_t len, size_t *used, e2b_json_item *item)
{
    switch (reader->state) {
    case BETWEEN:
        *used = white_space(in, len);
        if (*used == len) {
            return E2B_JSON_MORE;
        }
        *used += 1;
        return between(reader, in[*used - 1], item);
    case KEY:
    case KEY_ESCAPE: return key_piece(reader, in, len, used, item);
    case TEXT:
    case TEXT_ESCAPE: return text_piece(reader, in, len, used, item);
    case WORD: return word_byte(reader, in[0], used, item);
    default: return number_byte(reader, in[0], used, item);
    }
}

int32_t e2b_json_read(e2b_json_reader *reader, const char *in, size_t len, size_t *used, e2b_json_item *item)
{
    int32_t kind = E2B_JSON_MORE;
    memset(item, 0, sizeof *item);
    *used = 0;
    if (reader->state == BAD) {
        kind = E2B_JSON_BAD;
    }
    while (kind == E2B_JSON_MORE && *used < len) {
        size_t taken = 0;
        kind = step(reader, in + *used, len - *used, &taken, item);
        *used += taken;
    }
    if (kind == E2B_JSON_MORE && reader->state == BETWEEN && reader->expect == NOTHING) {
        kind = E2B_JSON_DONE;
    }
    item->kind = kind;
    return kind;
}

bool e2b_json_finish(e2b_json_reader *reader)
{
    if (number_whole(reader->state)) {
        value_complete(reader);
    }
    return reader->state == BETWEEN && reader->expect == NOTHING;
}

bool e2b_json_int64(const e2b_json_reader *reader, int64_t *value)
{
    e2b_str text = {reader->key, reader->key_len};
    return reader->key_len <= E2B_JSON_KEY_SIZE && e2b_parse_json_integer(text, value);
}

bool e2b_json_bool(const e2b_json_reader *reader, bool *value)
{
    if (!e2b_json_key_is(reader, "true") && !e2b_json_key_is(reader, "false")) {
        return false;
    }
    *value = reader->key[0] == 't';
    return true;
}

bool e2b_json_is_null(const e2b_json_reader *reader)
{
    return e2b_json_key_is(reader, "null");
}
