#include "recorded_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NO_CONTENT "HTTP/1.1 204 No Content\r\n\r\n"

/* More port calls than any run may need: one that turns in circles meets a failing port. */
#define CALLS_MOST 4000000u

recorded_way recorded_whole(const recorded_reply *reply, size_t slot)
{
    return (recorded_way){.cut = reply->bytes.len, .ending = RECORDED_STALL, .slot = slot};
}

/* ---- Scripts --------------------------------------------------------------------- */

void recorded_add_pieces(e2b_memory_script *script, const recorded_reply *reply, const recorded_way *way)
{
    size_t first = way->split < way->cut ? way->split : way->cut;
    if (first) {
        e2b_memory_data(script, reply->bytes.ptr, first);
        e2b_memory_would_block(script);
    }
    if (way->cut > first) e2b_memory_data(script, reply->bytes.ptr + first, way->cut - first);
}

void recorded_add_ending(e2b_memory_script *script, int ending)
{
    if (ending == RECORDED_CLEAN) e2b_memory_end(script);
    if (ending == RECORDED_UNCLEAN) e2b_memory_end_unclean(script);
    if (ending == RECORDED_RESET) e2b_memory_reset(script);
}

static void add_exchange(e2b_memory_script *script, e2b_str bytes)
{
    e2b_memory_request(script);
    e2b_memory_data(script, bytes.ptr, bytes.len);
}

void recorded_script(recorded_run *run, const recorded_reply *reply, const recorded_way *way)
{
    e2b_memory_script *script = &run->script;
    bool lives_on = way->ending == RECORDED_STALL && way->cut >= reply->complete;
    e2b_memory_script_init(script, run->steps, sizeof run->steps);
    e2b_memory_accept(script);
    if (way->kept) add_exchange(script, (e2b_str){NO_CONTENT, sizeof NO_CONTENT - 1});
    e2b_memory_request(script);
    recorded_add_pieces(script, reply, way);
    recorded_add_ending(script, way->ending);
    if (lives_on && reply->then.len) add_exchange(script, reply->then);
    /* A link that can't go on is replaced: by one for the whole call, or for what is left of it. */
    e2b_memory_accept(script);
    if (way->cut == 0) add_exchange(script, reply->bytes);
    if (way->cut == 0 && reply->close) e2b_memory_end(script);
    if (reply->then.len) add_exchange(script, reply->then);
    assert_false(script->full);
}

/* ---- Port and client -------------------------------------------------------------- */

void recorded_ready(recorded_run *run, size_t slot, bool binary)
{
    e2b_client_options options = {
        .api_key = "e2b_0123456789abcdef0123456789abcdef01234567",
        .api_url = "http://api.example.test",
        .sandbox_url = "http://sandbox.example.test",
        .connections = RECORDED_CONNECTIONS,
        .codec = binary ? E2B_CODEC_PROTO : E2B_CODEC_JSON,
    };
    memset(run->connections, 0, sizeof run->connections);
    e2b_memory_open(&run->port, run->script.memory, run->script.length);
    run->port.connections = run->connections;
    run->port.connection_count = sizeof run->connections / sizeof run->connections[0];
    run->port.fail_call = CALLS_MOST;
    run->port.fail_outcome = E2B_IO_FAILED;
    memset(&run->client, 0, sizeof run->client);
    assert_int_equal(e2b_client_init(&run->client, &run->port.port, &options, run->memory,
                                     E2B_CLIENT_MEMORY(RECORDED_CONNECTIONS, slot)), E2B_OK);
    assert_int_equal(e2b_sandbox_refer(&run->client, &run->sandbox, "ibb56my54d9biza4ggh4s"), E2B_OK);
    /* As an attach would have filled it; that call is tested with its own recordings. */
    run->sandbox.version[1] = 6;
    run->sandbox.version[2] = 13;
}

void recorded_keep_link(recorded_run *run, bool envd)
{
    e2b_err err = envd ? e2b_sandbox_health(&run->sandbox) : e2b_sandbox_set_timeout(&run->sandbox, 60);
    assert_int_equal(err, E2B_OK);
    assert_int_equal(run->port.closes, 0);
}

void recorded_begin(recorded_run *run, const recorded_reply *reply, const recorded_way *way)
{
    bool envd = reply->stream || recorded_is_call(reply, "health") || recorded_is_call(reply, "processes") ||
                recorded_is_call(reply, "signal") || recorded_is_call(reply, "start") ||
                recorded_is_call(reply, "process-connect");
    recorded_script(run, reply, way);
    recorded_ready(run, way->slot, reply->binary);
    run->port.recv_max = way->most;
    if (way->kept) recorded_keep_link(run, envd);
}

void recorded_end(recorded_run *run, const recorded_reply *reply, const recorded_way *way)
{
    /* A receive, a look for more and a wait for each piece; request, repetition and the look at a silent stream beside. */
    size_t piece = way->most && way->most < way->slot / 2 ? way->most : way->slot / 2;
    RECORDED_CHECK(run->port.calls <= 120 + 8 * (reply->bytes.len / piece));
    e2b_client_close(&run->client);
    RECORDED_CHECK(run->port.closes == run->port.opened);
}

uint32_t recorded_requests(const recorded_run *run)
{
    uint32_t requests = 0;
    for (size_t i = 0; i < sizeof run->connections / sizeof run->connections[0]; i++)
        requests += run->connections[i].requests;
    return requests;
}

bool recorded_sampled(void)
{
    const char *value = getenv("E2B_TEST_SAMPLED");
    return value != NULL && strcmp(value, "1") == 0;
}

void recorded_complain(const recorded_reply *reply, const recorded_way *way, const char *what, int line)
{
    static const char *const endings[] = {"clean end", "unclean end", "reset", "stall"};
    fail_msg("%s: %zu of %zu bytes, split at %zu, receives of %zu, then %s, slot of %zu%s: line %d: %s", reply->name.ptr,
             way->cut, reply->bytes.len, way->split, way->most, endings[way->ending], way->slot,
             way->kept ? ", kept link" : "", line, what);
}
