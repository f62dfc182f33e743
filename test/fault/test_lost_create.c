/* A create whose answer is lost or makes no sense, and what settle and kill
 * find out about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_proxy.h"
#include "live_client.h"
#include "local_service.h"
#include "tally.h"

#define CREATES "POST /v2/sandboxes"

static uint8_t memory[E2B_CLIENT_MEMORY(2, 2048)];
static live_client live;

static e2b_err create(e2b_sandbox *sandbox, const char *label)
{
    e2b_pair metadata = {"case", label};
    e2b_sandbox_options options;
    memset(&options, 0, sizeof options);
    memset(sandbox, 0, sizeof *sandbox);
    options.metadata = &metadata;
    options.metadata_count = 1;
    return e2b_sandbox_create(&live.client, sandbox, &options);
}

static uint64_t now(void)
{
    return live.counting.port.now_ms(&live.counting);
}

static void set_limits(uint32_t request_ms, uint32_t settle_ms)
{
    memset(&live.client.limits, 0, sizeof live.client.limits);
    live.client.limits.request_ms = request_ms;
    live.client.limits.settle_ms = settle_ms;
    live.client.limits.poll_ms = 20;
}

static void kill_all_of(tally_case *at, e2b_sandbox *sandbox)
{
    e2b_err err = e2b_sandbox_kill(sandbox);
    CHECK(at, err == E2B_OK, "kill: %s", e2b_reason(&live.client, err));
    HOLDS(at, sandbox->state == E2B_SANDBOX_GONE || sandbox->state == E2B_SANDBOX_NONE);
    HOLDS(at, local_service_sandboxes("sandboxID") == 0);
}

/* ---- Made, and nobody said so ------------------------------------------------------ */

static void withheld(const char *how, bool settled, e2b_err expected)
{
    tally_case at = {how, 0};
    e2b_sandbox sandbox;
    char rule[160];
    int before = local_service_requests(CREATES);
    snprintf(rule, sizeof rule, "{\"method\":\"POST\",\"path\":\"/v2/sandboxes\",\"withhold\":\"%s\"}", how);
    HOLDS(&at, local_service_fault(rule));
    set_limits(strcmp(how, "never") == 0 ? 300 : 0, 0);
    e2b_err err = create(&sandbox, how);
    set_limits(0, 0);
    CHECK(&at, err == expected, "%s", e2b_err_name(err));
    HOLDS(&at, sandbox.state == E2B_SANDBOX_MAYBE && e2b_err_may_have_run(err));
    if (settled) {
        HOLDS(&at, e2b_sandbox_settle(&sandbox, E2B_NO_LIMIT) == E2B_OK);
        HOLDS(&at, sandbox.state == E2B_SANDBOX_LIVE && strlen(sandbox.access_token) == 64);
        HOLDS(&at, local_service_sandboxes(sandbox.id) == 1);
        e2b_run_result result;
        memset(&result, 0, sizeof result);
        HOLDS(&at, e2b_run(&sandbox, "exit 7", NULL, &result) == E2B_OK && result.exit_code == 7);
    }
    kill_all_of(&at, &sandbox);
    HOLDS(&at, local_service_requests(CREATES) == before + 1);
    tally_add(&at);
}

/* The service begins only after the client has given up. */
static void made_late(bool settled)
{
    tally_case at = {"made late", 0};
    e2b_sandbox sandbox;
    HOLDS(&at, local_service_fault("{\"method\":\"POST\",\"path\":\"/v2/sandboxes\",\"delay\":1}"));
    set_limits(100, 0);
    HOLDS(&at, create(&sandbox, "late") == E2B_REPLY_TIMEOUT);
    set_limits(0, 0);
    HOLDS(&at, sandbox.state == E2B_SANDBOX_MAYBE);
    if (settled) {
        HOLDS(&at, e2b_sandbox_settle(&sandbox, E2B_NO_LIMIT) == E2B_OK);
        HOLDS(&at, sandbox.state == E2B_SANDBOX_LIVE);
    }
    kill_all_of(&at, &sandbox);
    tally_add(&at);
}

/* ---- Answers that leave it open, and that do not --------------------------------------- */

typedef struct odd_answer {
    const char *answer;
    e2b_err err;
    int32_t state;
} odd_answer;

static const odd_answer odd_answers[] = {
    {"\"status\":201,\"body\":{}", E2B_PROTOCOL, E2B_SANDBOX_MAYBE},
    {"\"status\":201,\"body\":\"<html>\"", E2B_PROTOCOL, E2B_SANDBOX_MAYBE},
    {"\"status\":201,\"body\":{\"sandboxID\":\"a/b\"}", E2B_PROTOCOL, E2B_SANDBOX_MAYBE},
    {"\"status\":502,\"body\":\"<html>\"", E2B_GATEWAY, E2B_SANDBOX_MAYBE},
    {"\"status\":504,\"body\":\"\"", E2B_GATEWAY, E2B_SANDBOX_MAYBE},
    {"\"status\":500,\"body\":{\"code\":500,\"message\":\"no\"}", E2B_SERVER, E2B_SANDBOX_NONE},
    {"\"status\":429,\"body\":{\"code\":429,\"message\":\"no\"}", E2B_RATE_LIMITED, E2B_SANDBOX_NONE},
    {"\"status\":403,\"body\":\"<html>\"", E2B_FORBIDDEN, E2B_SANDBOX_NONE},
    {"\"status\":400,\"body\":{\"code\":400,\"message\":\"no\"}", E2B_BAD_REQUEST, E2B_SANDBOX_NONE},
};

static void odd(const odd_answer *one)
{
    tally_case at = {one->answer, 0};
    e2b_sandbox sandbox;
    char rule[256];
    snprintf(rule, sizeof rule, "{\"method\":\"POST\",\"path\":\"/v2/sandboxes\",\"answer\":{%s}}", one->answer);
    HOLDS(&at, local_service_fault(rule));
    set_limits(0, 300);
    uint64_t began = now();
    e2b_err err = create(&sandbox, "odd");
    CHECK(&at, err == one->err, "%s", e2b_err_name(err));
    CHECK(&at, sandbox.state == one->state, "state %d", (int)sandbox.state);
    if (sandbox.state == E2B_SANDBOX_MAYBE) {
        /* One look is no proof, and no error either. */
        HOLDS(&at, e2b_sandbox_settle(&sandbox, 0) == E2B_OK);
        HOLDS(&at, sandbox.state == (now() - began < 300 ? E2B_SANDBOX_MAYBE : sandbox.state));
    }
    kill_all_of(&at, &sandbox);
    HOLDS(&at, one->state == E2B_SANDBOX_NONE || now() - began >= 300);
    tally_add(&at);
}

/* ---- Looks that fail ----------------------------------------------------------------- */

static void lose_one(tally_case *at, e2b_sandbox *sandbox)
{
    HOLDS(at, local_service_fault("{\"method\":\"POST\",\"path\":\"/v2/sandboxes\",\"withhold\":\"close\"}"));
    set_limits(0, 0);
    HOLDS(at, create(sandbox, "looks") == E2B_NO_REPLY && sandbox->state == E2B_SANDBOX_MAYBE);
}

static void looks_that_fail_at_first(void)
{
    tally_case at = {"looks that fail at first", 0};
    e2b_sandbox sandbox;
    lose_one(&at, &sandbox);
    HOLDS(&at, local_service_fault("[{\"path\":\"/v2/sandboxes\",\"answer\":{\"status\":503}},"
                                   "{\"path\":\"/v2/sandboxes\",\"withhold\":\"reset\"},"
                                   "{\"path\":\"/v2/sandboxes\",\"answer\":{\"status\":200,\"body\":[]}}]"));
    kill_all_of(&at, &sandbox);
    tally_add(&at);
}

static void looks_that_are_refused(void)
{
    tally_case at = {"looks that are refused", 0};
    e2b_sandbox sandbox;
    lose_one(&at, &sandbox);
    e2b_err first = live.client.error.code;
    HOLDS(&at, local_service_fault("{\"path\":\"/v2/sandboxes\",\"answer\":{\"status\":401,"
                                   "\"body\":{\"code\":401,\"message\":\"no\"}}}"));
    HOLDS(&at, e2b_sandbox_kill(&sandbox) == E2B_UNAUTHENTICATED);
    HOLDS(&at, sandbox.state == E2B_SANDBOX_MAYBE);
    HOLDS(&at, live.client.cleanup_error.code == E2B_UNAUTHENTICATED && live.client.error.code == first);
    kill_all_of(&at, &sandbox);
    tally_add(&at);
}

/* ---- Requests that do not leave whole ------------------------------------------------- */

/* More than the system's buffers take in: what stands still is the sending. */
static void unsent(const fault_proxy *proxy, const char *fault, e2b_err expected)
{
    enum { LENGTH = 8 << 20 };
    static uint8_t wide_memory[E2B_CLIENT_MEMORY(1, 1 << 18)];
    tally_case at = {fault, 0};
    fault_port port;
    live_client through;
    e2b_client_options to_proxy;
    e2b_sandbox_options options;
    e2b_sandbox sandbox;
    char *text = malloc(LENGTH + 1);
    e2b_pair env = {"LONG", text};
    memset(&to_proxy, 0, sizeof to_proxy);
    memset(&options, 0, sizeof options);
    memset(&sandbox, 0, sizeof sandbox);
    memset(text, 'x', LENGTH);
    text[LENGTH] = '\0';
    options.env = &env;
    options.env_count = 1;
    HOLDS(&at, fault_port_open(proxy, &port) && fault_port_next(&port, fault));
    to_proxy.api_url = port.url;
    if (HOLDS(&at, live_client_open(&through, &to_proxy, 1, wide_memory, sizeof wide_memory))) {
        through.client.limits.request_ms = expected == E2B_SEND_TIMEOUT ? 1000 : 0;
        e2b_err err = e2b_sandbox_create(&through.client, &sandbox, &options);
        CHECK(&at, err == expected, "%s", e2b_err_name(err));
        HOLDS(&at, !e2b_err_may_have_run(err) && sandbox.state == E2B_SANDBOX_NONE);
        HOLDS(&at, through.counting.sent < LENGTH && through.counting.opens == 1);
        HOLDS(&at, e2b_sandbox_kill(&sandbox) == E2B_OK && sandbox.state == E2B_SANDBOX_NONE);
        live_client_close(&through);
    }
    HOLDS(&at, local_service_sandboxes("sandboxID") == 0);
    fault_port_close(&port);
    free(text);
    tally_add(&at);
}

static void requests_that_do_not_leave_whole(void)
{
    tally_case at = {"the proxy", 0};
    fault_proxy proxy;
    if (HOLDS(&at, fault_proxy_start(&proxy))) {
        unsent(&proxy, "stall up 0", E2B_SEND_TIMEOUT);
        unsent(&proxy, "stall up 5000", E2B_SEND_TIMEOUT);
        unsent(&proxy, "reset up 5000", E2B_SEND);
        unsent(&proxy, "reset up 1000000", E2B_SEND);
        fault_proxy_end(&proxy);
    }
    tally_add(&at);
}

int main(void)
{
    if (!live_client_open(&live, NULL, 2, memory, sizeof memory)) return 1;
    for (int settled = 0; settled < 2; settled++) {
        withheld("never", settled, E2B_REPLY_TIMEOUT);
        withheld("close", settled, E2B_NO_REPLY);
        withheld("reset", settled, E2B_NO_REPLY);
        made_late(settled);
    }
    for (size_t i = 0; i < sizeof odd_answers / sizeof odd_answers[0]; i++) odd(&odd_answers[i]);
    looks_that_fail_at_first();
    looks_that_are_refused();
    requests_that_do_not_leave_whole();
    live_client_close(&live);
    return tally_end();
}
