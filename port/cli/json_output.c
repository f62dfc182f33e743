#include "json_output.h"

static bool first_member;

void json_open(void)
{
    out_text("{");
    first_member = true;
}

void json_close(void)
{
    out_text("}");
    first_member = false;
}

/* Length of the UTF-8 sequence at `at`, or 0 if it is none. */
static size_t sequence(e2b_str text, size_t at)
{
    const unsigned char *bytes = (const unsigned char *)text.ptr + at;
    size_t length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xc2 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3
                    : bytes[0] < 0xf5 ? 4 : 0;

    if (length == 0 || length > text.len - at)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    if (length == 3 && ((bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xed && bytes[1] > 0x9f)))
        return 0;
    if (length == 4 && ((bytes[0] == 0xf0 && bytes[1] < 0x90) || (bytes[0] == 0xf4 && bytes[1] > 0x8f)))
        return 0;
    return length;
}

static void escape(unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = { '\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15] };

    out_bytes(text, sizeof text);
}

void json_string(e2b_str value)
{
    out_text("\"");
    for (size_t i = 0; i < value.len;) {
        unsigned char byte = (unsigned char)value.ptr[i];
        size_t length = sequence(value, i);
        if (length == 0) {
            out_text("\\ufffd"); /* what JSON can't carry: bytes that are no UTF-8 */
            length = 1;
        } else if (byte == '"' || byte == '\\') {
            out_text("\\");
            out_bytes(value.ptr + i, 1);
        } else if (byte < 0x20 || byte == 0x7f) {
            escape(byte);
        } else {
            out_bytes(value.ptr + i, length);
        }
        i += length;
    }
    out_text("\"");
}

static void name(const char *text)
{
    if (!first_member)
        out_text(",");
    first_member = false;
    json_string(str_of(text));
    out_text(":");
}

void json_member(const char *member, e2b_str value)
{
    name(member);
    json_string(value);
}

void json_member_object(const char *member)
{
    name(member);
    json_open();
}

void json_member_number(const char *member, int64_t value)
{
    name(member);
    out_number(value);
}

void json_member_bool(const char *member, bool value)
{
    name(member);
    out_text(value ? "true" : "false");
}

void json_member_date(const char *member, int64_t ms)
{
    name(member);
    out_text("\"");
    out_date(ms);
    out_text("\"");
}

void json_member_raw(const char *member, e2b_str json, const char *empty)
{
    name(member);
    if (json.len > 0)
        out_bytes(json.ptr, json.len);
    else
        out_text(empty);
}

void json_array_item(cli_json_array *array)
{
    out_text(array->opened ? ",\n " : "[");
    array->opened = true;
}

void json_array_end(cli_json_array *array)
{
    out_text(array->opened ? "]\n" : "[]\n");
}
