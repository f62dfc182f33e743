#include "envd/process_body.h"

#include <string.h>

#include "base/json_write.h"
#include "base/utf8.h"

/* ---- Checks ---------------------------------------------------------------------- */

static bool user_wrong(const char *user)
{
    size_t len = strlen(user);
    if (len == 0 || len > 128) return true;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)user[i] <= ' ' || user[i] == 0x7f || user[i] == ':') return true;
    return false;
}

const char *e2b_start_wrong(const e2b_start_body *start)
{
    const e2b_process_options *options = start->options;
    if (start->argc == 0 || !start->argv || !start->argv[0] || !*start->argv[0]) return "the command is empty";
    for (size_t i = 0; i < start->argc; i++)
        if (!start->argv[i] || !e2b_utf8_valid(e2b_str_of(start->argv[i]))) return "an argument is missing or not UTF-8";
    if (start->tail && !e2b_utf8_valid(e2b_str_of(start->tail))) return "the command is not UTF-8";
    if (options->user && user_wrong(options->user)) return "the user name is empty, too long or holds a blank, colon or control character";
    if (options->cwd && !e2b_utf8_valid(e2b_str_of(options->cwd))) return "the working directory is not UTF-8";
    if (options->tag && !e2b_utf8_valid(e2b_str_of(options->tag))) return "the tag is not UTF-8";
    if (options->env_count && !options->env) return "env is missing";
    for (size_t i = 0; i < options->env_count; i++) {
        const e2b_pair *pair = &options->env[i];
        if (!pair->name || !*pair->name || strchr(pair->name, '=')) return "the name of an environment variable is empty or holds '='";
        if (!pair->value || !e2b_utf8_valid(e2b_str_of(pair->name)) || !e2b_utf8_valid(e2b_str_of(pair->value)))
            return "an environment variable is not UTF-8";
    }
    return NULL;
}

const char *e2b_selector_wrong(const e2b_selector_body *selector)
{
    if (selector->pid) return NULL;
    if (!selector->tag || !*selector->tag) return "neither a pid nor a tag";
    return e2b_utf8_valid(e2b_str_of(selector->tag)) ? NULL : "the tag is not UTF-8";
}

/* ---- JSON ------------------------------------------------------------------------ */

static void json_member(e2b_text *text, const char *name, const char *value)
{
    e2b_text_string(text, name);
    e2b_text_char(text, ':');
    e2b_json_write_string(text, e2b_str_of(value));
}

void e2b_start_json(e2b_text *text, const void *subject)
{
    const e2b_start_body *start = subject;
    const e2b_process_options *options = start->options;
    json_member(text, "{\"process\":{\"cmd\"", start->argv[0]);
    e2b_text_string(text, ",\"args\":[");
    for (size_t i = 1; i < start->argc; i++) {
        if (i > 1) e2b_text_char(text, ',');
        e2b_json_write_string(text, e2b_str_of(start->argv[i]));
    }
    if (start->tail) {
        if (start->argc > 1) e2b_text_char(text, ',');
        e2b_json_write_string(text, e2b_str_of(start->tail));
    }
    e2b_text_char(text, ']');
    if (options->env_count) {
        e2b_text_string(text, ",\"envs\":");
        e2b_json_write_pairs(text, options->env, options->env_count);
    }
    if (options->cwd) json_member(text, ",\"cwd\"", options->cwd);
    e2b_text_char(text, '}');
    if (options->tag) json_member(text, ",\"tag\"", options->tag);
    /* A field that is left out would mean true. */
    e2b_text_string(text, options->input ? ",\"stdin\":true}" : ",\"stdin\":false}");
}

static void json_process(e2b_text *text, const e2b_selector_body *selector)
{
    if (!selector->pid) {
        json_member(text, "{\"process\":{\"tag\"", selector->tag);
    } else {
        e2b_text_string(text, "{\"process\":{\"pid\":");
        e2b_text_u64(text, selector->pid);
    }
    e2b_text_char(text, '}');
}

void e2b_selector_json(e2b_text *text, const void *subject)
{
    json_process(text, subject);
    e2b_text_char(text, '}');
}

void e2b_signal_json(e2b_text *text, const void *subject)
{
    const e2b_selector_body *selector = subject;
    json_process(text, selector);
    e2b_text_string(text, selector->signal == E2B_SIGNAL_KILL ? ",\"signal\":\"SIGNAL_SIGKILL\"}" : ",\"signal\":\"SIGNAL_SIGTERM\"}");
}

void e2b_input_json(e2b_text *text, const void *subject)
{
    const e2b_selector_body *selector = subject;
    json_process(text, selector);
    e2b_text_string(text, ",\"input\":{\"stdin\":\"");
    e2b_text_base64(text, selector->input, selector->input_len);
    e2b_text_string(text, "\"}}");
}

/* ---- Protobuf ---------------------------------------------------------------------- */

enum { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

static void varint(e2b_text *text, uint64_t value)
{
    while (value >= 0x80) {
        e2b_text_char(text, (char)(unsigned char)(value | 0x80));
        value >>= 7;
    }
    e2b_text_char(text, (char)value);
}

static void proto_varint(e2b_text *text, uint32_t field, uint64_t value)
{
    varint(text, field << 3 | WIRE_VARINT);
    varint(text, value);
}

static void proto_bytes(e2b_text *text, uint32_t field, const void *bytes, size_t len)
{
    varint(text, field << 3 | WIRE_LENGTH);
    varint(text, len);
    e2b_text_bytes(text, bytes, len);
}

static void proto_string(e2b_text *text, uint32_t field, const char *string)
{
    proto_bytes(text, field, string, strlen(string));
}

/* A message inside a message: its length comes first, so it is counted first. */
static void proto_message(e2b_text *text, uint32_t field, void (*write)(e2b_text *, const void *), const void *subject)
{
    e2b_text count = {NULL, 0, 0, 0};
    write(&count, subject);
    varint(text, field << 3 | WIRE_LENGTH);
    varint(text, count.total);
    write(text, subject);
}

static void proto_pair(e2b_text *text, const void *subject)
{
    const e2b_pair *pair = subject;
    proto_string(text, 1, pair->name);
    proto_string(text, 2, pair->value);
}

static void proto_config(e2b_text *text, const void *subject)
{
    const e2b_start_body *start = subject;
    const e2b_process_options *options = start->options;
    proto_string(text, 1, start->argv[0]);
    for (size_t i = 1; i < start->argc; i++) proto_string(text, 2, start->argv[i]);
    if (start->tail) proto_string(text, 2, start->tail);
    for (size_t i = 0; i < options->env_count; i++) proto_message(text, 3, proto_pair, &options->env[i]);
    if (options->cwd) proto_string(text, 4, options->cwd);
}

void e2b_start_proto(e2b_text *text, const void *subject)
{
    const e2b_start_body *start = subject;
    proto_message(text, 1, proto_config, start);
    if (start->options->tag) proto_string(text, 3, start->options->tag);
    proto_varint(text, 4, start->options->input);
}

static void proto_selector(e2b_text *text, const void *subject)
{
    const e2b_selector_body *selector = subject;
    if (selector->pid) proto_varint(text, 1, selector->pid);
    else proto_string(text, 2, selector->tag);
}

void e2b_selector_proto(e2b_text *text, const void *subject)
{
    proto_message(text, 1, proto_selector, subject);
}

void e2b_signal_proto(e2b_text *text, const void *subject)
{
    const e2b_selector_body *selector = subject;
    proto_message(text, 1, proto_selector, subject);
    proto_varint(text, 2, (uint64_t)selector->signal);
}

static void proto_input(e2b_text *text, const void *subject)
{
    const e2b_selector_body *selector = subject;
    proto_bytes(text, 1, selector->input, selector->input_len);
}

void e2b_input_proto(e2b_text *text, const void *subject)
{
    proto_message(text, 1, proto_selector, subject);
    proto_message(text, 2, proto_input, subject);
}
