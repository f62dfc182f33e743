/* list: sandboxes by metadata and state, page after page, any number in fixed memory. */
#include <string.h>

#include "base/date.h"
#include "base/utf8.h"
#include "cloud/api.h"
#include "cloud/info.h"
#include "wire/report.h"

static const char operation[] = "list sandboxes";

enum { STAGE_PAGE, STAGE_ITEMS, STAGE_END, STAGE_FAILED };

typedef struct list_query {
    const e2b_list_options *options;
    const char *next_token;
} list_query;

/* The server decodes three times: the query, the joined pairs, each part. */
static void write_metadata(e2b_text *text, const e2b_list_options *options)
{
    for (size_t i = 0; i < options->metadata_count; i++) {
        e2b_text_string(text, i ? "%26" : "metadata=");
        e2b_text_percent(text, e2b_str_of(options->metadata[i].name), "%2525");
        e2b_text_string(text, "%3D");
        e2b_text_percent(text, e2b_str_of(options->metadata[i].value), "%2525");
    }
}

static void write_moment(e2b_text *text, int64_t ms)
{
    char date[32];
    e2b_text moment = {date, sizeof date, 0, 0};
    e2b_text_date(&moment, ms);
    e2b_text_percent(text, (e2b_str){date, e2b_text_stored(&moment)}, "%");
}

/* The start of a parameter: '?' before the first, '&' before the others. */
static void parameter(e2b_text *text, uint64_t start, const char *name)
{
    e2b_text_char(text, text->total == start ? '?' : '&');
    e2b_text_string(text, name);
}

static void write_query(e2b_text *text, const void *subject)
{
    const list_query *query = subject;
    const e2b_list_options *options = query->options;
    uint64_t start = text->total;
    if (options->metadata_count) {
        parameter(text, start, "");
        write_metadata(text, options);
    }
    if (options->running || options->paused) {
        parameter(text, start, "state=");
        e2b_text_string(text, !options->paused ? "running" : !options->running ? "paused" : "running,paused");
    }
    if (options->started_after_ms) {
        parameter(text, start, "startedAfter=");
        write_moment(text, options->started_after_ms);
    }
    if (options->template_name) {
        parameter(text, start, "template=");
        e2b_text_percent(text, e2b_str_of(options->template_name), "%");
    }
    if (options->ascending) parameter(text, start, options->ascending == E2B_YES ? "order=asc" : "order=desc");
    if (options->limit) {
        parameter(text, start, "limit=");
        e2b_text_u64(text, options->limit);
    }
    if (*query->next_token) {
        parameter(text, start, "nextToken=");
        e2b_text_percent(text, e2b_str_of(query->next_token), "%");
    }
}

static const char *options_wrong(const e2b_list_options *options)
{
    if (options->limit > 100) return "limit must be 1 to 100";
    if (options->metadata_count && !options->metadata) return "metadata is missing";
    for (size_t i = 0; i < options->metadata_count; i++)
        if (!options->metadata[i].name || !*options->metadata[i].name || !options->metadata[i].value ||
            !e2b_utf8_valid(e2b_str_of(options->metadata[i].name)) || !e2b_utf8_valid(e2b_str_of(options->metadata[i].value)))
            return "metadata holds an empty name or a value that is not UTF-8";
    return NULL;
}

e2b_err e2b_sandbox_list_open(e2b_client *client, e2b_sandbox_list *list, const e2b_list_options *options)
{
    memset(list, 0, sizeof *list);
    if (options) list->options = *options;
    list->client = client;
    const char *wrong = options_wrong(&list->options);
    if (wrong) {
        list->stage = STAGE_FAILED;
        list->err = E2B_INVALID;
        return e2b_fail(client, E2B_INVALID, operation, wrong);
    }
    if (list->options.arena) list->arena_mark = e2b_arena_mark(list->options.arena);
    return E2B_OK;
}

static e2b_err fail(e2b_sandbox_list *list, e2b_err err)
{
    list->stage = STAGE_FAILED;
    list->err = err;
    return err;
}

/* The call goes on over the connection that the list holds. */
static void resume_call(e2b_sandbox_list *list, e2b_call *call, uint64_t deadline)
{
    e2b_api_call(list->client, call, operation, "GET");
    e2b_api_path(call, "/v2/sandboxes", (e2b_str){NULL, 0}, NULL);
    call->repeatable = true;
    call->use = E2B_USE_STREAM;
    call->deadline = deadline;
    call->conn = e2b_slot_held(list->client, list->slot, list->generation);
}

static e2b_err ask_for_page(e2b_sandbox_list *list, uint64_t deadline)
{
    char token[sizeof list->next_token];
    e2b_call call;
    e2b_json_item item;
    memcpy(token, list->next_token, sizeof token);
    list_query query = {&list->options, token};
    resume_call(list, &call, deadline);
    call.conn = NULL;
    call.request.query = write_query;
    call.request.subject = &query;
    call.next_token = list->next_token;
    call.next_token_size = sizeof list->next_token;
    e2b_err err = e2b_call_begin(&call);
    if (err) return err;
    if (call.conn->http.status >= 300) return e2b_call_refused(&call);
    if (*token && strcmp(token, list->next_token) == 0) return e2b_call_fail(&call, E2B_PROTOCOL, "the list turns in a circle");
    e2b_reply reply = {&call, NULL};
    err = e2b_reply_next(&reply, &item);
    if (err) return err;
    if (item.kind != E2B_JSON_ARRAY) return e2b_call_fail(&call, E2B_PROTOCOL, "the answer is not a list");
    list->slot = e2b_slot_number(list->client, call.conn);
    list->generation = call.conn->generation;
    list->stage = STAGE_ITEMS;
    return E2B_OK;
}

static e2b_err end_page(e2b_sandbox_list *list, e2b_call *call, e2b_reply *reply)
{
    e2b_json_item item;
    e2b_err err;
    while (!(err = e2b_reply_next(reply, &item)) && item.kind != E2B_JSON_DONE) {}
    if (err) return err;
    e2b_call_end(call);
    list->stage = list->next_token[0] ? STAGE_PAGE : STAGE_END;
    return E2B_OK;
}

/* The next item of the page, or a change of stage at its end. */
static e2b_err read_item(e2b_sandbox_list *list, e2b_sandbox_info *info, uint64_t deadline)
{
    e2b_call call;
    e2b_json_item item;
    resume_call(list, &call, deadline);
    if (!call.conn) return e2b_fail(list->client, E2B_CLOSED, operation, "its connection was needed for a kill");
    e2b_reply reply = {&call, NULL};
    e2b_err err = e2b_reply_next(&reply, &item);
    if (err) return err;
    if (item.kind == E2B_JSON_END) return end_page(list, &call, &reply);
    if (item.kind != E2B_JSON_OBJECT) return e2b_call_fail(&call, E2B_PROTOCOL, "the list holds what is no sandbox");
    return e2b_info_read(&reply, &item, info, list->options.arena, NULL);
}

e2b_err e2b_sandbox_list_next(e2b_sandbox_list *list, e2b_sandbox_info *info)
{
    memset(info, 0, sizeof *info);
    if (list->stage == STAGE_FAILED) return list->err;
    if (!list->client) return E2B_CLOSED;
    if (list->options.arena) e2b_arena_release(list->options.arena, list->arena_mark);
    /* One for all: a server may send page after page without an item. */
    uint64_t deadline = e2b_deadline(list->client, list->client->limits.request_ms, 60000);
    while (!info->id[0] && list->stage != STAGE_END) {
        e2b_err err = list->stage == STAGE_PAGE ? ask_for_page(list, deadline) : read_item(list, info, deadline);
        if (err == E2B_TOO_SMALL) return err;
        if (err) return fail(list, err);
    }
    return E2B_OK;
}

void e2b_sandbox_list_close(e2b_sandbox_list *list)
{
    e2b_conn *conn = list->client ? e2b_slot_held(list->client, list->slot, list->generation) : NULL;
    if (conn && list->stage == STAGE_ITEMS) e2b_slot_release(list->client, conn, false);
    list->stage = STAGE_FAILED;
    list->err = E2B_CLOSED;
}
