#include "base/json_text.h"

#include <string.h>

#include "base/json_read.h"
#include "base/utf8.h"

/* text_state: below E2B_UTF8_BAD it is the state of a UTF-8 sequence. */
enum {
    ESCAPE = 16, /* after a backslash */
    HEX_FOUR,    /* so many hex digits are to come */
    HEX_THREE,
    HEX_TWO,
    HEX_ONE,
    FAILED
};

void e2b_json_text_begin(e2b_json_reader *reader)
{
    reader->text_state = E2B_UTF8_WHOLE;
    reader->high = 0;
    reader->code = 0;
}

bool e2b_json_text_whole(const e2b_json_reader *reader)
{
    return reader->text_state == E2B_UTF8_WHOLE && reader->high == 0;
}

static void append_code(e2b_text *out, uint32_t code)
{
    char bytes[4];
    e2b_text_bytes(out, bytes, e2b_utf8_encode(code, bytes));
}

/* reader->code is whole. A surrogate is nothing without its other half, in the next escape. */
static bool take_code(e2b_json_reader *reader, e2b_text *out)
{
    uint32_t code = reader->code;
    bool is_low = code >= 0xdc00 && code <= 0xdfff;
    reader->text_state = E2B_UTF8_WHOLE;
    if (is_low != (reader->high != 0)) {
        return false;
    }
    if (is_low) {
        append_code(out, 0x10000u + ((reader->high & 0x3ffu) << 10) + (code & 0x3ffu));
        reader->high = 0;
    } else if (code >= 0xd800 && code <= 0xdbff) {
        reader->high = reader->code;
    } else {
        append_code(out, code);
    }
    return true;
}

static bool take_hex(e2b_json_reader *reader, uint8_t byte, e2b_text *out)
{
    unsigned digit;
    if (byte >= '0' && byte <= '9') {
        digit = byte - (unsigned)'0';
    } else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f') {
        digit = (byte | 0x20u) - 'a' + 10u;
    } else {
        return false;
    }
    reader->code = (uint16_t)((unsigned)reader->code << 4 | digit);
    if (reader->text_state == HEX_ONE) {
        return take_code(reader, out);
    }
    reader->text_state++;
    return true;
}

/* The byte after a backslash. */
static bool take_escape(e2b_json_reader *reader, uint8_t byte, e2b_text *out)
{
    if (byte == 'u') {
        reader->text_state = HEX_FOUR;
        reader->code = 0;
        return true;
    }
    reader->text_state = E2B_UTF8_WHOLE;
    if (reader->high != 0) {
        return false;
    }
    switch (byte) {
    case '"':
    case '\\':
    case '/': e2b_text_char(out, (char)byte); return true;
    case 'b': e2b_text_char(out, '\b'); return true;
    case 'f': e2b_text_char(out, '\f'); return true;
    case 'n': e2b_text_char(out, '\n'); return true;
    case 'r': e2b_text_char(out, '\r'); return true;
    case 't': e2b_text_char(out, '\t'); return true;
    default: return false;
    }
}

static bool take_byte(e2b_json_reader *reader, uint8_t byte, e2b_text *out)
{
    if (reader->text_state == ESCAPE) {
        return take_escape(reader, byte, out);
    }
    if (reader->text_state > ESCAPE) {
        return take_hex(reader, byte, out);
    }
    if (reader->text_state == E2B_UTF8_WHOLE) {
        if (byte == '\\') {
            reader->text_state = ESCAPE;
            return true;
        }
        if (reader->high != 0 || byte < 0x20 || byte == '"') {
            return false;
        }
    }
    reader->text_state = e2b_utf8_step(reader->text_state, byte);
    if (reader->text_state == E2B_UTF8_BAD) {
        return false;
    }
    e2b_text_char(out, (char)byte);
    return true;
}

/* How many bytes stand for themselves and are whole characters. */
static size_t plain_run(const char *in, size_t len)
{
    size_t count = 0;
    while (count < len) {
        uint8_t byte = (uint8_t)in[count];
        if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') {
            break;
        }
        count++;
    }
    return count;
}

bool e2b_json_unescape(e2b_json_reader *reader, const char *in, size_t len, e2b_text *out)
{
    if (reader->text_state == FAILED) {
        return false;
    }
    size_t at = 0;
    while (at < len) {
        if (e2b_json_text_whole(reader)) {
            size_t count = plain_run(in + at, len - at);
            e2b_text_bytes(out, in + at, count);
            at += count;
            if (at == len) {
                break;
            }
        }
        if (!take_byte(reader, (uint8_t)in[at], out)) {
            reader->text_state = FAILED;
            return false;
        }
        at++;
    }
    return true;
}

bool e2b_json_text(e2b_json_reader *reader, const e2b_json_item *item, e2b_text *out)
{
    return e2b_json_unescape(reader, item->raw.ptr, item->raw.len, out) &&
           (!item->last || e2b_json_text_whole(reader));
}

void e2b_json_key_begin(e2b_json_reader *reader)
{
    e2b_json_text_begin(reader);
    reader->key_len = 0;
    reader->key[0] = '\0';
}

bool e2b_json_key_piece(e2b_json_reader *reader, const char *in, size_t len)
{
    e2b_text key = {reader->key, E2B_JSON_KEY_SIZE, 0, reader->key_len};
    if (!e2b_json_unescape(reader, in, len, &key)) {
        return false;
    }
    if (key.total > E2B_JSON_KEY_SIZE) {
        reader->key_len = E2B_JSON_KEY_TOO_LONG;
        reader->key[0] = '\0';
    } else {
        reader->key_len = (uint8_t)key.total;
        reader->key[reader->key_len] = '\0';
    }
    return true;
}

bool e2b_json_key_is(const e2b_json_reader *reader, const char *name)
{
    size_t len = strlen(name);
    return len <= E2B_JSON_KEY_SIZE && len == reader->key_len && memcmp(reader->key, name, len) == 0;
}
