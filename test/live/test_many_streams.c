/* Two hundred live streams in one client, and calls beside them; then a few
 * that never fall silent and one that must be heard all the same. */
#include <stdio.h>
#include <string.h>

#include "live_client.h"
#include "local_service.h"
#include "tally.h"

enum { STREAMS = 200, CONNECTIONS = STREAMS + 2, EACH = 4096, NOISY = 8, ROUNDS = 100 };

static uint8_t memory[E2B_CLIENT_MEMORY(CONNECTIONS, 2048)];
static live_client live;
static e2b_sandbox sandbox;

/* One of many, and how much of its own line has come again and again. */
typedef struct stream {
    e2b_process process;
    char line[16];
    size_t length, total;
    bool ended;
} stream;

static stream streams[STREAMS];

static stream *stream_of(e2b_process *process)
{
    return (stream *)(void *)process; /* its first member */
}

/* ---- All at once -------------------------------------------------------------------- */

/* They wait at a pipe that nobody writes to yet. */
static void open_all(tally_case *at)
{
    for (int i = 0; i < STREAMS && !at->failed; i++) {
        char command[80];
        const char *argv[] = {"sh", "-c", command};
        stream *s = &streams[i];
        s->length = (size_t)snprintf(s->line, sizeof s->line, "stream %d\n", i);
        snprintf(command, sizeof command, ": <gate; yes 'stream %d' | head -c %d", i, EACH);
        e2b_err err = e2b_process_start(&sandbox, &s->process, argv, 3, NULL);
        CHECK(at, !err, "stream %d: %s", i, e2b_reason(&live.client, err));
    }
}

static void take(tally_case *at, stream *s, const e2b_event *event)
{
    for (size_t i = 0; event->kind == E2B_EVENT_OUT && i < event->data.len; i++, s->total++)
        if (!CHECK(at, event->data.ptr[i] == s->line[s->total % s->length], "%.9s: other bytes at %zu", s->line, s->total)) return;
    if (event->kind == E2B_EVENT_END) s->ended = event->exit_code == 0;
}

/* Reads all of them to their ends, the ready ones first. */
static void read_all(tally_case *at, e2b_process **waiting, size_t count)
{
    while (count && !at->failed) {
        size_t ready;
        e2b_err err = e2b_wait(&live.client, waiting, count, E2B_NO_LIMIT, &ready);
        CHECK(at, !err && ready > 0, "wait: %s, %zu ready", e2b_err_name(err), ready);
        for (size_t i = ready; !at->failed && i-- > 0;) {
            e2b_event event;
            err = e2b_process_next(waiting[i], &event, 0);
            CHECK(at, !err, "next: %s", e2b_reason(&live.client, err));
            take(at, stream_of(waiting[i]), &event);
            if (event.kind == E2B_EVENT_END) waiting[i] = waiting[--count];
        }
    }
}

/* None has anything to say. Bytes that are no event may make one ready once. */
static void expect_silence(tally_case *at, e2b_process **waiting, size_t count)
{
    size_t ready;
    e2b_event event;
    HOLDS(at, e2b_wait(&live.client, waiting, count, 0, &ready) == E2B_OK);
    for (size_t i = 0; i < ready; i++)
        HOLDS(at, e2b_process_next(waiting[i], &event, 0) == E2B_OK && event.kind == E2B_EVENT_NONE);
    HOLDS(at, e2b_wait(&live.client, waiting, count, 0, &ready) == E2B_OK && ready == 0);
}

static void many(void)
{
    static e2b_process *waiting[STREAMS];
    static const char *const gatekeeper[] = {"sh", "-c", "exec 3>gate; exec sleep 1000"};
    tally_case at = {"200 streams", 0};
    e2b_process extra;
    e2b_run_result result;
    size_t ended = 0;
    memset(&result, 0, sizeof result);
    HOLDS(&at, e2b_run(&sandbox, "mkfifo gate", NULL, &result) == E2B_OK);
    open_all(&at);
    for (size_t i = 0; i < STREAMS; i++) waiting[i] = &streams[i].process;
    expect_silence(&at, waiting, STREAMS);
    /* One place is left for a stream, and one for calls alone. */
    HOLDS(&at, e2b_process_start(&sandbox, &extra, gatekeeper, 3, NULL) == E2B_OK);
    HOLDS(&at, e2b_run(&sandbox, "true", NULL, &result) == E2B_BUSY);
    HOLDS(&at, e2b_sandbox_health(&sandbox) == E2B_OK);
    read_all(&at, waiting, STREAMS);
    for (size_t i = 0; i < STREAMS; i++) ended += streams[i].ended && streams[i].total == EACH;
    CHECK(&at, ended == STREAMS, "%zu of them came to a good end", ended);
    HOLDS(&at, e2b_process_signal(&extra, E2B_SIGNAL_KILL) == E2B_OK);
    e2b_event event;
    HOLDS(&at, e2b_process_next(&extra, &event, E2B_NO_LIMIT) == E2B_OK);
    HOLDS(&at, event.kind == E2B_EVENT_END && !event.exited);
    HOLDS(&at, live.counting.opens <= CONNECTIONS + 2);
    tally_add(&at);
}

/* ---- A kill beside them ------------------------------------------------------------ */

static void killed_beside(void)
{
    static const char *const argv[] = {"sleep", "1000"};
    static e2b_process *waiting[STREAMS];
    tally_case at = {"a kill beside 200 streams", 0};
    e2b_sandbox other;
    size_t ready = 0, gone = 0, count = STREAMS;
    memset(&other, 0, sizeof other);
    HOLDS(&at, e2b_sandbox_create(&live.client, &other, NULL) == E2B_OK);
    /* Every second one in the other sandbox. */
    for (size_t i = 0; i < STREAMS; i++) {
        waiting[i] = &streams[i].process;
        e2b_err err = e2b_process_start(i % 2 ? &other : &sandbox, waiting[i], argv, 2, NULL);
        CHECK(&at, !err, "stream %zu: %s", i, e2b_reason(&live.client, err));
    }
    HOLDS(&at, e2b_sandbox_kill(&other) == E2B_OK && other.state == E2B_SANDBOX_GONE);
    HOLDS(&at, local_service_sandboxes(other.id) == 0);
    while (gone < STREAMS / 2 && !at.failed) {
        HOLDS(&at, e2b_wait(&live.client, waiting, count, E2B_NO_LIMIT, &ready) == E2B_OK && ready > 0);
        for (size_t i = ready; i-- > 0;) {
            e2b_event event;
            e2b_err err = e2b_process_next(waiting[i], &event, 0);
            CHECK(&at, err ? err == E2B_TRUNCATED && waiting[i]->sandbox == &other : event.kind == E2B_EVENT_NONE,
                  "%s, event %d", e2b_err_name(err), (int)event.kind);
            if (!err) continue;
            gone++;
            waiting[i] = waiting[--count];
        }
    }
    /* The others live on. */
    expect_silence(&at, waiting, count);
    for (size_t i = 0; i < count; i++) HOLDS(&at, e2b_process_signal(waiting[i], E2B_SIGNAL_TERM) == E2B_OK);
    for (size_t i = 0; i < count; i++) {
        e2b_event event;
        HOLDS(&at, e2b_process_next(waiting[i], &event, E2B_NO_LIMIT) == E2B_OK && event.kind == E2B_EVENT_END);
    }
    tally_add(&at);
}

/* ---- One quiet among noisy ones --------------------------------------------------------- */

/* Reads what is ready until the quiet one has said something. How many noisy
 * events came before. */
static unsigned hear(tally_case *at, e2b_process **waiting, e2b_process *quiet, char said[16])
{
    unsigned noise = 0;
    for (bool heard = false; !heard && !at->failed;) {
        size_t ready;
        HOLDS(at, e2b_wait(&live.client, waiting, NOISY + 1, E2B_NO_LIMIT, &ready) == E2B_OK && ready > 0);
        for (size_t i = 0; i < ready; i++) {
            e2b_event event;
            HOLDS(at, e2b_process_next(waiting[i], &event, 0) == E2B_OK && event.kind != E2B_EVENT_END);
            if (event.kind != E2B_EVENT_OUT) continue;
            if (waiting[i] != quiet) {
                CHECK(at, ++noise < 100000, "not heard");
                continue;
            }
            snprintf(said, 16, "%.*s", (int)event.data.len, event.data.ptr);
            heard = true;
        }
    }
    return noise;
}

static void fair(void)
{
    static const char *const yes[] = {"yes"}, *const cat[] = {"cat"};
    static e2b_process *waiting[NOISY + 1];
    tally_case at = {"one quiet stream among noisy ones", 0};
    e2b_process_options options;
    unsigned noise = 0;
    memset(&options, 0, sizeof options);
    for (size_t i = 0; i <= NOISY; i++) {
        waiting[i] = &streams[i].process;
        options.input = i == NOISY;
        HOLDS(&at, e2b_process_start(&sandbox, waiting[i], i == NOISY ? cat : yes, 1, &options) == E2B_OK);
    }
    e2b_process *quiet = waiting[NOISY];
    for (int round = 0; round < ROUNDS && !at.failed; round++) {
        char line[16], said[16] = "";
        size_t length = (size_t)snprintf(line, sizeof line, "round %d\n", round);
        e2b_err err;
        e2b_event event;
        /* That the last line was taken may be told after its echo. */
        while ((err = e2b_process_send(quiet, line, length)) == E2B_BUSY && !at.failed)
            HOLDS(&at, e2b_process_next(quiet, &event, E2B_NO_LIMIT) == E2B_OK && event.kind == E2B_EVENT_SENT);
        HOLDS(&at, err == E2B_OK);
        noise += hear(&at, waiting, quiet, said);
        CHECK(&at, strcmp(line, said) == 0, "'%s' instead of '%s'", said, line);
    }
    HOLDS(&at, noise > 0);
    for (size_t i = 0; i <= NOISY; i++) e2b_process_close(waiting[i]);
    tally_add(&at);
}

/* An ended handle is ready each time, and hides nobody. */
static void beside_an_ended_one(void)
{
    static const char *const cat[] = {"cat"}, *const end[] = {"true"};
    tally_case at = {"a stream beside an ended one", 0};
    e2b_process ended, quiet, *waiting[2] = {&ended, &quiet};
    e2b_process_options options;
    e2b_event event;
    size_t ready = 0;
    memset(&options, 0, sizeof options);
    memset(&event, 0, sizeof event);
    options.input = true;
    HOLDS(&at, e2b_process_start(&sandbox, &ended, end, 1, NULL) == E2B_OK);
    HOLDS(&at, e2b_process_start(&sandbox, &quiet, cat, 1, &options) == E2B_OK);
    while (event.kind != E2B_EVENT_END && !at.failed) HOLDS(&at, e2b_process_next(&ended, &event, E2B_NO_LIMIT) == E2B_OK);
    HOLDS(&at, e2b_process_send(&quiet, "hello", 5) == E2B_OK);
    for (unsigned waits = 0; event.kind != E2B_EVENT_OUT && !at.failed;) {
        HOLDS(&at, e2b_wait(&live.client, waiting, 2, E2B_NO_LIMIT, &ready) == E2B_OK && ready > 0);
        CHECK(&at, ++waits < 10000000, "not heard");
        if (ready == 2) HOLDS(&at, e2b_process_next(&quiet, &event, 0) == E2B_OK);
    }
    HOLDS(&at, event.data.len == 5);
    e2b_process_close(&quiet);
    tally_add(&at);
}

int main(void)
{
    if (!live_client_open(&live, NULL, CONNECTIONS, memory, sizeof memory)) return 1;
    if (e2b_sandbox_create(&live.client, &sandbox, NULL)) return 1;
    many();
    killed_beside();
    fair();
    beside_an_ended_one();
    tally_case at = {"afterwards", 0};
    HOLDS(&at, e2b_sandbox_kill(&sandbox) == E2B_OK);
    HOLDS(&at, local_service_sandboxes("sandboxID") == 0);
    tally_add(&at);
    live_client_close(&live);
    return tally_end();
}
