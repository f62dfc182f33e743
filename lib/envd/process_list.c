/* process_list: what runs in a sandbox, any number in fixed memory. */
#include <string.h>

#include "base/arena.h"
#include "envd/envd_call.h"
#include "wire/reply.h"
#include "wire/report.h"

static const char operation[] = "list processes";

enum { STAGE_NONE, STAGE_ITEMS, STAGE_END, STAGE_FAILED };
enum { FIELD_NONE, FIELD_PID, FIELD_TAG, FIELD_CONFIG, FIELD_CMD, FIELD_ARGS, FIELD_ENV, FIELD_CWD };

static void write_nothing(e2b_text *text, const void *subject)
{
    (void)subject;
    e2b_text_string(text, "{}");
}

static e2b_err fail(e2b_process_list *list, e2b_err err)
{
    list->stage = STAGE_FAILED;
    list->err = err;
    return err;
}

/* Up to the array of processes. An empty answer has none. */
static e2b_err find_array(e2b_process_list *list, e2b_call *call)
{
    e2b_reply reply = {call, NULL};
    e2b_json_item item;
    bool processes = false;
    e2b_err err = e2b_reply_next(&reply, &item);
    if (!err && item.kind != E2B_JSON_OBJECT) return e2b_call_fail(call, E2B_PROTOCOL, "the answer is not a list");
    while (!err && !(err = e2b_reply_next(&reply, &item)) && item.kind != E2B_JSON_DONE) {
        if (item.depth == 1 && item.kind == E2B_JSON_KEY) processes = e2b_json_key_is(&call->conn->reader, "processes");
        if (item.depth != 1 || !processes || item.kind == E2B_JSON_KEY) continue;
        if (item.kind == E2B_JSON_ARRAY) {
            list->stage = STAGE_ITEMS;
            return E2B_OK;
        }
        if (item.kind != E2B_JSON_SCALAR || !e2b_json_is_null(&call->conn->reader)) return e2b_call_fail(call, E2B_PROTOCOL, "the answer is not a list");
    }
    if (err) return err;
    list->stage = STAGE_END;
    e2b_call_end(call);
    return E2B_OK;
}

e2b_err e2b_process_list_open(e2b_sandbox *sandbox, e2b_process_list *list, e2b_arena *arena)
{
    e2b_envd_call envd;
    memset(list, 0, sizeof *list);
    e2b_err err = e2b_envd_require(sandbox, operation);
    if (err) return fail(list, err);
    list->sandbox = sandbox;
    list->arena = arena;
    if (arena) list->arena_mark = e2b_arena_mark(arena);
    e2b_envd_unary(sandbox, &envd, operation, "/process.Process/List", false, write_nothing, NULL);
    envd.call.use = E2B_USE_STREAM;
    envd.call.repeatable = true;
    err = e2b_call_begin(&envd.call);
    if (err) return fail(list, err);
    if (envd.call.conn->http.status >= 300) return fail(list, e2b_call_refused(&envd.call));
    err = find_array(list, &envd.call);
    if (err) return fail(list, err);
    if (list->stage == STAGE_ITEMS) {
        list->slot = e2b_slot_number(sandbox->client, envd.call.conn);
        list->generation = envd.call.conn->generation;
    }
    return E2B_OK;
}

/* ---- One process ------------------------------------------------------------------- */

typedef struct item_reader {
    e2b_reply *reply;
    e2b_process_info *info;
    e2b_arena *arena;
    e2b_text text;
    uint64_t needed; /* of the arena, for all strings */
    uint8_t field;
    bool in_config, too_small, malformed;
} item_reader;

static void open_text(item_reader *r)
{
    r->text = (e2b_text){NULL, 0, 0, 0};
    if (r->arena) r->text = e2b_arena_text(r->arena);
}

static void close_text(item_reader *r, e2b_str *place)
{
    if (!r->arena) return;
    r->needed += r->text.total;
    if (!e2b_text_fits(&r->text)) {
        r->too_small = true;
        return;
    }
    *place = (e2b_str){r->text.out, (size_t)r->text.total};
    r->arena->used += place->len;
}

static void take_key(item_reader *r, const e2b_json_reader *json, uint8_t depth)
{
    r->field = FIELD_NONE;
    if (depth == 3) {
        r->in_config = e2b_json_key_is(json, "config");
        r->field = r->in_config ? FIELD_CONFIG : e2b_json_key_is(json, "pid") ? FIELD_PID : e2b_json_key_is(json, "tag") ? FIELD_TAG : FIELD_NONE;
    }
    if (depth == 4 && r->in_config) {
        if (e2b_json_key_is(json, "cmd")) r->field = FIELD_CMD;
        if (e2b_json_key_is(json, "args")) r->field = FIELD_ARGS;
        if (e2b_json_key_is(json, "envs")) r->field = FIELD_ENV;
        if (e2b_json_key_is(json, "cwd")) r->field = FIELD_CWD;
    }
    open_text(r);
}

static void take_text(item_reader *r, e2b_json_reader *json, const e2b_json_item *item)
{
    e2b_str *place = r->field == FIELD_TAG ? &r->info->tag : r->field == FIELD_CMD ? &r->info->cmd
                   : r->field == FIELD_CWD ? &r->info->cwd : NULL;
    if (!place || item->depth != (r->field == FIELD_TAG ? 3 : 4)) return;
    if (!e2b_json_text(json, item, &r->text)) r->malformed = true;
    if (item->last) close_text(r, place);
}

static e2b_err take_container(item_reader *r, const e2b_json_item *item)
{
    bool array = item->kind == E2B_JSON_ARRAY;
    if (item->depth != 4 || r->field != (array ? FIELD_ARGS : FIELD_ENV)) return E2B_OK;
    e2b_err err = e2b_reply_capture(r->reply, item, &r->text);
    if (!err) close_text(r, array ? &r->info->args : &r->info->env);
    return err;
}

static void take_scalar(item_reader *r, const e2b_json_reader *json, uint8_t depth)
{
    int64_t pid;
    if (depth != 3 || r->field != FIELD_PID) return;
    if (!e2b_json_int64(json, &pid) || pid < 1 || pid > UINT32_MAX) r->malformed = true;
    else r->info->pid = (uint32_t)pid;
}

static e2b_err read_process(e2b_reply *reply, e2b_process_info *info, e2b_arena *arena)
{
    e2b_json_reader *json = &reply->call->conn->reader;
    item_reader r;
    e2b_json_item item;
    e2b_err err;
    memset(&r, 0, sizeof r);
    r.reply = reply;
    r.info = info;
    r.arena = arena;
    r.needed = arena ? arena->used : 0;
    while (!(err = e2b_reply_next(reply, &item))) {
        if (item.kind == E2B_JSON_END && item.depth == 2) break;
        if (item.kind == E2B_JSON_KEY) take_key(&r, json, item.depth);
        else if (item.kind == E2B_JSON_TEXT) take_text(&r, json, &item);
        else if (item.kind == E2B_JSON_SCALAR) take_scalar(&r, json, item.depth);
        else if (item.kind != E2B_JSON_END) err = take_container(&r, &item);
        if (err) break;
    }
    if (err) return err;
    if (r.malformed || !info->pid) return e2b_call_fail(reply->call, E2B_PROTOCOL, "the list holds a malformed process");
    if (!r.too_small) return E2B_OK;
    e2b_client *client = reply->call->client;
    err = e2b_fail(client, E2B_TOO_SMALL, operation, "the arena is too small for this process's strings");
    client->error.needed = r.needed < SIZE_MAX ? (size_t)r.needed : SIZE_MAX;
    return err;
}

/* ---- The list ----------------------------------------------------------------------- */

static e2b_err end_list(e2b_process_list *list, e2b_reply *reply)
{
    e2b_json_item item;
    e2b_err err;
    while (!(err = e2b_reply_next(reply, &item)) && item.kind != E2B_JSON_DONE) {}
    if (err) return err;
    e2b_call_end(reply->call);
    list->stage = STAGE_END;
    return E2B_OK;
}

static e2b_err next(e2b_process_list *list, e2b_process_info *info)
{
    e2b_envd_call envd;
    e2b_json_item item;
    e2b_client *client = list->sandbox->client;
    e2b_envd_unary(list->sandbox, &envd, operation, "/process.Process/List", false, write_nothing, NULL);
    envd.call.conn = e2b_slot_held(client, list->slot, list->generation);
    if (!envd.call.conn) return e2b_fail(client, E2B_CLOSED, operation, "its connection was needed for a kill");
    e2b_reply reply = {&envd.call, NULL};
    e2b_err err = e2b_reply_next(&reply, &item);
    if (err) return err;
    if (item.kind == E2B_JSON_END) return end_list(list, &reply);
    if (item.kind != E2B_JSON_OBJECT) return e2b_call_fail(&envd.call, E2B_PROTOCOL, "the list holds what is no process");
    return read_process(&reply, info, list->arena);
}

e2b_err e2b_process_list_next(e2b_process_list *list, e2b_process_info *info)
{
    memset(info, 0, sizeof *info);
    if (list->stage == STAGE_FAILED) return list->err;
    if (list->stage == STAGE_NONE) return E2B_CLOSED;
    if (list->stage == STAGE_END) return E2B_OK;
    if (list->arena) e2b_arena_release(list->arena, list->arena_mark);
    e2b_err err = next(list, info);
    return err && err != E2B_TOO_SMALL ? fail(list, err) : err;
}

void e2b_process_list_close(e2b_process_list *list)
{
    e2b_conn *conn = list->stage == STAGE_ITEMS ? e2b_slot_held(list->sandbox->client, list->slot, list->generation) : NULL;
    if (conn) e2b_slot_release(list->sandbox->client, conn, false);
    list->stage = STAGE_FAILED;
    list->err = E2B_CLOSED;
}
