#include "recorded_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recorded_oracle.h"

#define LINE_MOST 16384

typedef struct result {
    e2b_err err;
    size_t lines; /* given, each as it should be */
} result;

static uint8_t arena_memory[LINE_MOST];

/* ---- Results as text ---------------------------------------------------------------- */

static void check_line(result *given, const char *line, const recorded_reply *reply, const recorded_way *way)
{
    if (given->lines >= reply->line_count || strcmp(line, reply->lines[given->lines].ptr) != 0) {
        print_message("given:    %s\nexpected: %s\n", line,
                      given->lines < reply->line_count ? reply->lines[given->lines].ptr : "(no more)");
        recorded_complain(reply, way, "the result is another one", __LINE__);
    }
    given->lines++;
}

static void take_sandbox(result *given, const e2b_sandbox *sandbox, const recorded_reply *reply, const recorded_way *way)
{
    static char line[LINE_MOST];
    snprintf(line, sizeof line, "id=%s token=%s traffic=%s domain=%s version=%s", sandbox->id, sandbox->access_token,
             sandbox->traffic_token, sandbox->domain, sandbox->envd_version);
    check_line(given, line, reply, way);
}

static void take_info(result *given, const e2b_sandbox_info *info, const recorded_reply *reply, const recorded_way *way)
{
    static char line[LINE_MOST];
    snprintf(line, sizeof line,
             "id=%s template=%s alias=%s version=%s state=%d started=%lld end=%lld cpu=%d memory=%d disk=%d internet=%d"
             " pause=%d resume=%d metadata=%.*s network=%.*s",
             info->id, info->template_id, info->alias, info->envd_version, (int)info->state, (long long)info->started_ms,
             (long long)info->end_ms, (int)info->cpu_count, (int)info->memory_mb, (int)info->disk_mb,
             (int)info->internet_access, (int)info->on_timeout_pause, (int)info->auto_resume, (int)info->metadata.len,
             info->metadata.ptr ? info->metadata.ptr : "", (int)info->network.len, info->network.ptr ? info->network.ptr : "");
    check_line(given, line, reply, way);
}

static void take_process(result *given, const e2b_process_info *info, const recorded_reply *reply, const recorded_way *way)
{
    static char line[LINE_MOST];
    const e2b_str *parts[5] = {&info->cmd, &info->cwd, &info->tag, &info->args, &info->env};
    static const char *const names[5] = {"cmd", "cwd", "tag", "args", "env"};
    int length = snprintf(line, sizeof line, "pid=%u", (unsigned)info->pid);
    for (int i = 0; i < 5; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, " %s=%.*s", names[i], (int)parts[i]->len,
                           parts[i]->ptr ? parts[i]->ptr : "");
    check_line(given, line, reply, way);
}

/* ---- Calls ---------------------------------------------------------------------------- */

static void call_list(recorded_run *run, result *given, const recorded_reply *reply, const recorded_way *way)
{
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    e2b_arena arena;
    e2b_arena_init(&arena, arena_memory, sizeof arena_memory);
    given->err = e2b_sandbox_list_open(&run->client, &list, &(e2b_list_options){.arena = &arena});
    while (!given->err && !(given->err = e2b_sandbox_list_next(&list, &info)) && info.id[0]) take_info(given, &info, reply, way);
    RECORDED_CHECK(e2b_sandbox_list_next(&list, &info) == given->err);
    e2b_sandbox_list_close(&list);
}

static void call_processes(recorded_run *run, result *given, const recorded_reply *reply, const recorded_way *way)
{
    e2b_process_list list;
    e2b_process_info info;
    e2b_arena arena;
    e2b_arena_init(&arena, arena_memory, sizeof arena_memory);
    given->err = e2b_process_list_open(&run->sandbox, &list, &arena);
    while (!given->err && !(given->err = e2b_process_list_next(&list, &info)) && info.pid) take_process(given, &info, reply, way);
    RECORDED_CHECK(e2b_process_list_next(&list, &info) == given->err);
    e2b_process_list_close(&list);
}

static void call_info(recorded_run *run, result *given, const recorded_reply *reply, const recorded_way *way)
{
    e2b_sandbox_info info;
    e2b_arena arena;
    e2b_arena_init(&arena, arena_memory, sizeof arena_memory);
    given->err = e2b_sandbox_get_info(&run->sandbox, &info, &arena);
    if (!given->err) take_info(given, &info, reply, way);
}

/* Whether the reply holds this id whole. */
static bool says(const recorded_reply *reply, const char *id)
{
    char member[96];
    snprintf(member, sizeof member, "\"sandboxID\":\"%s\"", id);
    return strstr(reply->bytes.ptr, member) != NULL;
}

static void call_create(recorded_run *run, result *given, const recorded_reply *reply, const recorded_way *way)
{
    memset(&run->sandbox, 0, sizeof run->sandbox);
    given->err = e2b_sandbox_create(&run->client, &run->sandbox, NULL);
    if (!given->err) take_sandbox(given, &run->sandbox, reply, way);
    int32_t state = recorded_judge_state(reply, way);
    RECORDED_CHECK(run->sandbox.state == state);
    RECORDED_CHECK((run->sandbox.id[0] != '\0') == (state == E2B_SANDBOX_LIVE));
    /* An id that was read before the link broke is the one that was said. */
    if (given->err && run->sandbox.id[0]) RECORDED_CHECK(says(reply, run->sandbox.id));
}

static void call_kill(recorded_run *run, result *given, const recorded_reply *reply, const recorded_way *way)
{
    given->err = e2b_sandbox_kill(&run->sandbox);
    RECORDED_CHECK(run->sandbox.state == (given->err ? E2B_SANDBOX_LIVE : E2B_SANDBOX_GONE));
    RECORDED_CHECK(run->client.error.code == E2B_OK);
}

static void make(recorded_run *run, result *given, const recorded_reply *reply, const recorded_way *way)
{
    e2b_sandbox *sandbox = &run->sandbox;
    if (recorded_is_call(reply, "create")) call_create(run, given, reply, way);
    else if (recorded_is_call(reply, "list")) call_list(run, given, reply, way);
    else if (recorded_is_call(reply, "info")) call_info(run, given, reply, way);
    else if (recorded_is_call(reply, "kill")) call_kill(run, given, reply, way);
    else if (recorded_is_call(reply, "processes")) call_processes(run, given, reply, way);
    else if (recorded_is_call(reply, "timeout")) given->err = e2b_sandbox_set_timeout(sandbox, 60);
    else if (recorded_is_call(reply, "pause")) given->err = e2b_sandbox_pause(sandbox, E2B_YES);
    else if (recorded_is_call(reply, "health")) given->err = e2b_sandbox_health(sandbox);
    else if (recorded_is_call(reply, "signal")) given->err = e2b_sandbox_signal(sandbox, 7, NULL, E2B_SIGNAL_KILL);
    else if (recorded_is_call(reply, "connect") || recorded_is_call(reply, "resume")) {
        bool named = recorded_is_call(reply, "connect");
        given->err = named ? e2b_sandbox_connect(&run->client, sandbox, "ibb56my54d9biza4ggh4s", NULL)
                           : e2b_sandbox_resume(sandbox, NULL);
        if (!given->err) take_sandbox(given, sandbox, reply, way);
    } else recorded_complain(reply, way, "there is no such call", __LINE__);
}

/* ---- What must hold --------------------------------------------------------------------- */

void recorded_check_refusal(const e2b_error *error, const recorded_reply *reply, const recorded_way *way)
{
    RECORDED_CHECK(error->code == reply->result);
    RECORDED_CHECK(error->http_status == (reply->stream ? 0 : reply->status));
    RECORDED_CHECK(error->rpc_code == reply->rpc);
    RECORDED_CHECK(strstr(error->text, reply->message.ptr) != NULL);
}

/* The request had left whole: a reply that was lost leaves open what became of it. */
static void check_cut(const e2b_client *client, e2b_err err, const recorded_reply *reply, const recorded_way *way)
{
    RECORDED_CHECK(e2b_err_may_have_run(err));
    RECORDED_CHECK(strcmp(e2b_reason(client, err), e2b_err_text(err)) != 0);
    if (way->ending == RECORDED_STALL) RECORDED_CHECK(client->port->now_ms(client->port->context) == 60000);
}

void recorded_make_call(recorded_run *run, const recorded_reply *reply, const recorded_way *way)
{
    result given = {E2B_OK, 0};
    recorded_verdict verdict = recorded_judge(reply, way);
    make(run, &given, reply, way);
    if (given.err != verdict.err) {
        bool broken = reply->result == E2B_PROTOCOL && given.err == E2B_PROTOCOL && way->cut >= reply->head;
        if (!broken) {
            print_message("given: %s, expected: %s\n", e2b_err_name(given.err), e2b_err_name(verdict.err));
            recorded_complain(reply, way, "another error", __LINE__);
        }
    }
    if (!given.err) RECORDED_CHECK(given.lines == reply->line_count);
    else if (verdict.refused && given.err != E2B_PROTOCOL)
        recorded_check_refusal(recorded_is_call(reply, "kill") ? &run->client.cleanup_error : &run->client.error, reply, way);
    else if (given.err != reply->result) check_cut(&run->client, given.err, reply, way);
}

void recorded_call(recorded_run *run, const recorded_reply *reply, const recorded_way *way)
{
    recorded_begin(run, reply, way);
    recorded_make_call(run, reply, way);
    uint32_t requests = 1u + way->kept + recorded_repeated(reply, way);
    if (reply->then.len && (way->cut >= reply->complete || recorded_repeated(reply, way))) requests++;
    RECORDED_CHECK(recorded_requests(run) == requests);
    recorded_end(run, reply, way);
}

/* ---- Every way ---------------------------------------------------------------------------- */

size_t recorded_next(const recorded_reply *reply, size_t at)
{
    enum { LONG = 1024 };
    if (!recorded_sampled() || reply->bytes.len < LONG) return at + 1;
    /* Steps of 1 to 128, by a linear congruential generator whose seed is the place itself. */
    uint32_t mixed = (uint32_t)at * 1664525u + 1013904223u;
    return at + 1 + (mixed >> 25);
}

static size_t cut_everywhere(recorded_run *run, const recorded_reply *reply, size_t slot)
{
    enum { LONG = 2048, FIRST = 64 };
    size_t runs = 0;
    bool is_long = reply->bytes.len > LONG;
    if (is_long && slot > 1024) return 0;
    for (size_t cut = 0; cut <= reply->bytes.len; cut = recorded_next(reply, cut))
        for (int ending = 0; ending < RECORDED_ENDINGS; ending++)
            for (int kept = 0; kept < (cut > FIRST ? 1 : 2); kept++) {
                recorded_way way = {cut, 0, 0, ending, slot, kept != 0};
                recorded_call(run, reply, &way);
                runs++;
            }
    return runs;
}

size_t recorded_call_every_way(recorded_run *run, const recorded_reply *reply)
{
    static const size_t slots[] = {1024, 4096, 16384};
    size_t runs = 0;
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        recorded_way way = recorded_whole(reply, slots[i]);
        if (reply->complete == RECORDED_NEVER) way.ending = RECORDED_CLEAN;
        recorded_call(run, reply, &way);
        way.most = 1;
        recorded_call(run, reply, &way);
        way.most = 0;
        runs += 2;
        if (recorded_sampled() && i > 0) continue;
        for (way.split = 1; way.split < way.cut; way.split = recorded_next(reply, way.split), runs++)
            recorded_call(run, reply, &way);
        runs += cut_everywhere(run, reply, slots[i]);
    }
    return runs;
}
