/* kill: how a sandbox ends, and how a lost create is settled first.
 *
 * All of it is cleanup: failures go to client->cleanup_error and the cancel
 * flag is not looked at.
 */
#include <string.h>

#include "cloud/api.h"
#include "cloud/create_body.h"
#include "cloud/info.h"
#include "wire/refusal.h"
#include "wire/reply.h"
#include "wire/report.h"

#define TAKES_ANY_SLOT (E2B_SLOT_TAKE_INPUT | E2B_SLOT_TAKE_STREAM)

/* ---- Settle ---------------------------------------------------------------------- */

static void write_tag_query(e2b_text *text, const void *subject)
{
    const e2b_sandbox *sandbox = subject;
    e2b_text_string(text, "?metadata=" E2B_CREATE_TAG "%3D");
    e2b_text_string(text, sandbox->create_tag);
}

/* The sandboxID of the first item that carries the tag itself: a server that
 * ignores the filter must not make us take somebody else's. */
typedef struct search {
    e2b_text id, value;
    char id_chars[66], value_chars[33];
    bool in_metadata, is_tag, is_id, matches, found, unusable, strange;
} search;

/* The item is over. */
static void search_end(search *s, e2b_sandbox *sandbox)
{
    e2b_str id = {s->id_chars, (size_t)s->id.total};
    if (!s->matches || s->found) return;
    s->found = s->id.total < sizeof sandbox->id && e2b_sandbox_id_valid(id);
    s->unusable |= !s->found;
    if (!s->found) return;
    memcpy(sandbox->id, id.ptr, id.len);
    sandbox->id[id.len] = '\0';
}

static void search_item(search *s, e2b_json_reader *reader, const e2b_json_item *item, e2b_sandbox *sandbox)
{
    if (item->depth == 1 && item->kind == E2B_JSON_OBJECT) {
        s->id.total = 0;
        s->matches = false;
    }
    if (item->depth == 1 && item->kind != E2B_JSON_OBJECT && item->kind != E2B_JSON_END) s->strange = true;
    if (item->depth == 1 && item->kind == E2B_JSON_END) search_end(s, sandbox);
    if (item->depth == 2 && item->kind == E2B_JSON_KEY) {
        s->in_metadata = e2b_json_key_is(reader, "metadata");
        s->is_id = e2b_json_key_is(reader, "sandboxID");
        s->is_tag = false;
        if (s->is_id) s->id.total = 0;
    }
    if (item->depth == 3 && item->kind == E2B_JSON_KEY) {
        s->is_tag = s->in_metadata && e2b_json_key_is(reader, E2B_CREATE_TAG);
        s->value.total = 0;
    }
    if (item->kind != E2B_JSON_TEXT) return;
    if (item->depth == 2 && s->is_id) e2b_json_text(reader, item, &s->id);
    if (item->depth == 3 && s->is_tag && e2b_json_text(reader, item, &s->value) && item->last)
        s->matches = s->value.total == 32 && memcmp(s->value_chars, sandbox->create_tag, 32) == 0;
}

/* What keeps a list without a match from proving that there is none. */
static const char *inconclusive(const search *s, const char *next_token)
{
    if (s->strange) return "the list holds what is no sandbox";
    if (s->unusable) return "the created sandbox's id is no sandbox id";
    return next_token[0] ? "the answer goes on although one sandbox was asked for" : NULL;
}

/* One look by the tag. *found: the sandbox's id is in the struct. */
static e2b_err look(e2b_sandbox *sandbox, uint32_t slot_flags, bool *found)
{
    static const char operation[] = "look for the created sandbox";
    e2b_call call;
    search s;
    char next_token[256];
    memset(&s, 0, sizeof s);
    s.id = (e2b_text){s.id_chars, sizeof s.id_chars, 0, 0};
    s.value = (e2b_text){s.value_chars, sizeof s.value_chars, 0, 0};
    *found = false;
    e2b_api_call(sandbox->client, &call, operation, "GET");
    e2b_api_path(&call, "/v2/sandboxes", (e2b_str){NULL, 0}, NULL);
    call.request.query = write_tag_query;
    call.request.subject = sandbox;
    call.repeatable = true;
    call.owner = sandbox->destination;
    call.slot_flags = slot_flags;
    call.next_token = next_token;
    call.next_token_size = sizeof next_token;
    e2b_err err = e2b_call_begin(&call);
    if (err) return err;
    if (call.conn->http.status >= 300) return e2b_call_refused(&call);
    e2b_reply reply = {&call, NULL};
    e2b_json_item item;
    err = e2b_reply_next(&reply, &item);
    if (!err && item.kind != E2B_JSON_ARRAY) return e2b_call_fail(&call, E2B_PROTOCOL, "the answer is not a list");
    while (!err && !(err = e2b_reply_next(&reply, &item)) && item.kind != E2B_JSON_DONE)
        search_item(&s, &call.conn->reader, &item, sandbox);
    *found = s.found;
    if (!err && !s.found && inconclusive(&s, next_token)) return e2b_call_fail(&call, E2B_PROTOCOL, inconclusive(&s, next_token));
    if (!err) e2b_call_end(&call);
    return s.found ? E2B_OK : err;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A server that answers "no" for good won't change its mind by being asked again. */
static bool worth_asking_again(e2b_err err)
{
    return err == E2B_OK || e2b_err_may_retry(err);
}

static e2b_err settle(e2b_sandbox *sandbox, uint64_t until, uint32_t slot_flags)
{
    e2b_client *client = sandbox->client;
    uint32_t longest = e2b_limit(client->limits.settle_ms, 80000);
    uint64_t pause = e2b_limit(client->limits.poll_ms, 1000), most = pause * 8;
    uint64_t certain = longest == E2B_NO_LIMIT ? E2B_NO_DEADLINE : sandbox->sent_ms + longest;
    for (;;) {
        uint64_t begun = e2b_now(client);
        bool found, last = begun >= certain;
        e2b_err err = look(sandbox, slot_flags, &found);
        if (found) {
            sandbox->state = E2B_SANDBOX_LIVE;
            return E2B_OK;
        }
        if (!err && last) {
            sandbox->state = E2B_SANDBOX_GONE;
            return E2B_OK;
        }
        /* A look that was under way at the limit proves nothing: one more after it. */
        if (!worth_asking_again(err) || begun >= until) return err;
        uint64_t now = e2b_now(client);
        uint64_t next = earlier(now + pause, until);
        if (certain > now) next = earlier(next, certain);
        while (!(err = e2b_wait_ready(client, 0, next, NULL)) && e2b_now(client) < next) {}
        if (err) return e2b_fail(client, err, "settle", NULL);
        pause = pause * 2 < most ? pause * 2 : most;
    }
}

static e2b_err settle_any(e2b_sandbox *sandbox, uint64_t until, uint32_t slot_flags)
{
    if (sandbox->state != E2B_SANDBOX_MAYBE) return E2B_OK;
    if (!sandbox->create_tag[0])
        return e2b_fail(sandbox->client, E2B_STATE, "settle", "created without a tag, it can't be looked for");
    return settle(sandbox, until, slot_flags);
}

e2b_err e2b_sandbox_settle(e2b_sandbox *sandbox, uint32_t wait_ms)
{
    e2b_client *client = sandbox->client;
    if (!client || sandbox->state != E2B_SANDBOX_MAYBE) return E2B_OK;
    client->cleaning = 1;
    uint64_t until = wait_ms == E2B_NO_LIMIT ? E2B_NO_DEADLINE : e2b_now(client) + wait_ms;
    e2b_err err = settle_any(sandbox, until, 0);
    if (!err && sandbox->state == E2B_SANDBOX_LIVE) err = e2b_sandbox_learn(sandbox, "settle");
    client->cleaning = 0;
    return err;
}

/* ---- Kill ------------------------------------------------------------------------ */

static e2b_err kill(e2b_sandbox *sandbox)
{
    static const char operation[] = "kill sandbox";
    e2b_client *client = sandbox->client;
    e2b_call call;
    e2b_str body;
    e2b_api_call(client, &call, operation, "DELETE");
    e2b_api_path(&call, "/sandboxes/", e2b_sandbox_id(sandbox), NULL);
    call.repeatable = true;
    call.owner = sandbox->destination;
    call.slot_flags = TAKES_ANY_SLOT;
    e2b_err err = e2b_call_begin(&call);
    if (!err) err = e2b_call_collect(&call, &body);
    if (err) return err;
    int32_t status = call.conn->http.status;
    /* Not there is what was wanted, but a page of something in between says nothing. */
    if (status >= 300 && !(status == 404 && !e2b_refusal_is_missing_route(client, status, body)))
        err = e2b_refuse(client, &(e2b_refusal){operation, status, call.conn->http.retry_after_s, body, false});
    e2b_call_end(&call);
    if (!err) sandbox->state = E2B_SANDBOX_GONE;
    return err;
}

e2b_err e2b_sandbox_kill(e2b_sandbox *sandbox)
{
    e2b_client *client = sandbox->client;
    e2b_err err = E2B_OK;
    if (!client || sandbox->state == E2B_SANDBOX_NONE || sandbox->state == E2B_SANDBOX_GONE) return E2B_OK;
    if (client->debug) {
        sandbox->state = E2B_SANDBOX_GONE;
        return E2B_OK;
    }
    client->cleaning = 1;
    if (sandbox->state == E2B_SANDBOX_MAYBE) {
        uint32_t longest = e2b_limit(client->limits.settle_ms, 80000);
        uint64_t until = longest == E2B_NO_LIMIT ? E2B_NO_DEADLINE : sandbox->sent_ms + longest;
        err = settle_any(sandbox, until, TAKES_ANY_SLOT);
    }
    if (!err && sandbox->state == E2B_SANDBOX_LIVE) err = kill(sandbox);
    if (!err && sandbox->state == E2B_SANDBOX_MAYBE) err = e2b_fail(client, E2B_STATE, "kill sandbox", "still not known whether it exists");
    client->cleaning = 0;
    return err;
}
