#include "base/shell_quote.h"

static bool bare(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '@' ||
           c == '%' || c == '+' || c == '=' || c == ':' || c == ',' || c == '.' || c == '/' || c == '-';
}

static bool all_bare(e2b_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (!bare(word.ptr[i])) {
            return false;
        }
    }
    return word.len > 0;
}

void e2b_shell_quote(e2b_text *text, e2b_str word)
{
    if (all_bare(word)) {
        e2b_text_str(text, word);
        return;
    }
    size_t written = 0;
    e2b_text_char(text, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\'') {
            /* Nothing escapes inside single quotes: close, a quoted quote, open again. */
            e2b_text_bytes(text, word.ptr + written, i - written);
            e2b_text_string(text, "'\"'\"'");
            written = i + 1;
        }
    }
    if (written < word.len) {
        e2b_text_bytes(text, word.ptr + written, word.len - written);
    }
    e2b_text_char(text, '\'');
}

void e2b_shell_join(e2b_text *text, const e2b_str *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            e2b_text_char(text, ' ');
        }
        e2b_shell_quote(text, words[i]);
    }
}
