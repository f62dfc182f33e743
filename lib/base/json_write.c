#include "base/json_write.h"

#include <string.h>

#include "base/utf8.h"

static void write_unit(e2b_text *text, uint32_t unit)
{
    uint8_t bytes[2] = {(uint8_t)(unit >> 8), (uint8_t)unit};
    e2b_text_string(text, "\\u");
    e2b_text_hex(text, bytes, sizeof bytes);
}

static void write_short(e2b_text *text, char letter)
{
    e2b_text_char(text, '\\');
    e2b_text_char(text, letter);
}

static void write_escape(e2b_text *text, uint32_t code)
{
    switch (code) {
    case '"':
    case '\\': write_short(text, (char)code); return;
    case '\b': write_short(text, 'b'); return;
    case '\f': write_short(text, 'f'); return;
    case '\n': write_short(text, 'n'); return;
    case '\r': write_short(text, 'r'); return;
    case '\t': write_short(text, 't'); return;
    default: break;
    }
    if (code > 0xffff) {
        write_unit(text, 0xd800u + ((code - 0x10000u) >> 10));
        code = 0xdc00u + (code & 0x3ffu);
    }
    write_unit(text, code);
}

static size_t plain_run(e2b_str string)
{
    size_t count = 0;
    while (count < string.len) {
        uint8_t byte = (uint8_t)string.ptr[count];
        if (byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\') {
            break;
        }
        count++;
    }
    return count;
}

void e2b_json_write_string(e2b_text *text, e2b_str string)
{
    e2b_text_char(text, '"');
    while (string.len > 0) {
        size_t count = plain_run(string);
        if (count > 0) {
            e2b_text_bytes(text, string.ptr, count);
        } else {
            uint32_t code;
            count = e2b_utf8_next(string, &code);
            if (count == 0) {
                count = 1;
                code = 0xfffd;
            }
            write_escape(text, code);
        }
        string.ptr += count;
        string.len -= count;
    }
    e2b_text_char(text, '"');
}

static void write_c_string(e2b_text *text, const char *string)
{
    e2b_str str = {string, strlen(string)};
    e2b_json_write_string(text, str);
}

void e2b_json_write_pairs(e2b_text *text, const e2b_pair *pairs, size_t count)
{
    e2b_text_char(text, '{');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            e2b_text_char(text, ',');
        }
        write_c_string(text, pairs[i].name);
        e2b_text_char(text, ':');
        write_c_string(text, pairs[i].value);
    }
    e2b_text_char(text, '}');
}
