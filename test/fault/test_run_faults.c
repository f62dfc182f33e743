/* e2b_run, cut, reset and stalled at every byte of its stream, in both codecs:
 * the error says the phase, what was printed is a true prefix, no command runs
 * twice, and the sandbox goes on. */
#include <stdio.h>
#include <string.h>

#include "fault_positions.h"

enum { RUNS = 2048 };

static const char printed[] = "to output\n", complained[] = "to errors\n";
static int32_t codec;

/* A command that was sent, and how often it must have run: up to once. */
typedef struct sent_command {
    char label[12];
    int at_least, at_most;
} sent_command;

typedef struct command_record {
    e2b_sandbox sandbox; /* the worker's own, reached without the proxy */
    sent_command commands[RUNS];
    size_t count;
    char file[RUNS * 12];
} command_record;

static bool begin(fault_worker *worker)
{
    command_record *record = worker->own;
    e2b_err err = e2b_sandbox_create(&worker->direct.client, &record->sandbox, NULL);
    return CHECK(&worker->at, !err, "create: %s", e2b_reason(&worker->direct.client, err));
}

/* ---- What came of the answer ---------------------------------------------------- */

/* The message that ends the stream: after it the answer is complete. */
static bool stream_whole(const counting_port *counting)
{
    static const char last[] = "\2\0\0\0\2{}";
    enum { LENGTH = sizeof last - 1 };
    for (size_t at = 0; at + LENGTH <= counting->received && at + LENGTH <= sizeof counting->reply; at++)
        if (memcmp(counting->reply + at, last, LENGTH) == 0) return true;
    return false;
}

/* Of an envelope's payload: is it the event that JSON names so, or protobuf
 * numbers so (the second level of EventResponse)? */
static bool is_event(const uint8_t *payload, size_t length, const char *name, uint8_t number)
{
    if (codec == E2B_CODEC_JSON) return length > strlen(name) && memcmp(payload, name, strlen(name)) == 0;
    return length > 3 && payload[0] == 0x0a && payload[1] + 2u == length && payload[2] == (number << 3 | 2);
}

static bool event_whole(const counting_port *counting, const char *name, uint8_t number)
{
    const uint8_t *in = (const uint8_t *)counting->reply;
    for (size_t at = 0; at + 5 <= counting->received && at + 5 <= sizeof counting->reply; at++) {
        size_t length = (size_t)in[at + 3] << 8 | in[at + 4];
        if (in[at] || in[at + 1] || in[at + 2] || at + 5 + length > counting->received) continue;
        if (is_event(in + at + 5, length, name, number)) return true;
    }
    return false;
}

static bool started(const counting_port *counting)
{
    return event_whole(counting, "{\"event\":{\"start\":", 1);
}

static bool ended(const counting_port *counting)
{
    return event_whole(counting, "{\"event\":{\"end\":", 3);
}

/* ---- One run ------------------------------------------------------------------------ */

typedef struct outcome {
    e2b_run_result result;
    char out[64], err[64];
    e2b_err code;
} outcome;

static void run(e2b_sandbox *sandbox, const char *label, outcome *o)
{
    char command[160];
    memset(o, 0, sizeof *o);
    o->result.out.ptr = o->out;
    o->result.out.size = sizeof o->out;
    o->result.err.ptr = o->err;
    o->result.err.size = sizeof o->err;
    snprintf(command, sizeof command, "echo %s >>~/ran; echo to output; echo to errors >&2; exit 7", label);
    o->code = e2b_run(sandbox, command, NULL, &o->result);
}

static e2b_err expected_error(const fault_worker *worker, const fault_point *point)
{
    const counting_port *counting = &worker->through.counting;
    if (!worker->request_size || stream_whole(counting)) return E2B_OK;
    /* A stream that was open and went silent; its process is no longer listed. */
    if (point->stalls && started(counting)) return E2B_IDLE;
    return fault_expected(point, counting->sent == worker->request_size, counting->received > 0);
}

static void judge(fault_worker *worker, const fault_point *point, const e2b_sandbox *sandbox, const outcome *o)
{
    tally_case *at = &worker->at;
    const counting_port *counting = &worker->through.counting;
    const e2b_run_result *result = &o->result;
    e2b_err expected = expected_error(worker, point);
    CHECK(at, o->code == expected, "%s instead of %s", e2b_err_name(o->code), e2b_err_name(expected));
    HOLDS(at, o->code == worker->through.client.error.code);
    HOLDS(at, sandbox->state == E2B_SANDBOX_LIVE);
    HOLDS(at, !o->code || e2b_err_may_have_run(o->code) == (counting->sent == worker->request_size));
    /* Beside it there may be one more: where the process was looked for. */
    HOLDS(at, counting->opens == 1 || (counting->opens == 2 && expected == E2B_IDLE));
    CHECK(at, memcmp(o->out, printed, result->out.len) == 0 && memcmp(o->err, complained, result->err.len) == 0,
          "printed '%s' and '%s'", o->out, o->err);
    HOLDS(at, o->code || (result->out.len == sizeof printed - 1 && result->err.len == sizeof complained - 1));
    HOLDS(at, result->exit_code == (ended(counting) ? 7 : 0) && result->exited == ended(counting));
    if (point->cuts && !point->up)
        CHECK(at, stream_whole(counting) || counting->received == point->at, "%zu bytes came", counting->received);
}

static void remember(fault_worker *worker, const fault_point *point)
{
    command_record *record = worker->own;
    bool passed = !point->up || !worker->request_size || point->at >= worker->request_size;
    /* Given up before the first byte of an answer, the work may not have begun. */
    bool surely = passed && !(point->stalls && worker->through.counting.received == 0);
    if (!CHECK(&worker->at, record->count < RUNS, "too many runs")) return;
    sent_command *command = &record->commands[record->count++];
    memcpy(command->label, point->label, sizeof command->label);
    command->at_least = surely;
    command->at_most = passed;
}

static bool position(fault_worker *worker, const fault_point *point)
{
    e2b_client *client = &worker->through.client;
    command_record *record = worker->own;
    e2b_sandbox sandbox;
    outcome o;
    if (!HOLDS(&worker->at, fault_dial(worker, point->at % 2 ? 1 : 3, codec))) return true;
    e2b_err err = e2b_sandbox_attach(client, &sandbox, record->sandbox.id);
    if (!CHECK(&worker->at, !err, "attach: %s", e2b_reason(client, err))) return true;
    HOLDS(&worker->at, fault_port_next(&worker->port, point->text));
    counting_port_reset(&worker->through.counting);
    client->limits.open_ms = client->limits.idle_ms = point->stalls ? worker->patience_ms : 0;
    run(&sandbox, point->label, &o);
    remember(worker, point);
    if (point->stalls && !point->up && worker->through.counting.received < point->at &&
        !stream_whole(&worker->through.counting))
        return false;
    judge(worker, point, &sandbox, &o);
    return true;
}

/* ---- What ran -------------------------------------------------------------------------- */

/* Nothing that was started goes on. */
static void wait_for_processes(fault_worker *worker, e2b_sandbox *sandbox)
{
    e2b_process_list list;
    e2b_process_info info;
    unsigned count = 1;
    while (count && !worker->at.failed) {
        e2b_err err = e2b_process_list_open(sandbox, &list, NULL);
        for (count = 0; !err && !(err = e2b_process_list_next(&list, &info)) && info.pid;) count++;
        e2b_process_list_close(&list);
        CHECK(&worker->at, !err, "list: %s", e2b_reason(&worker->direct.client, err));
    }
}

static int times_in(const char *file, const char *label)
{
    int times = 0;
    for (const char *found = file; (found = strstr(found, label)); found++) times++;
    return times;
}

static void end(fault_worker *worker)
{
    command_record *record = worker->own;
    e2b_run_result result;
    memset(&result, 0, sizeof result);
    result.out.ptr = record->file;
    result.out.size = sizeof record->file - 1;
    wait_for_processes(worker, &record->sandbox);
    e2b_err err = e2b_run(&record->sandbox, "cat ~/ran", NULL, &result);
    CHECK(&worker->at, !err, "what ran: %s", e2b_reason(&worker->direct.client, err));
    for (size_t i = 0; i < record->count; i++) {
        const sent_command *command = &record->commands[i];
        int times = times_in(record->file, command->label);
        CHECK(&worker->at, times >= command->at_least && times <= command->at_most, "%s ran %d times", command->label, times);
    }
    HOLDS(&worker->at, e2b_sandbox_kill(&record->sandbox) == E2B_OK);
}

int main(void)
{
    static const fault_subject json = {"run, JSON", begin, position, end, sizeof(command_record)};
    static const fault_subject proto = {"run, protobuf", begin, position, end, sizeof(command_record)};
    codec = E2B_CODEC_JSON;
    fault_positions(&json);
    codec = E2B_CODEC_PROTO;
    fault_positions(&proto);
    return tally_end();
}
