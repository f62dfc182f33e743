#include "wire/report.h"

#include <string.h>

#include "base/utf8.h"

e2b_error *e2b_report(e2b_client *client, e2b_err code, const char *operation, e2b_text *text)
{
    e2b_error *error = client->cleaning ? &client->cleanup_error : &client->error;
    client->latest_is_cleanup = client->cleaning;
    memset(error, 0, sizeof *error);
    error->code = code;
    *text = (e2b_text){error->text, sizeof error->text, 0, 0};
    e2b_text_string(text, operation);
    e2b_text_string(text, ": ");
    return error;
}

/* A server may send back what it was sent, and a bound may have cut a secret
 * off, at the end of the text or of a part of it: so its first characters
 * count for all of it. */
enum { RECOGNISED = 8, TOKEN_DIGITS = 24 };

static void hide(char *text, size_t length, e2b_str secret)
{
    if (secret.len < RECOGNISED) return;
    for (size_t at = 0; at + RECOGNISED <= length; at++) {
        size_t match = 0;
        while (match < secret.len && at + match < length && text[at + match] == secret.ptr[match]) match++;
        if (match >= RECOGNISED) memset(text + at, '*', match);
    }
}

/* Access tokens are 64 hex digits; the client doesn't know every sandbox's.
 * `cut`: the text goes on beyond its bound. */
static void hide_tokens(e2b_client *client, char *text, size_t length, bool cut)
{
    size_t run = 0;
    for (size_t i = 0; i <= length; i++) {
        bool hex = i < length && ((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f'));
        if (hex) {
            run++;
            continue;
        }
        if (run >= TOKEN_DIGITS || (cut && run >= RECOGNISED && i == length)) memset(text + i - run, '*', run);
        run = 0;
    }
    hide(text, length, client->api_key);
}

e2b_err e2b_report_end(e2b_client *client, e2b_error *error, e2b_text *text)
{
    size_t length = e2b_text_stored(text);
    if (length == text->size) length--;
    hide_tokens(client, error->text, length, text->total > length);
    length = e2b_utf8_printable(error->text, length);
    error->text[length] = '\0';
    return error->code;
}

e2b_err e2b_fail(e2b_client *client, e2b_err code, const char *operation, const char *detail)
{
    e2b_text text;
    e2b_error *error = e2b_report(client, code, operation, &text);
    e2b_text_string(&text, detail ? detail : e2b_err_text(code));
    return e2b_report_end(client, error, &text);
}

e2b_err e2b_fail_on(e2b_client *client, e2b_err code, const char *operation, const char *detail, e2b_str subject)
{
    e2b_text text;
    e2b_error *error = e2b_report(client, code, operation, &text);
    e2b_text_string(&text, detail ? detail : e2b_err_text(code));
    e2b_text_string(&text, ": '");
    e2b_text_bytes(&text, subject.ptr, subject.len < 80 ? subject.len : 80);
    e2b_text_char(&text, '\'');
    return e2b_report_end(client, error, &text);
}

void e2b_trace(e2b_client *client, e2b_text *line)
{
    size_t length = e2b_text_stored(line);
    if (!client->port || !client->port->trace) return;
    hide_tokens(client, line->out, length, line->total > length);
    client->port->trace(client->port->context, line->out, e2b_utf8_printable(line->out, length));
}
