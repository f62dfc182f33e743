/* The cancel flag, set by another thread or a signal handler, ends every wait
 * but those that clean up. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "live_client.h"
#include "local_service.h"
#include "tally.h"

static uint8_t memory[E2B_CLIENT_MEMORY(3, 4096)];
static live_client live;
static e2b_sandbox sandbox;
static volatile int cancel;

/* ---- Who sets it ------------------------------------------------------------------ */

typedef enum means { WAKING, POLLED, SIGNALLED } means;

static const char *const names[] = {"a thread that wakes the port", "a thread that can't wake the port", "a signal handler"};
static pthread_t waiter;

static void on_signal(int number)
{
    (void)number;
    cancel = 1;
    e2b_posix_wake(&live.posix);
}

static void *set_flag(void *context)
{
    switch (*(const means *)context) {
    case WAKING:
        cancel = 1;
        e2b_posix_wake(&live.posix);
        break;
    case POLLED: cancel = 1; break;
    case SIGNALLED: pthread_kill(waiter, SIGUSR1); break;
    }
    return NULL;
}

/* Right after this the caller waits; whichever comes first must not matter. */
static pthread_t begin(means how)
{
    static means kept;
    pthread_t thread;
    kept = how;
    live.counting.port.wake_ms = how == POLLED ? 100 : 0;
    pthread_create(&thread, NULL, set_flag, &kept);
    return thread;
}

static void end(pthread_t thread)
{
    pthread_join(thread, NULL);
    while (!cancel) sched_yield(); /* the signal may be on its way */
    cancel = 0;
}

/* ---- Waits -------------------------------------------------------------------------- */

/* None of these has a limit of its own that would end it. */
static void streams(means how)
{
    static const char *const argv[] = {"cat"};
    tally_case at = {names[how], 0};
    e2b_process cat, *waiting = &cat;
    e2b_process_options options;
    e2b_event event;
    size_t ready;
    memset(&options, 0, sizeof options);
    memset(&event, 0, sizeof event);
    options.input = true;
    HOLDS(&at, e2b_process_start(&sandbox, &cat, argv, 1, &options) == E2B_OK);
    live.client.limits.idle_ms = E2B_NO_LIMIT;

    pthread_t thread = begin(how);
    e2b_err err;
    /* Waking alone ends a wait too, without an error. */
    while (!(err = e2b_process_next(&cat, &event, E2B_NO_LIMIT)) && event.kind == E2B_EVENT_NONE) continue;
    CHECK(&at, err == E2B_CANCELLED, "next: %s", e2b_err_name(err));
    HOLDS(&at, live.client.error.code == E2B_CANCELLED);
    end(thread);

    thread = begin(how);
    while (!(err = e2b_wait(&live.client, &waiting, 1, E2B_NO_LIMIT, &ready)) && !ready) continue;
    CHECK(&at, err == E2B_CANCELLED, "wait: %s, %zu ready", e2b_err_name(err), ready);
    end(thread);

    /* It ended a wait, not the stream. */
    HOLDS(&at, e2b_process_send(&cat, "still there", 11) == E2B_OK && e2b_process_end_input(&cat) == E2B_OK);
    size_t total = 0;
    while (event.kind != E2B_EVENT_END && !at.failed) {
        HOLDS(&at, e2b_process_next(&cat, &event, E2B_NO_LIMIT) == E2B_OK);
        if (event.kind == E2B_EVENT_OUT) total += event.data.len;
    }
    HOLDS(&at, total == 11 && event.exit_code == 0);
    live.client.limits.idle_ms = 0;
    tally_add(&at);
}

/* A create that gets no answer: it is lost like any other. */
static void create(means how)
{
    tally_case at = {names[how], 0};
    e2b_sandbox made;
    memset(&made, 0, sizeof made);
    HOLDS(&at, local_service_fault("{\"method\":\"POST\",\"path\":\"/v2/sandboxes\",\"withhold\":\"never\"}"));
    live.client.limits.request_ms = E2B_NO_LIMIT;
    pthread_t thread = begin(how);
    e2b_err err = e2b_sandbox_create(&live.client, &made, NULL);
    CHECK(&at, err == E2B_CANCELLED && e2b_err_may_have_run(err), "%s", e2b_err_name(err));
    HOLDS(&at, made.state == E2B_SANDBOX_MAYBE || made.state == E2B_SANDBOX_NONE);
    pthread_join(thread, NULL);
    while (!cancel) sched_yield();
    /* The flag is still set, and cleaning up goes on. */
    live.client.limits.request_ms = 0;
    live.client.limits.settle_ms = 1000;
    live.client.limits.poll_ms = 20;
    HOLDS(&at, e2b_sandbox_health(&sandbox) == E2B_CANCELLED);
    HOLDS(&at, e2b_sandbox_kill(&made) == E2B_OK);
    HOLDS(&at, made.state == E2B_SANDBOX_GONE || made.state == E2B_SANDBOX_NONE);
    HOLDS(&at, local_service_sandboxes("sandboxID") == 1);
    cancel = 0;
    memset(&live.client.limits, 0, sizeof live.client.limits);
    char answer[64];
    local_service_ask("DELETE", "faults", NULL, answer, sizeof answer);
    tally_add(&at);
}

/* Kill and settle wait through everything, at their usual limits. */
static void cleaning(void)
{
    tally_case at = {"cleaning up", 0};
    e2b_sandbox made;
    memset(&made, 0, sizeof made);
    HOLDS(&at, local_service_fault("{\"method\":\"POST\",\"path\":\"/v2/sandboxes\",\"withhold\":\"close\"}"));
    HOLDS(&at, e2b_sandbox_create(&live.client, &made, NULL) == E2B_NO_REPLY && made.state == E2B_SANDBOX_MAYBE);
    HOLDS(&at, local_service_fault("[{\"method\":\"GET\",\"delay_answer\":0.3},{\"method\":\"DELETE\",\"delay_answer\":0.3}]"));
    cancel = 1;
    HOLDS(&at, e2b_sandbox_settle(&made, E2B_NO_LIMIT) == E2B_OK && made.state == E2B_SANDBOX_LIVE);
    HOLDS(&at, strlen(made.access_token) == 64);
    HOLDS(&at, e2b_sandbox_kill(&made) == E2B_OK && made.state == E2B_SANDBOX_GONE);
    cancel = 0;
    HOLDS(&at, local_service_sandboxes("sandboxID") == 1);
    tally_add(&at);
}

static void run(means how)
{
    tally_case at = {names[how], 0};
    e2b_run_result result;
    memset(&result, 0, sizeof result);
    pthread_t thread = begin(how);
    HOLDS(&at, e2b_run(&sandbox, "sleep 1000", NULL, &result) == E2B_CANCELLED);
    end(thread);
    HOLDS(&at, e2b_run(&sandbox, "pkill -x sleep; exit 5", NULL, &result) == E2B_OK && result.exit_code == 5);
    tally_add(&at);
}

int main(void)
{
    struct sigaction action;
    e2b_client_options options;
    memset(&action, 0, sizeof action);
    memset(&options, 0, sizeof options);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    waiter = pthread_self();
    options.cancel = &cancel;
    if (!live_client_open(&live, &options, 3, memory, sizeof memory)) return 1;
    if (e2b_sandbox_create(&live.client, &sandbox, NULL)) return 1;
    for (int round = 0; round < 5; round++) {
        for (means how = WAKING; how <= SIGNALLED; how++) {
            streams(how);
            run(how);
            create(how);
        }
    }
    cleaning();
    if (e2b_sandbox_kill(&sandbox)) return 1;
    live_client_close(&live);
    return tally_end();
}
