/* create, cut, reset and stalled at every byte: what the struct says is true,
 * nothing is made twice, and kill leaves nothing. A service that has only the
 * older route is asked twice on one connection: the first answer is a 404. */
#include <stdlib.h>
#include <string.h>

#include "fault_positions.h"
#include "local_service.h"

enum { SETTLE_MS = 400 };

/* The exchange that an older service refuses; 0 with a newer one. */
static struct {
    size_t request_size, reply_size;
} refused;

static bool begin(fault_worker *worker)
{
    (void)worker;
    return true;
}

static void end(fault_worker *worker)
{
    (void)worker;
}

/* Whether the request that makes the sandbox is under way. */
static bool in_earnest(const counting_port *counting)
{
    return counting->received >= refused.reply_size;
}

static bool request_left(const fault_worker *worker)
{
    const counting_port *counting = &worker->through.counting;
    return counting->sent == (in_earnest(counting) ? worker->request_size : refused.request_size);
}

static bool reply_begun(const counting_port *counting)
{
    return counting->received > (in_earnest(counting) ? refused.reply_size : 0);
}

static bool reply_whole(const counting_port *counting)
{
    return in_earnest(counting) && fault_reply_whole(counting, refused.reply_size);
}

/* The service never sees the whole request that would make a sandbox. */
static bool is_hopeless(const fault_worker *worker, const fault_point *point)
{
    return worker->request_size && point->at < (point->up ? worker->request_size : refused.reply_size);
}

/* The answer's id with both its quotes. */
static bool has_id(const counting_port *counting)
{
    static const char key[] = "\"sandboxID\":\"";
    const char *id = strstr(counting->reply, key);
    return id && strchr(id + sizeof key - 1, '"');
}

static int32_t expected_state(const fault_worker *worker, e2b_err err)
{
    if (err == E2B_OK || has_id(&worker->through.counting)) return E2B_SANDBOX_LIVE;
    /* That status says no, however much of the words comes. */
    if (!in_earnest(&worker->through.counting) && strstr(worker->through.counting.reply, "\r\n\r\n")) return E2B_SANDBOX_NONE;
    return request_left(worker) ? E2B_SANDBOX_MAYBE : E2B_SANDBOX_NONE;
}

/* Without a fault there is nothing to be expected but what is to be learnt. */
static void learn(const counting_port *counting)
{
    const char *second = strstr(counting->reply + 1, "HTTP/1.1 201");
    if (!second) return;
    refused.reply_size = (size_t)(second - counting->reply);
    refused.request_size = counting->sent_before;
}

/* The service may refuse the first request by its head alone, before the fault
 * in its body happens. Where that ends the connection, the second one has its own. */
static bool refused_early(const fault_worker *worker, const fault_point *point)
{
    const counting_port *counting = &worker->through.counting;
    return worker->request_size && point->up && point->at < refused.request_size && in_earnest(counting) && counting->opens == 2;
}

static void judge_early(fault_worker *worker, const fault_point *point, const e2b_sandbox *sandbox, e2b_err err)
{
    CHECK(&worker->at, err == E2B_OK, "%s", e2b_err_name(err));
    HOLDS(&worker->at, sandbox->state == E2B_SANDBOX_LIVE);
    HOLDS(&worker->at, local_service_sandboxes(point->label) == 1);
}

static void judge(fault_worker *worker, const fault_point *point, const e2b_sandbox *sandbox, e2b_err err)
{
    tally_case *at = &worker->at;
    const counting_port *counting = &worker->through.counting;
    bool faultless = !worker->request_size, whole = reply_whole(counting);
    int made = local_service_sandboxes(point->label);
    e2b_err expected = faultless || whole ? E2B_OK : fault_expected(point, request_left(worker), reply_begun(counting));
    CHECK(at, err == expected, "%s instead of %s", e2b_err_name(err), e2b_err_name(expected));
    CHECK(at, sandbox->state == expected_state(worker, err), "state %d after %s", (int)sandbox->state, e2b_err_name(err));
    HOLDS(at, worker->through.client.error.code == err);
    HOLDS(at, counting->opens == 1 && counting->sent_elsewhere == 0);
    HOLDS(at, faultless || counting->sent <= worker->request_size);
    HOLDS(at, !err || e2b_err_may_have_run(err) == request_left(worker));
    HOLDS(at, sandbox->state != E2B_SANDBOX_MAYBE || strlen(sandbox->create_tag) == 32);
    if (!point->up) CHECK(at, whole || counting->received == point->at, "%zu bytes came", counting->received);
    bool hopeless = is_hopeless(worker, point);
    /* Given up before the first byte of an answer, the work may still be under way. */
    if (point->stalls && !hopeless && !reply_begun(counting)) HOLDS(at, made == 0 || made == 1);
    else CHECK(at, made == (hopeless ? 0 : 1), "%d were made", made);
}

/* What is recorded as existing is not overwritten. */
static void create_again(fault_worker *worker, e2b_sandbox *sandbox)
{
    tally_case *at = &worker->at;
    const counting_port *counting = &worker->through.counting;
    int32_t state = sandbox->state;
    size_t sent = counting->sent;
    unsigned opens = counting->opens;
    if (state == E2B_SANDBOX_NONE) return;
    HOLDS(at, e2b_sandbox_create(&worker->through.client, sandbox, NULL) == E2B_STATE);
    HOLDS(at, sandbox->state == state && counting->sent == sent && counting->opens == opens);
}

static void settle(fault_worker *worker, e2b_sandbox *sandbox, bool made)
{
    tally_case *at = &worker->at;
    e2b_err err = e2b_sandbox_settle(sandbox, E2B_NO_LIMIT);
    CHECK(at, err == E2B_OK, "settle: %s", e2b_reason(&worker->through.client, err));
    CHECK(at, sandbox->state == (made ? E2B_SANDBOX_LIVE : E2B_SANDBOX_GONE), "settled as %d", (int)sandbox->state);
    if (!made) return;
    HOLDS(at, strlen(sandbox->access_token) == 64);
    HOLDS(at, local_service_sandboxes(sandbox->id) == 1);
    HOLDS(at, e2b_sandbox_health(sandbox) == E2B_OK);
}

static void kill_it(fault_worker *worker, const fault_point *point, e2b_sandbox *sandbox)
{
    tally_case *at = &worker->at;
    int32_t wanted = sandbox->state == E2B_SANDBOX_NONE ? E2B_SANDBOX_NONE : E2B_SANDBOX_GONE;
    e2b_err err = e2b_sandbox_kill(sandbox);
    CHECK(at, err == E2B_OK, "kill: %s", e2b_reason(&worker->through.client, err));
    CHECK(at, sandbox->state == wanted, "state %d after kill", (int)sandbox->state);
    CHECK(at, local_service_sandboxes(point->label) == 0, "left behind");
    unsigned opens = worker->through.counting.opens;
    size_t sent = worker->through.counting.sent_elsewhere;
    HOLDS(at, e2b_sandbox_kill(sandbox) == E2B_OK && worker->through.counting.opens == opens &&
                  worker->through.counting.sent_elsewhere == sent);
}

static bool position(fault_worker *worker, const fault_point *point)
{
    e2b_client *client = &worker->through.client;
    e2b_pair metadata = {"position", point->label};
    e2b_sandbox_options options;
    e2b_sandbox sandbox;
    memset(&options, 0, sizeof options);
    memset(&sandbox, 0, sizeof sandbox);
    options.metadata = &metadata;
    options.metadata_count = 1;
    if (!HOLDS(&worker->at, fault_dial(worker, 3, E2B_CODEC_JSON))) return true;
    HOLDS(&worker->at, fault_port_next(&worker->port, point->text));
    client->limits.request_ms = point->stalls ? worker->patience_ms : 0;
    client->limits.poll_ms = 20;
    uint64_t began = worker->through.counting.port.now_ms(&worker->through.counting);
    e2b_err err = e2b_sandbox_create(client, &sandbox, &options);
    client->limits.request_ms = 0;
    /* Where nothing can be made, no time is too short to be certain. */
    bool hopeless = is_hopeless(worker, point) || !in_earnest(&worker->through.counting);
    client->limits.settle_ms = hopeless ? SETTLE_MS : 0;
    if (point->stalls && !point->up && worker->through.counting.received < point->at &&
        !reply_whole(&worker->through.counting)) {
        e2b_sandbox_kill(&sandbox);
        return false;
    }
    if (!worker->request_size) learn(&worker->through.counting);
    if (refused_early(worker, point)) judge_early(worker, point, &sandbox, err);
    else judge(worker, point, &sandbox, err);
    create_again(worker, &sandbox);
    /* A fault behind the last byte waits for the next one. */
    live_client_reconnect(&worker->through);
    bool lost = sandbox.state == E2B_SANDBOX_MAYBE;
    if (lost && point->at % 2) settle(worker, &sandbox, !hopeless);
    kill_it(worker, point, &sandbox);
    if (lost && hopeless)
        HOLDS(&worker->at, worker->through.counting.port.now_ms(&worker->through.counting) - began >= SETTLE_MS);
    return true;
}

int main(void)
{
    static const fault_subject create = {"create", begin, position, end, 1};
    tally_case at = {"afterwards", 0};
    fault_positions(&create);
    HOLDS(&at, local_service_sandboxes("sandboxID") == 0);
    CHECK(&at, (refused.reply_size > 0) == (getenv("E2B_TEST_OLDER") != NULL), "asked by another route");
    tally_add(&at);
    return tally_end();
}
