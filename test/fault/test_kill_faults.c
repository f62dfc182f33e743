/* kill, cut, reset and stalled at every byte, on a new connection and on a kept
 * one: what failed can be repeated, and then nothing is left. */
#include <stdio.h>
#include <string.h>

#include "fault_positions.h"
#include "local_service.h"

/* What one exchange takes that comes before the kill on its connection. */
typedef struct earlier {
    size_t sent, received;
} earlier;

static bool begin(fault_worker *worker)
{
    (void)worker;
    return true;
}

static void end(fault_worker *worker)
{
    (void)worker;
}

static bool make(fault_worker *worker, const fault_point *point, e2b_sandbox *sandbox)
{
    e2b_pair metadata = {"position", point->label};
    e2b_sandbox_options options;
    memset(&options, 0, sizeof options);
    memset(sandbox, 0, sizeof *sandbox);
    options.metadata = &metadata;
    options.metadata_count = 1;
    e2b_err err = e2b_sandbox_create(&worker->direct.client, sandbox, &options);
    return CHECK(&worker->at, !err, "create: %s", e2b_reason(&worker->direct.client, err));
}

/* The faulty kill failed or not; the next one must end it. */
static void kill_again(fault_worker *worker, const fault_point *point, e2b_sandbox *sandbox)
{
    tally_case *at = &worker->at;
    e2b_client *client = &worker->through.client;
    live_client_reconnect(&worker->through);
    client->limits.request_ms = 0;
    e2b_err err = e2b_sandbox_kill(sandbox);
    CHECK(at, err == E2B_OK, "killed again: %s", e2b_reason(client, err));
    HOLDS(at, sandbox->state == E2B_SANDBOX_GONE);
    CHECK(at, local_service_sandboxes(point->label) == 0, "left behind");
}

/* Errors of kill are kept apart from what came before. */
static void judge(fault_worker *worker, const e2b_sandbox *sandbox, e2b_err err, e2b_err expected)
{
    tally_case *at = &worker->at;
    e2b_client *client = &worker->through.client;
    CHECK(at, err == expected, "%s instead of %s", e2b_err_name(err), e2b_err_name(expected));
    CHECK(at, sandbox->state == (err ? E2B_SANDBOX_LIVE : E2B_SANDBOX_GONE), "state %d after %s", (int)sandbox->state,
          e2b_err_name(err));
    HOLDS(at, client->cleanup_error.code == err || !err);
    HOLDS(at, client->error.code == E2B_OK);
}

static e2b_err expected_error(const fault_worker *worker, const fault_point *point)
{
    const counting_port *counting = &worker->through.counting;
    if (!worker->request_size || fault_reply_whole(counting, 0)) return E2B_OK;
    return fault_expected(point, counting->sent == worker->request_size, counting->received > 0);
}

static bool too_late(const fault_worker *worker, const fault_point *point)
{
    const counting_port *counting = &worker->through.counting;
    return point->stalls && !point->up && counting->received < point->at && !fault_reply_whole(counting, 0);
}

static bool on_new_connection(fault_worker *worker, const fault_point *point)
{
    e2b_client *client = &worker->through.client;
    const counting_port *counting = &worker->through.counting;
    e2b_sandbox made, sandbox;
    if (!make(worker, point, &made) || !HOLDS(&worker->at, fault_dial(worker, 1, E2B_CODEC_JSON))) return true;
    HOLDS(&worker->at, e2b_sandbox_refer(client, &sandbox, made.id) == E2B_OK);
    HOLDS(&worker->at, fault_port_next(&worker->port, point->text));
    client->limits.request_ms = point->stalls ? worker->patience_ms : 0;
    e2b_err err = e2b_sandbox_kill(&sandbox);
    bool again = too_late(worker, point);
    if (!again) {
        bool whole = fault_reply_whole(counting, 0);
        judge(worker, &sandbox, err, expected_error(worker, point));
        HOLDS(&worker->at, counting->opens == 1);
        if (!point->up) CHECK(&worker->at, whole || counting->received == point->at, "%zu bytes came", counting->received);
    }
    kill_again(worker, point, &sandbox);
    return !again;
}

static e2b_err use_connection(e2b_sandbox *sandbox)
{
    return e2b_sandbox_set_timeout(sandbox, 100);
}

static bool begin_kept(fault_worker *worker)
{
    fault_point none = {"none", "none", "begin", true, false, false, 0};
    earlier *before = worker->own;
    e2b_sandbox made, sandbox;
    if (!make(worker, &none, &made) || !HOLDS(&worker->at, fault_dial(worker, 1, E2B_CODEC_JSON))) return false;
    bool good = !e2b_sandbox_refer(&worker->through.client, &sandbox, made.id) && !use_connection(&sandbox);
    before->sent = worker->through.counting.sent;
    before->received = worker->through.counting.received;
    return HOLDS(&worker->at, good && e2b_sandbox_kill(&made) == E2B_OK);
}

/* The connection was used before, without a fault. If it dies before the first
 * byte of the answer, kill is sent once more on a new one. */
static bool on_kept_connection(fault_worker *worker, const fault_point *point)
{
    e2b_client *client = &worker->through.client;
    counting_port *counting = &worker->through.counting;
    fault_point moved = *point;
    e2b_sandbox made, sandbox;
    const earlier *before = worker->own;
    if (!make(worker, point, &made) || !HOLDS(&worker->at, fault_dial(worker, 1, E2B_CODEC_JSON))) return true;
    HOLDS(&worker->at, e2b_sandbox_refer(client, &sandbox, made.id) == E2B_OK);
    moved.at += (unsigned)(point->up ? before->sent : before->received);
    if (worker->request_size)
        snprintf(moved.text, sizeof moved.text, "%s %s %u", point->kind, point->up ? "up" : "down", moved.at);
    HOLDS(&worker->at, fault_port_next(&worker->port, moved.text));
    HOLDS(&worker->at, use_connection(&sandbox) == E2B_OK);
    HOLDS(&worker->at, counting->sent == before->sent && counting->received == before->received);
    counting_port_reset(counting);
    client->limits.request_ms = point->stalls ? worker->patience_ms : 0;
    e2b_err err = e2b_sandbox_kill(&sandbox);
    bool again = too_late(worker, point);
    if (!again) {
        e2b_err expected = expected_error(worker, point);
        bool repeated = expected == E2B_SEND || expected == E2B_NO_REPLY;
        judge(worker, &sandbox, err, repeated ? E2B_OK : expected);
        HOLDS(&worker->at, counting->opens == repeated);
    }
    kill_again(worker, point, &sandbox);
    return !again;
}

int main(void)
{
    static const fault_subject fresh = {"kill", begin, on_new_connection, end, 1};
    static const fault_subject kept = {"kill on a kept connection", begin_kept, on_kept_connection, end, sizeof(earlier)};
    tally_case at = {"afterwards", 0};
    fault_positions(&fresh);
    fault_positions(&kept);
    HOLDS(&at, local_service_sandboxes("sandboxID") == 0);
    tally_add(&at);
    return tally_end();
}
