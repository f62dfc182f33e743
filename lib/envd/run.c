/* run: a command from start to end, its output into the caller's buffers. */
#include <string.h>

#include "envd/process.h"
#include "wire/report.h"

static const char operation[] = "run command";

static void append(e2b_output *output, e2b_str data)
{
    size_t room = output->ptr ? output->size - output->len : 0, kept = data.len < room ? data.len : room;
    if (kept) memcpy(output->ptr + output->len, data.ptr, kept);
    output->len += kept;
    output->total += data.len;
}

static void reset(e2b_run_result *result)
{
    result->out.len = result->err.len = 0;
    result->out.total = result->err.total = 0;
    result->exit_code = 0;
    result->exited = false;
}

/* The service's own limit comes first; this one is for a service that forgets it. */
static uint64_t own_deadline(const e2b_client *client, uint32_t limit)
{
    enum { GRACE_MS = 5000 };
    return limit == E2B_NO_LIMIT ? E2B_NO_DEADLINE : e2b_now(client) + limit + GRACE_MS;
}

static e2b_err read_all(e2b_process *process, e2b_run_result *result, uint64_t deadline)
{
    e2b_client *client = process->sandbox->client;
    e2b_event event;
    for (;;) {
        uint64_t now = e2b_now(client), left = deadline > now ? deadline - now : 0;
        uint32_t wait = deadline == E2B_NO_DEADLINE ? E2B_NO_LIMIT : left < E2B_NO_LIMIT ? (uint32_t)left : E2B_NO_LIMIT - 1;
        e2b_err err = left ? e2b_process_next(process, &event, wait)
                           : e2b_process_fail(process, E2B_REPLY_TIMEOUT, NULL, false);
        result->exit_code = process->exit_code;
        result->exited = process->exited;
        if (err || event.kind == E2B_EVENT_END) return err;
        if (event.kind == E2B_EVENT_OUT || event.kind == E2B_EVENT_PTY) append(&result->out, event.data);
        if (event.kind == E2B_EVENT_ERR) append(&result->err, event.data);
    }
}

/* A place that was left out altogether is no place that was too small. */
static bool overflowed(const e2b_output *output)
{
    return output->size && output->total > output->size;
}

e2b_err e2b_run(e2b_sandbox *sandbox, const char *command, const e2b_process_options *options, e2b_run_result *result)
{
    e2b_process_options own;
    e2b_process process;
    e2b_run_result dropped;
    memset(&own, 0, sizeof own);
    if (options) own = *options;
    memset(&dropped, 0, sizeof dropped);
    if (!result) result = &dropped;
    reset(result);
    if (!sandbox->client) return E2B_STATE;
    if (!own.timeout_ms) own.timeout_ms = e2b_limit(sandbox->client->limits.run_ms, 60000);
    uint64_t deadline = own_deadline(sandbox->client, own.timeout_ms);
    own.input = false;
    e2b_err err = e2b_process_shell(sandbox, &process, command, &own);
    if (!err) err = read_all(&process, result, deadline);
    e2b_process_close(&process);
    if (err || (!overflowed(&result->out) && !overflowed(&result->err))) return err;
    err = e2b_fail(sandbox->client, E2B_TOO_SMALL, operation, "the output is longer than its buffer: what fitted is there, with the true totals");
    uint64_t needed = overflowed(&result->out) ? result->out.total : result->err.total;
    sandbox->client->error.needed = needed > SIZE_MAX ? SIZE_MAX : (size_t)needed;
    return err;
}
