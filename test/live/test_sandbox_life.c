/* Pause, resume, connect, the end of a life, and what becomes of processes
 * meanwhile. The service's clock is moved, nobody waits. */
#include <stdio.h>
#include <string.h>

#include "live_client.h"
#include "local_service.h"
#include "tally.h"

static uint8_t memory[E2B_CLIENT_MEMORY(4, 4096)], arena_memory[4096];
static live_client live;
static e2b_client *client = &live.client;

static e2b_err make(e2b_sandbox *sandbox, uint32_t timeout_s, int32_t auto_pause)
{
    e2b_sandbox_options options;
    memset(&options, 0, sizeof options);
    memset(sandbox, 0, sizeof *sandbox);
    options.timeout_s = timeout_s;
    options.auto_pause = auto_pause;
    return e2b_sandbox_create(client, sandbox, &options);
}

static e2b_err run(e2b_sandbox *sandbox, const char *command, char *out, size_t size, int32_t *exit_code)
{
    e2b_run_result result;
    memset(&result, 0, sizeof result);
    result.out.ptr = out;
    result.out.size = out ? size - 1 : 0;
    e2b_err err = e2b_run(sandbox, command, NULL, &result);
    if (out) out[result.out.len] = '\0';
    *exit_code = result.exit_code;
    return err;
}

static int64_t ends(e2b_sandbox *sandbox, int32_t *state)
{
    e2b_sandbox_info info;
    e2b_arena arena;
    e2b_arena_init(&arena, arena_memory, sizeof arena_memory);
    e2b_err err = e2b_sandbox_get_info(sandbox, &info, &arena);
    *state = err ? -1 : info.state;
    return err ? 0 : info.end_ms;
}

static void finish(tally_case *at, e2b_sandbox *sandbox)
{
    HOLDS(at, e2b_sandbox_kill(sandbox) == E2B_OK && sandbox->state == E2B_SANDBOX_GONE);
    HOLDS(at, local_service_sandboxes("sandboxID") == 0);
    tally_add(at);
}

/* ---- Pause and resume -------------------------------------------------------------- */

static void pause_and_resume(void)
{
    static const char *const argv[] = {"sh", "-c", "i=0; while sleep 0.02; do i=$((i+1)); echo $i; done"};
    tally_case at = {"pause and resume", 0};
    e2b_sandbox sandbox, other;
    e2b_process counting, again;
    e2b_process_options tagged;
    e2b_event event;
    int32_t code, state;
    unsigned before = 0, after = 0;
    memset(&tagged, 0, sizeof tagged);
    tagged.tag = "counting";
    HOLDS(&at, make(&sandbox, 600, 0) == E2B_OK);
    HOLDS(&at, e2b_process_start(&sandbox, &counting, argv, 3, &tagged) == E2B_OK);
    HOLDS(&at, e2b_process_next(&counting, &event, E2B_NO_LIMIT) == E2B_OK && event.kind == E2B_EVENT_OUT);
    sscanf(event.data.ptr, "%u", &before);

    HOLDS(&at, e2b_sandbox_pause(&sandbox, 0) == E2B_OK && e2b_sandbox_pause(&sandbox, 0) == E2B_OK);
    ends(&sandbox, &state);
    HOLDS(&at, state == E2B_STATE_PAUSED && sandbox.state == E2B_SANDBOX_LIVE);
    e2b_err err;
    while (!(err = e2b_process_next(&counting, &event, E2B_NO_LIMIT))) continue;
    CHECK(&at, err == E2B_TRUNCATED && e2b_err_may_have_run(err), "the stream: %s", e2b_err_name(err));
    HOLDS(&at, run(&sandbox, "true", NULL, 0, &code) == E2B_NOT_RUNNING);
    HOLDS(&at, e2b_sandbox_health(&sandbox) == E2B_NOT_RUNNING);
    HOLDS(&at, e2b_sandbox_attach(client, &other, sandbox.id) == E2B_NOT_RUNNING);

    HOLDS(&at, e2b_sandbox_resume(&sandbox, NULL) == E2B_OK && sandbox.state == E2B_SANDBOX_LIVE);
    ends(&sandbox, &state);
    HOLDS(&at, state == E2B_STATE_RUNNING && e2b_sandbox_health(&sandbox) == E2B_OK);
    /* The process went on where it was. */
    HOLDS(&at, e2b_process_connect(&sandbox, &again, 0, "counting", NULL) == E2B_OK && again.pid == counting.pid);
    HOLDS(&at, e2b_process_next(&again, &event, E2B_NO_LIMIT) == E2B_OK && event.kind == E2B_EVENT_OUT);
    sscanf(event.data.ptr, "%u", &after);
    CHECK(&at, after > before, "%u, then %u", before, after);
    HOLDS(&at, e2b_process_signal(&again, E2B_SIGNAL_KILL) == E2B_OK);
    while (!(err = e2b_process_next(&again, &event, E2B_NO_LIMIT)) && event.kind != E2B_EVENT_END) continue;
    HOLDS(&at, !err && !event.exited);
    HOLDS(&at, e2b_process_signal(&again, E2B_SIGNAL_KILL) == E2B_NOT_FOUND);
    finish(&at, &sandbox);
}

/* ---- Connect and attach ---------------------------------------------------------------- */

static void connect_and_attach(void)
{
    tally_case at = {"connect and attach", 0};
    e2b_connect_options longer;
    e2b_sandbox sandbox, other;
    int32_t code, state;
    char out[64];
    memset(&longer, 0, sizeof longer);
    longer.timeout_s = 3000;
    HOLDS(&at, make(&sandbox, 600, 0) == E2B_OK);
    int64_t end = ends(&sandbox, &state);
    /* Attaching changes nothing; connecting lengthens the life, and never shortens it. */
    HOLDS(&at, e2b_sandbox_attach(client, &other, sandbox.id) == E2B_OK && ends(&sandbox, &state) == end);
    HOLDS(&at, strcmp(other.access_token, sandbox.access_token) == 0);
    HOLDS(&at, run(&sandbox, "echo kept >note", NULL, 0, &code) == E2B_OK && code == 0);
    HOLDS(&at, run(&other, "cat note", out, sizeof out, &code) == E2B_OK && strcmp(out, "kept\n") == 0);
    HOLDS(&at, e2b_sandbox_connect(client, &other, sandbox.id, &longer) == E2B_OK);
    int64_t lengthened = ends(&sandbox, &state);
    HOLDS(&at, lengthened > end + 2000000);
    HOLDS(&at, e2b_sandbox_connect(client, &other, sandbox.id, NULL) == E2B_OK && ends(&sandbox, &state) == lengthened);
    HOLDS(&at, e2b_sandbox_set_timeout(&other, 60) == E2B_OK && ends(&sandbox, &state) < end);
    HOLDS(&at, e2b_sandbox_set_timeout(&other, 0) == E2B_INVALID);
    /* Connecting wakes as well. */
    HOLDS(&at, e2b_sandbox_pause(&sandbox, 0) == E2B_OK);
    HOLDS(&at, e2b_sandbox_connect(client, &other, sandbox.id, NULL) == E2B_OK);
    HOLDS(&at, run(&other, "cat note", out, sizeof out, &code) == E2B_OK && strcmp(out, "kept\n") == 0);
    HOLDS(&at, e2b_sandbox_kill(&sandbox) == E2B_OK && e2b_sandbox_kill(&other) == E2B_OK);
    HOLDS(&at, e2b_sandbox_connect(client, &other, sandbox.id, NULL) == E2B_NOT_FOUND);
    HOLDS(&at, e2b_sandbox_attach(client, &other, sandbox.id) == E2B_NOT_FOUND);
    finish(&at, &sandbox);
}

/* ---- The end of a life ------------------------------------------------------------------- */

static void expiry_kills(void)
{
    static const char *const argv[] = {"sleep", "1000"};
    tally_case at = {"expiry kills", 0};
    e2b_sandbox sandbox;
    e2b_process process;
    e2b_event event;
    int32_t code, state;
    HOLDS(&at, make(&sandbox, 600, E2B_NO) == E2B_OK);
    HOLDS(&at, e2b_sandbox_set_timeout(&sandbox, 100) == E2B_OK);
    HOLDS(&at, e2b_process_start(&sandbox, &process, argv, 2, NULL) == E2B_OK);
    HOLDS(&at, local_service_advance(90) && e2b_sandbox_health(&sandbox) == E2B_OK);
    HOLDS(&at, local_service_advance(11));
    e2b_err err;
    while (!(err = e2b_process_next(&process, &event, E2B_NO_LIMIT))) continue;
    CHECK(&at, err == E2B_TRUNCATED, "the stream: %s", e2b_err_name(err));
    HOLDS(&at, e2b_sandbox_health(&sandbox) == E2B_NOT_RUNNING);
    HOLDS(&at, run(&sandbox, "true", NULL, 0, &code) == E2B_NOT_RUNNING);
    ends(&sandbox, &state);
    HOLDS(&at, state == -1 && client->error.code == E2B_NOT_FOUND);
    HOLDS(&at, e2b_sandbox_set_timeout(&sandbox, 100) == E2B_NOT_FOUND);
    HOLDS(&at, e2b_sandbox_resume(&sandbox, NULL) == E2B_NOT_FOUND);
    HOLDS(&at, sandbox.state == E2B_SANDBOX_LIVE); /* kill proves it */
    finish(&at, &sandbox);
}

static void expiry_pauses(void)
{
    tally_case at = {"expiry pauses", 0};
    e2b_sandbox sandbox;
    int32_t code, state;
    char out[64];
    HOLDS(&at, make(&sandbox, 100, E2B_YES) == E2B_OK);
    HOLDS(&at, run(&sandbox, "echo kept >note", NULL, 0, &code) == E2B_OK);
    HOLDS(&at, local_service_advance(101));
    do ends(&sandbox, &state);
    while (state == E2B_STATE_RUNNING);
    HOLDS(&at, state == E2B_STATE_PAUSED);
    HOLDS(&at, e2b_sandbox_resume(&sandbox, NULL) == E2B_OK);
    HOLDS(&at, run(&sandbox, "cat note", out, sizeof out, &code) == E2B_OK && strcmp(out, "kept\n") == 0);
    HOLDS(&at, e2b_sandbox_pause(&sandbox, 0) == E2B_OK);
    finish(&at, &sandbox); /* a paused one is killed as well */
}

int main(void)
{
    if (!live_client_open(&live, NULL, 4, memory, sizeof memory)) return 1;
    pause_and_resume();
    connect_and_attach();
    expiry_kills();
    expiry_pauses();
    live_client_close(&live);
    return tally_end();
}
