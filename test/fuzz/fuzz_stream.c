/* A process stream from end to end: the input is the body of the answer to
 * start, cut off by the end of the link. However it arrives, the output and
 * what ends it are the same, and END comes only if the end-of-stream envelope
 * is there. */
#include <stdlib.h>
#include <string.h>

#include "e2b.h"
#include "e2b_memory.h"
#include "fuzz.h"

typedef struct run {
    fuzz_log streams[4]; /* by kind of event; 0: how it ended */
    bool ended;
} run;

static void name_sandbox(e2b_client *client, e2b_sandbox *sandbox)
{
    static const uint16_t version[3] = {0, 6, 13};
    e2b_sandbox_refer(client, sandbox, "i0123456789");
    memcpy(sandbox->version, version, sizeof version);
    memcpy(sandbox->domain, "e2b.app", 8);
}

static void check_event(const e2b_event *event, const uint8_t *memory, size_t size, run *r)
{
    if (event->kind < E2B_EVENT_OUT || event->kind > E2B_EVENT_PTY) return;
    const uint8_t *at = (const uint8_t *)event->data.ptr;
    FUZZ_CHECK(event->data.len > 0 && at >= memory && at + event->data.len <= memory + size);
    fuzz_log_add(&r->streams[event->kind], event->data.ptr, event->data.len);
}

static void read_all(e2b_process *process, const uint8_t *memory, size_t size, run *r, const e2b_memory_port *port)
{
    e2b_event event;
    e2b_err err;
    do {
        err = e2b_process_next(process, &event, 1000);
        if (!err) check_event(&event, memory, size, r);
        FUZZ_CHECK(err || event.kind != E2B_EVENT_NONE); /* the link has an end */
    } while (!err && event.kind != E2B_EVENT_END);
    r->ended = !err;
    fuzz_log_number(&r->streams[0], process->pid);
    fuzz_log_number(&r->streams[0], process->exit_known);
    if (process->exit_known) fuzz_log_number(&r->streams[0], process->exit_code);
    if (!err) fuzz_log_add(&r->streams[0], event.status.ptr, event.status.len);
    uint64_t calls = port->calls;
    FUZZ_CHECK(e2b_process_next(process, &event, 1000) == err && event.kind == (err ? 0 : E2B_EVENT_END));
    FUZZ_CHECK(port->calls == calls);
    fuzz_log_number(&r->streams[0], err);
}

static void run_all(fuzz_bytes body, uint8_t codec, size_t recv_max, size_t buffer, run *r)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/connect\r\n\r\n";
    static uint8_t steps[1 << 17];
    e2b_memory_script script;
    e2b_memory_port port;
    e2b_client client;
    e2b_client_options options;
    e2b_sandbox sandbox;
    e2b_process process;
    const char *argv[] = {"cat"};
    size_t size = E2B_CLIENT_MEMORY(1, buffer);
    uint8_t *memory = malloc(size);
    FUZZ_CHECK(memory != NULL);
    memset(r, 0, sizeof *r);
    e2b_memory_script_init(&script, steps, sizeof steps);
    e2b_memory_accept(&script);
    e2b_memory_request(&script);
    e2b_memory_text(&script, head);
    e2b_memory_data(&script, body.at, body.left);
    e2b_memory_end(&script);
    e2b_memory_open(&port, steps, script.length);
    port.recv_max = recv_max;
    memset(&options, 0, sizeof options);
    options.api_key = "e2b_00";
    options.sandbox_url = "http://sandbox.test";
    options.codec = codec;
    FUZZ_CHECK(e2b_client_init(&client, &port.port, &options, memory, size) == E2B_OK);
    name_sandbox(&client, &sandbox);
    e2b_err err = e2b_process_start(&sandbox, &process, argv, 1, NULL);
    fuzz_log_number(&r->streams[0], err);
    if (!err) read_all(&process, memory, size, r, &port);
    e2b_process_close(&process);
    e2b_client_close(&client);
    FUZZ_CHECK(port.closes == port.opened);
    free(memory);
}

/* Whether whole messages lead to a whole end-of-stream message. */
static bool has_end(fuzz_bytes body)
{
    while (body.left >= 5) {
        uint32_t length = (uint32_t)body.at[1] << 24 | (uint32_t)body.at[2] << 16 | (uint32_t)body.at[3] << 8 | body.at[4];
        uint8_t flags = body.at[0];
        if (length > body.left - 5) return false;
        if (flags == 2) return true;
        body.at += 5 + length;
        body.left -= 5 + length;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static run whole, cut;
    static const size_t buffers[3] = {1024, 1025, 5000};
    fuzz_bytes body = {data, size};
    uint8_t codec = fuzz_byte(&body) & 1, how = fuzz_byte(&body);
    if (body.left > 100000) return 0;
    run_all(body, codec, 0, 8192, &whole);
    run_all(body, codec, 1u + how % 50, buffers[how % 3], &cut);
    if (whole.ended) FUZZ_CHECK(has_end(body));
    for (size_t i = 0; i < 4; i++) FUZZ_CHECK(fuzz_log_equal(&whole.streams[i], &cut.streams[i]));
    return 0;
}
