#include "cloud/info.h"

#include <string.h>

#include "base/arena.h"
#include "base/date.h"
#include "cloud/api.h"
#include "cloud/sandbox_reply.h"
#include "wire/report.h"
#include "wire/url.h"

enum {
    FIELD_NONE, FIELD_ID, FIELD_TEMPLATE, FIELD_ALIAS, FIELD_VERSION, FIELD_STATE, FIELD_STARTED, FIELD_END,
    FIELD_CPU, FIELD_MEMORY, FIELD_DISK, FIELD_INTERNET, FIELD_METADATA, FIELD_NETWORK, FIELD_LIFECYCLE,
    FIELD_TOKEN, FIELD_DOMAIN, FIELD_ON_TIMEOUT, FIELD_AUTO_RESUME
};

static const struct field_name {
    char name[20];
    uint8_t field;
} field_names[] = {
    {"sandboxID", FIELD_ID},       {"templateID", FIELD_TEMPLATE}, {"alias", FIELD_ALIAS},
    {"envdVersion", FIELD_VERSION}, {"state", FIELD_STATE},        {"startedAt", FIELD_STARTED},
    {"endAt", FIELD_END},          {"cpuCount", FIELD_CPU},        {"memoryMB", FIELD_MEMORY},
    {"diskSizeMB", FIELD_DISK},    {"allowInternetAccess", FIELD_INTERNET}, {"metadata", FIELD_METADATA},
    {"network", FIELD_NETWORK},    {"lifecycle", FIELD_LIFECYCLE}, {"envdAccessToken", FIELD_TOKEN},
    {"domain", FIELD_DOMAIN},
};

typedef struct info_reader {
    e2b_reply *reply;
    e2b_sandbox_info *info;
    e2b_arena *arena;
    e2b_sandbox *sandbox;
    e2b_text text; /* the string under way */
    char word[48]; /* state and dates */
    uint8_t depth; /* of the object's members */
    uint8_t field, outer;
    bool too_small, malformed;
    uint64_t needed; /* bytes that would have been enough */
} info_reader;

static uint8_t field_of(const e2b_json_reader *reader)
{
    for (size_t i = 0; i < sizeof field_names / sizeof field_names[0]; i++)
        if (e2b_json_key_is(reader, field_names[i].name)) return field_names[i].field;
    return FIELD_NONE;
}

/* ---- Strings --------------------------------------------------------------------- */

static void place(info_reader *r)
{
    e2b_sandbox_info *info = r->info;
    e2b_sandbox *sandbox = r->sandbox;
    r->text = (e2b_text){NULL, 0, 0, 0};
    switch (r->field) {
    case FIELD_ID: r->text = (e2b_text){info->id, sizeof info->id, 0, 0}; break;
    case FIELD_TEMPLATE: r->text = (e2b_text){info->template_id, sizeof info->template_id, 0, 0}; break;
    case FIELD_ALIAS: r->text = (e2b_text){info->alias, sizeof info->alias, 0, 0}; break;
    case FIELD_VERSION: r->text = (e2b_text){info->envd_version, sizeof info->envd_version, 0, 0}; break;
    case FIELD_STATE: case FIELD_STARTED: case FIELD_END: case FIELD_ON_TIMEOUT:
        r->text = (e2b_text){r->word, sizeof r->word, 0, 0};
        break;
    case FIELD_TOKEN:
        if (sandbox) r->text = (e2b_text){sandbox->access_token, sizeof sandbox->access_token, 0, 0};
        break;
    case FIELD_DOMAIN:
        if (sandbox) r->text = (e2b_text){sandbox->domain, sizeof sandbox->domain, 0, 0};
        break;
    default: break;
    }
}

static bool word_is(const info_reader *r, const char *word)
{
    return r->text.total == strlen(word) && memcmp(r->word, word, (size_t)r->text.total) == 0;
}

/* A part of it would be refused as a wrong one. */
static void token_too_long(info_reader *r)
{
    r->sandbox->secret = true;
    r->sandbox->access_token[0] = '\0';
    r->too_small = true;
    r->needed = r->text.total + 1;
}

static void finish_string(info_reader *r)
{
    e2b_str word = {r->word, e2b_text_stored(&r->text)};
    /* A C string would end there and be another one. */
    if (memchr(r->text.out, '\0', word.len)) r->malformed = true;
    e2b_text_terminate(&r->text);
    if (r->text.total >= r->text.size) {
        if (r->field == FIELD_TOKEN) token_too_long(r);
        else r->malformed = true;
        return;
    }
    switch (r->field) {
    case FIELD_STATE:
        r->info->state = word_is(r, "running") ? E2B_STATE_RUNNING : word_is(r, "paused") ? E2B_STATE_PAUSED : E2B_STATE_UNKNOWN;
        break;
    case FIELD_STARTED: r->malformed |= !e2b_parse_date(word, &r->info->started_ms); break;
    case FIELD_END: r->malformed |= !e2b_parse_date(word, &r->info->end_ms); break;
    case FIELD_ON_TIMEOUT: r->info->on_timeout_pause = word_is(r, "pause") ? E2B_YES : E2B_NO; break;
    case FIELD_TOKEN: r->sandbox->secret = r->text.total > 0; break;
    default: break;
    }
}

static void take_text(info_reader *r, e2b_json_reader *reader, const e2b_json_item *item)
{
    /* What nobody keeps isn't looked into. */
    if (!r->text.size) return;
    if (!e2b_json_text(reader, item, &r->text)) r->malformed = true;
    if (item->last) finish_string(r);
}

/* ---- Numbers and truths ------------------------------------------------------------ */

static void take_number(info_reader *r, const e2b_json_reader *reader, int32_t *place_of)
{
    int64_t number;
    if (e2b_json_int64(reader, &number) && number >= INT32_MIN && number <= INT32_MAX) *place_of = (int32_t)number;
    else r->malformed = true;
}

static void take_truth(info_reader *r, const e2b_json_reader *reader, int32_t *place_of)
{
    bool value;
    if (e2b_json_bool(reader, &value)) *place_of = value ? E2B_YES : E2B_NO;
    else r->malformed = true;
}

static void take_scalar(info_reader *r, const e2b_json_reader *reader)
{
    if (e2b_json_is_null(reader)) return;
    switch (r->field) {
    case FIELD_CPU: take_number(r, reader, &r->info->cpu_count); break;
    case FIELD_MEMORY: take_number(r, reader, &r->info->memory_mb); break;
    case FIELD_DISK: take_number(r, reader, &r->info->disk_mb); break;
    case FIELD_INTERNET: take_truth(r, reader, &r->info->internet_access); break;
    case FIELD_AUTO_RESUME: take_truth(r, reader, &r->info->auto_resume); break;
    case FIELD_NONE: break;
    default: r->malformed = true;
    }
}

/* ---- Objects kept as text ------------------------------------------------------------ */

static e2b_err keep_object(info_reader *r, const e2b_json_item *item, e2b_str *kept)
{
    e2b_arena *arena = r->arena;
    e2b_text text = e2b_arena_text(arena);
    e2b_err err = e2b_reply_capture(r->reply, item, &text);
    if (err) return err;
    if (!r->needed) r->needed = arena->used;
    r->needed += text.total;
    if (!e2b_text_fits(&text)) {
        r->too_small = true;
        return E2B_OK;
    }
    *kept = (e2b_str){text.out, (size_t)text.total};
    arena->used += kept->len;
    return E2B_OK;
}

static e2b_err take_object(info_reader *r, const e2b_json_item *item)
{
    bool member = item->depth == r->depth;
    if (member && r->field == FIELD_LIFECYCLE) r->outer = FIELD_LIFECYCLE;
    if (!member || !r->arena || item->kind != E2B_JSON_OBJECT) return E2B_OK;
    if (r->field == FIELD_METADATA) return keep_object(r, item, &r->info->metadata);
    if (r->field == FIELD_NETWORK) return keep_object(r, item, &r->info->network);
    return E2B_OK;
}

/* ---- The object ------------------------------------------------------------------------ */

static void take_key(info_reader *r, const e2b_json_reader *reader, uint8_t depth)
{
    r->field = FIELD_NONE;
    if (depth == r->depth) {
        r->field = field_of(reader);
        r->outer = FIELD_NONE;
    } else if (depth == r->depth + 1 && r->outer == FIELD_LIFECYCLE) {
        if (e2b_json_key_is(reader, "onTimeout")) r->field = FIELD_ON_TIMEOUT;
        if (e2b_json_key_is(reader, "autoResume")) r->field = FIELD_AUTO_RESUME;
    }
    place(r);
}

static bool wanted_here(const info_reader *r, uint8_t depth)
{
    return r->field != FIELD_NONE && (depth == r->depth || (depth == r->depth + 1 && r->outer == FIELD_LIFECYCLE));
}

static e2b_err judge(info_reader *r)
{
    e2b_str id = {r->info->id, strlen(r->info->id)};
    if (r->malformed || !e2b_sandbox_id_valid(id))
        return e2b_call_fail(r->reply->call, E2B_PROTOCOL, "the answer holds a malformed sandbox");
    if (!r->too_small) return E2B_OK;
    e2b_client *client = r->reply->call->client;
    e2b_fail(client, E2B_TOO_SMALL, r->reply->call->operation,
             r->sandbox ? "the access token is too long to be kept: the sandbox can only be killed"
                        : "the arena is too small for this sandbox's metadata and network");
    (client->cleaning ? &client->cleanup_error : &client->error)->needed = r->needed < SIZE_MAX ? (size_t)r->needed : SIZE_MAX;
    return E2B_TOO_SMALL;
}

e2b_err e2b_info_read(e2b_reply *reply, const e2b_json_item *begin, e2b_sandbox_info *info, e2b_arena *arena,
                      e2b_sandbox *sandbox)
{
    e2b_json_reader *reader = &reply->call->conn->reader;
    uint8_t outside = begin->depth;
    info_reader r;
    e2b_json_item item;
    e2b_err err;
    memset(&r, 0, sizeof r);
    memset(info, 0, sizeof *info);
    r.reply = reply;
    r.info = info;
    r.arena = arena;
    r.sandbox = sandbox;
    r.depth = (uint8_t)(outside + 1);
    while (!(err = e2b_reply_next(reply, &item))) {
        if (item.kind == E2B_JSON_END && item.depth == outside) return judge(&r);
        if (item.kind == E2B_JSON_KEY) take_key(&r, reader, item.depth);
        else if (item.kind == E2B_JSON_OBJECT || item.kind == E2B_JSON_ARRAY) err = take_object(&r, &item);
        else if (item.kind == E2B_JSON_TEXT && wanted_here(&r, item.depth)) take_text(&r, reader, &item);
        else if (item.kind == E2B_JSON_SCALAR && wanted_here(&r, item.depth)) take_scalar(&r, reader);
        if (err) return err;
    }
    return err;
}

/* ---- One sandbox ----------------------------------------------------------------------- */

static e2b_err ask(e2b_sandbox *sandbox, const char *operation, e2b_sandbox_info *info, e2b_arena *arena, e2b_sandbox *learned)
{
    e2b_call call;
    e2b_json_item item;
    e2b_api_call(sandbox->client, &call, operation, "GET");
    e2b_api_path(&call, "/sandboxes/", e2b_sandbox_id(sandbox), NULL);
    call.repeatable = true;
    e2b_err err = e2b_call_begin(&call);
    if (err) return err;
    if (call.conn->http.status >= 300) return e2b_call_refused(&call);
    e2b_reply reply = {&call, NULL};
    err = e2b_reply_next(&reply, &item);
    if (err) return err;
    if (item.kind != E2B_JSON_OBJECT) return e2b_call_fail(&call, E2B_PROTOCOL, "the answer is not a sandbox");
    e2b_err result = e2b_info_read(&reply, &item, info, arena, learned);
    if (result && result != E2B_TOO_SMALL) return result;
    while (!(err = e2b_reply_next(&reply, &item)) && item.kind != E2B_JSON_DONE) {}
    if (err) return err;
    e2b_call_end(&call);
    return result;
}

e2b_err e2b_sandbox_get_info(e2b_sandbox *sandbox, e2b_sandbox_info *info, e2b_arena *arena)
{
    e2b_err err = e2b_sandbox_require(sandbox, "get sandbox info");
    return err ? err : ask(sandbox, "get sandbox info", info, arena, NULL);
}

static bool reachable(e2b_sandbox *sandbox, const e2b_sandbox_info *info)
{
    e2b_str token = {sandbox->access_token, strlen(sandbox->access_token)};
    memcpy(sandbox->envd_version, info->envd_version, sizeof sandbox->envd_version);
    if (!sandbox->domain[0]) {
        e2b_text domain = {sandbox->domain, sizeof sandbox->domain, 0, 0};
        e2b_text_str(&domain, sandbox->client->domain);
        e2b_text_terminate(&domain);
    }
    return e2b_version_parse(sandbox->envd_version, sandbox->version) && (!token.len || e2b_word_valid(token)) &&
           e2b_host_name_valid((e2b_str){sandbox->domain, strlen(sandbox->domain)});
}

e2b_err e2b_sandbox_learn(e2b_sandbox *sandbox, const char *operation)
{
    e2b_sandbox_info info;
    sandbox->domain[0] = sandbox->access_token[0] = '\0';
    sandbox->secret = false;
    e2b_err err = ask(sandbox, operation, &info, NULL, sandbox);
    if (err) return err;
    if (!reachable(sandbox, &info)) {
        /* Nothing of it may go into a request. */
        memset(sandbox->version, 0, sizeof sandbox->version);
        sandbox->domain[0] = sandbox->access_token[0] = '\0';
        return e2b_fail(sandbox->client, E2B_PROTOCOL, operation, "the answer holds a malformed field");
    }
    if (info.state == E2B_STATE_PAUSED)
        return e2b_fail(sandbox->client, E2B_NOT_RUNNING, operation, "the sandbox is paused: resume it first");
    return E2B_OK;
}

e2b_err e2b_sandbox_attach(e2b_client *client, e2b_sandbox *sandbox, const char *id)
{
    e2b_err err = e2b_sandbox_refer(client, sandbox, id);
    return err ? err : e2b_sandbox_learn(sandbox, "attach to sandbox");
}
