/* A whole client against any peer. The input is four bytes of settings and a
 * number of actions, a pair of bytes for each action, and the rest is the
 * script of the memory port. What is promised whatever the peer sends is
 * checked after each action: where pointers lead, how long a call may take,
 * what states say, that what was refused sent nothing, that handles which have
 * ended stay so without asking the port, and that no secret is in a text. */
#include <stdlib.h>
#include <string.h>

#include "e2b.h"
#include "e2b_memory.h"
#include "fuzz.h"

#define KEY_DIGITS "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c"
#define KEY "e2b_" KEY_DIGITS
#define TOKEN "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define PROCESSES 4
#define CALLS_A_MS 64u          /* so many port calls make the clock move on, so that a peer that never pauses meets limits */
#define CALLS_MOST 3000000u

enum {
    ASSUME, CREATE, REFER, ATTACH, CONNECT, RESUME, INFO, LIST_OPEN, LIST_NEXT, LIST_CLOSE, START, START_INPUT, SHELL, JOIN,
    NEXT, WAIT, SEND, END_INPUT, SIGNAL, CLOSE, PROCESSES_OPEN, PROCESSES_NEXT, PROCESSES_CLOSE, RUN, HEALTH, TIMEOUT, PAUSE,
    SETTLE, KILL, CANCEL, LIMITS, HOST, COPY, ACTIONS
};

enum { REQUEST_MS = 200, CONNECT_MS = 80, IDLE_MS = 150, SETTLE_MS = 400, DRAIN_MS = 10, GRACE_MS = 5000 };

typedef struct fuzzed {
    e2b_memory_port port; /* first: the library's context is this */
    e2b_port inner;
    uint64_t calls, crept;
    e2b_client client;
    uint8_t *memory;
    size_t memory_size;
    volatile int cancel;
    e2b_sandbox sandbox, other;
    e2b_process processes[PROCESSES];
    bool ended[PROCESSES];
    e2b_err failed[PROCESSES];
    e2b_sandbox_list list;
    bool list_over;
    e2b_process_list process_list;
    uint8_t *arena_memory;
    e2b_arena arena;
    uint8_t input[70000];
    char trace[8192];
} fuzzed;

/* ---- The port -------------------------------------------------------------------- */

static void count(fuzzed *f)
{
    f->calls++;
    if (f->calls % CALLS_A_MS) return;
    f->port.now_ms++;
    f->crept++;
    FUZZ_CHECK(f->calls < CALLS_MOST);
}

static int32_t counted_open(void *context, e2b_link *link, const e2b_target *target)
{
    fuzzed *f = context;
    count(f);
    FUZZ_CHECK(!memchr(target->host.ptr, '\r', target->host.len) && !memchr(target->host.ptr, '\n', target->host.len));
    return f->inner.open(context, link, target);
}

static int32_t counted_recv(void *context, e2b_link *link, void *buffer, size_t size)
{
    fuzzed *f = context;
    count(f);
    FUZZ_CHECK(size > 0 && (uint8_t *)buffer >= f->memory && (uint8_t *)buffer + size <= f->memory + f->memory_size);
    return f->inner.recv(context, link, buffer, size);
}

static int32_t counted_send(void *context, e2b_link *link, const void *data, size_t size)
{
    fuzzed *f = context;
    count(f);
    FUZZ_CHECK(size > 0);
    return f->inner.send(context, link, data, size);
}

static int32_t counted_wait(void *context, e2b_wait_item *items, size_t item_count, uint64_t *space, uint32_t timeout_ms)
{
    fuzzed *f = context;
    count(f);
    FUZZ_CHECK(item_count <= f->client.conn_count);
    for (size_t i = 0; i < item_count + E2B_WAIT_SPARE; i++) space[i] = 0x5a5a;
    return f->inner.wait(context, items, item_count, space, timeout_ms < 100000 ? timeout_ms : 100000);
}

/* ---- Setting up -------------------------------------------------------------------- */

static void set_limits(fuzzed *f, uint8_t how)
{
    e2b_limits limits = {CONNECT_MS, REQUEST_MS, REQUEST_MS, REQUEST_MS, IDLE_MS, REQUEST_MS, SETTLE_MS, 100, 50, DRAIN_MS, 7};
    if (how & 1) limits.drain_ms = E2B_NO_LIMIT;
    if (how & 2) limits.connect_ms = E2B_NO_LIMIT;
    if (how & 4) limits.idle_ms = 1;
    if (how & 8) limits.kept_ms = limits.fresh_ms = E2B_NO_LIMIT;
    if (how & 16) limits.connect_ms = limits.request_ms = limits.open_ms = limits.settle_ms = limits.poll_ms = 1;
    if (how & 32) limits.idle_ms = E2B_NO_LIMIT;
    f->client.limits = limits;
}

static void set_up(fuzzed *f, fuzz_bytes *input)
{
    static const size_t recv_max[4] = {0, 1, 7, 100};
    uint8_t slots = fuzz_byte(input), buffer = fuzz_byte(input), how = fuzz_byte(input);
    e2b_client_options options;
    memset(&options, 0, sizeof options);
    options.api_key = KEY;
    options.api_url = "http://api.test/base";
    options.sandbox_url = how & 1 ? "http://sandbox.test" : NULL;
    options.domain = "example.test";
    options.connections = (uint16_t)(1 + (slots & 3));
    options.codec = slots >> 3 & 1;
    options.cancel = &f->cancel;
    f->memory_size = E2B_CLIENT_MEMORY(options.connections, 1024u + buffer * 8u);
    f->memory = malloc(f->memory_size);
    FUZZ_CHECK(f->memory != NULL);
    f->inner = f->port.port;
    f->port.port.open = counted_open;
    f->port.port.recv = counted_recv;
    f->port.port.send = counted_send;
    f->port.port.wait = counted_wait;
    f->port.port.wake_ms = how & 2 ? 40 : 0;
    f->port.recv_max = recv_max[how >> 2 & 3];
    f->port.send_max = how & 16 ? 30 : 0;
    f->port.used_up = (how >> 5) % 3;
    f->port.trace = f->trace;
    f->port.trace_size = sizeof f->trace;
    FUZZ_CHECK(e2b_client_init(&f->client, &f->port.port, &options, f->memory, f->memory_size) == E2B_OK);
    set_limits(f, 0);
    f->arena_memory = malloc(300);
    FUZZ_CHECK(f->arena_memory != NULL);
    for (size_t i = 0; i < sizeof f->input; i++) f->input[i] = (uint8_t)(i * 7);
}

/* ---- Checks ------------------------------------------------------------------------ */

static bool holds(const char *text, size_t length, const char *secret)
{
    size_t secret_length = strlen(secret);
    for (size_t at = 0; at + secret_length <= length; at++)
        if (memcmp(text + at, secret, secret_length) == 0) return true;
    return false;
}

static void check_words(const char *text, size_t length)
{
    FUZZ_CHECK(!holds(text, length, KEY_DIGITS) && !holds(text, length, TOKEN));
}

static void check_error(const e2b_error *error)
{
    FUZZ_CHECK(memchr(error->text, '\0', sizeof error->text) != NULL);
    check_words(error->text, strlen(error->text));
    for (const char *c = error->text; *c; c++) FUZZ_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_sandbox(const e2b_sandbox *sandbox)
{
    FUZZ_CHECK(sandbox->state >= E2B_SANDBOX_NONE && sandbox->state <= E2B_SANDBOX_GONE);
    if (sandbox->state == E2B_SANDBOX_LIVE) FUZZ_CHECK(sandbox->id[0] && !strpbrk(sandbox->id, "/?# \r\n%"));
    FUZZ_CHECK(memchr(sandbox->id, 0, sizeof sandbox->id) && memchr(sandbox->access_token, 0, sizeof sandbox->access_token) &&
               memchr(sandbox->domain, 0, sizeof sandbox->domain) && memchr(sandbox->envd_version, 0, sizeof sandbox->envd_version) &&
               memchr(sandbox->traffic_token, 0, sizeof sandbox->traffic_token));
}

static void check_all(fuzzed *f)
{
    check_error(&f->client.error);
    check_error(&f->client.cleanup_error);
    check_words(f->trace, f->port.trace_length < sizeof f->trace ? (size_t)f->port.trace_length : sizeof f->trace);
    f->port.trace_length = 0;
    check_sandbox(&f->sandbox);
    FUZZ_CHECK(!f->client.cleaning);
}

/* Bytes in the client's memory; each is looked at. */
static void check_bytes(const fuzzed *f, e2b_str data)
{
    const uint8_t *at = (const uint8_t *)data.ptr;
    unsigned sum = 0;
    FUZZ_CHECK(data.len > 0 && at >= f->memory && at + data.len <= f->memory + f->memory_size);
    for (size_t i = 0; i < data.len; i++) sum += at[i];
    FUZZ_CHECK(sum != 1u << 31);
}

static void check_kept(const fuzzed *f, e2b_str text)
{
    const uint8_t *at = (const uint8_t *)text.ptr;
    if (text.len) FUZZ_CHECK(at >= f->arena.memory && at + text.len <= f->arena.memory + f->arena.used);
    FUZZ_CHECK(f->arena.used <= f->arena.size);
}

/* ---- Actions ----------------------------------------------------------------------- */

static void assume(fuzzed *f, uint8_t arg)
{
    static const uint16_t versions[4][3] = {{0, 6, 13}, {0, 5, 1}, {0, 1, 5}, {99, 99, 99}};
    e2b_sandbox_refer(&f->client, &f->sandbox, "i0123456789abcdefghij");
    memcpy(f->sandbox.version, versions[arg & 3], sizeof versions[0]);
    memcpy(f->sandbox.domain, "example.test", 13);
    if (arg & 4) return;
    memcpy(f->sandbox.access_token, TOKEN, sizeof TOKEN);
    f->sandbox.secret = true;
}

static e2b_err create(fuzzed *f, uint8_t arg)
{
    e2b_pair metadata = {"job", "\xc3\xa9 /&"};
    e2b_sandbox_options options;
    int32_t before = f->sandbox.state;
    memset(&options, 0, sizeof options);
    options.metadata = &metadata;
    options.metadata_count = arg & 1;
    options.secure = arg & 2 ? E2B_NO : 0;
    options.untagged = (arg & 4) != 0;
    options.template_name = arg & 8 ? "a\r\nb" : NULL;
    e2b_err err = e2b_sandbox_create(&f->client, &f->sandbox, arg & 16 ? NULL : &options);
    if (before == E2B_SANDBOX_LIVE || before == E2B_SANDBOX_MAYBE)
        FUZZ_CHECK(err == E2B_STATE && f->sandbox.state == before);
    else if (!err)
        FUZZ_CHECK(f->sandbox.state == E2B_SANDBOX_LIVE);
    else if (err <= E2B_RESOLVE && err >= E2B_SEND_TIMEOUT)
        FUZZ_CHECK(f->sandbox.state == E2B_SANDBOX_NONE);
    else if (err <= E2B_NO_REPLY && err >= E2B_REPLY_TIMEOUT && f->client.error.http_status < 300)
        FUZZ_CHECK(f->sandbox.state != E2B_SANDBOX_NONE);
    if (f->sandbox.state == E2B_SANDBOX_MAYBE && before != E2B_SANDBOX_MAYBE)
        FUZZ_CHECK(options.untagged || arg & 16 || strlen(f->sandbox.create_tag) == 32);
    return err;
}

static e2b_err info(fuzzed *f, uint8_t arg)
{
    e2b_sandbox_info found;
    e2b_arena_init(&f->arena, arg ? f->arena_memory : NULL, arg);
    e2b_err err = e2b_sandbox_get_info(&f->sandbox, &found, arg & 1 ? &f->arena : NULL);
    if (err) return err;
    FUZZ_CHECK(found.id[0]);
    check_kept(f, found.metadata);
    check_kept(f, found.network);
    return err;
}

static e2b_err list_open(fuzzed *f, uint8_t arg)
{
    e2b_pair metadata = {"job", "1"};
    e2b_list_options options;
    memset(&options, 0, sizeof options);
    e2b_sandbox_list_close(&f->list);
    options.metadata_count = 0;
    options.metadata = &metadata;
    options.running = (arg & 2) != 0;
    options.limit = arg & 4 ? 101 : 0;
    options.arena = arg & 1 ? &f->arena : NULL;
    e2b_arena_init(&f->arena, f->arena_memory, arg);
    f->list_over = false;
    return e2b_sandbox_list_open(&f->client, &f->list, &options);
}

static e2b_err list_next(fuzzed *f)
{
    e2b_sandbox_info found;
    e2b_err err = e2b_sandbox_list_next(&f->list, &found);
    if (f->list_over) FUZZ_CHECK(err || !found.id[0]);
    f->list_over = f->list_over || (err ? err != E2B_TOO_SMALL : !found.id[0]);
    if (!err && f->list.options.arena) check_kept(f, found.metadata);
    return err;
}

static e2b_err processes_next(fuzzed *f)
{
    e2b_process_info found;
    e2b_err err = e2b_process_list_next(&f->process_list, &found);
    if (err || !f->process_list.arena) return err;
    check_kept(f, found.cmd);
    check_kept(f, found.cwd);
    check_kept(f, found.tag);
    check_kept(f, found.args);
    check_kept(f, found.env);
    return err;
}

static e2b_err start(fuzzed *f, uint8_t action, uint8_t arg)
{
    static const char *const argv[] = {"cat", "-\xc3\xa9", "\"\n"};
    size_t which = arg % PROCESSES;
    e2b_process *process = &f->processes[which];
    e2b_process_options options;
    memset(&options, 0, sizeof options);
    e2b_process_close(process);
    options.input = action == START_INPUT;
    options.tag = arg & 16 ? "tag" : NULL;
    options.timeout_ms = arg & 32 ? 77 : 0;
    options.user = arg & 64 ? "root" : NULL;
    e2b_err err = action == SHELL ? e2b_process_shell(&f->sandbox, process, "true", &options)
                : action == JOIN  ? e2b_process_connect(&f->sandbox, process, arg & 16 ? 0 : 7, "tag", &options)
                                  : e2b_process_start(&f->sandbox, process, argv, 3, &options);
    f->ended[which] = false;
    f->failed[which] = err ? err : E2B_OK;
    if (!err) FUZZ_CHECK(process->pid != 0);
    return err;
}

static e2b_err next(fuzzed *f, uint8_t arg)
{
    size_t which = arg % PROCESSES;
    e2b_process *process = &f->processes[which];
    bool over = f->ended[which] || f->failed[which];
    uint64_t calls = f->calls;
    e2b_event event;
    e2b_err err = e2b_process_next(process, &event, arg / PROCESSES);
    if (over) FUZZ_CHECK(f->calls == calls && (err || event.kind == E2B_EVENT_END));
    if (f->ended[which]) FUZZ_CHECK(!err && event.exit_code == process->exit_code);
    FUZZ_CHECK(event.kind >= E2B_EVENT_NONE && event.kind <= E2B_EVENT_END);
    if (err) {
        if (err != E2B_CANCELLED) f->failed[which] = err;
        return err;
    }
    if (event.kind >= E2B_EVENT_OUT && event.kind <= E2B_EVENT_PTY) check_bytes(f, event.data);
    if (event.kind == E2B_EVENT_INPUT_END) FUZZ_CHECK(event.code && event.taken <= sizeof f->input);
    if (event.kind == E2B_EVENT_END) f->ended[which] = true;
    return err;
}

static e2b_err wait_for(fuzzed *f, uint8_t arg)
{
    e2b_process *list[PROCESSES * 3];
    size_t ready, given = arg & 1 ? PROCESSES * 3 : PROCESSES;
    for (size_t i = 0; i < given; i++) list[i] = &f->processes[i % PROCESSES];
    e2b_err err = e2b_wait(&f->client, list, given, arg / 2, &ready);
    FUZZ_CHECK(ready <= given);
    for (size_t i = 0; i < ready && !err; i++) {
        uint64_t now = f->port.now_ms, crept = f->crept;
        next(f, (uint8_t)(list[i] - f->processes)); /* which must not wait */
        FUZZ_CHECK(f->port.now_ms - now <= f->crept - crept + REQUEST_MS / 100);
    }
    return err;
}

static e2b_err run_command(fuzzed *f, uint8_t arg)
{
    char out[64], err_out[8];
    e2b_run_result result;
    memset(&result, 0, sizeof result);
    result.out = (e2b_output){arg & 1 ? out : NULL, arg & 1 ? sizeof out : 0, 0, 0};
    result.err = (e2b_output){err_out, sizeof err_out, 0, 0};
    e2b_err err = e2b_run(&f->sandbox, arg & 2 ? "a\xff" : "true", NULL, &result);
    FUZZ_CHECK(result.out.len <= result.out.size && result.err.len <= result.err.size);
    FUZZ_CHECK(result.out.total >= result.out.len && result.err.total >= result.err.len);
    return err;
}

static e2b_err kill_sandbox(fuzzed *f)
{
    e2b_err err = e2b_sandbox_kill(&f->sandbox);
    if (!err) FUZZ_CHECK(f->sandbox.state == E2B_SANDBOX_GONE || f->sandbox.state == E2B_SANDBOX_NONE);
    return err;
}

static e2b_err host(fuzzed *f, uint8_t arg)
{
    char *out = malloc(arg + 1u);
    FUZZ_CHECK(out != NULL);
    e2b_err err = e2b_sandbox_host(&f->sandbox, arg, out, arg);
    if (!err) FUZZ_CHECK(strlen(out) < arg);
    free(out);
    return err;
}

static void copy_handle(fuzzed *f, uint8_t arg)
{
    size_t from = arg % PROCESSES, to = arg / PROCESSES % PROCESSES;
    if (from == to) return;
    e2b_process_close(&f->processes[to]);
    f->processes[to] = f->processes[from];
    f->ended[to] = f->ended[from];
    f->failed[to] = f->failed[from];
    if (arg & 128) memset(&f->processes[from], 0, sizeof f->processes[from]); /* moved */
    if (arg & 128) f->failed[from] = E2B_CLOSED, f->ended[from] = false;
}

static void close_process(fuzzed *f, uint8_t arg)
{
    e2b_process_close(&f->processes[arg % PROCESSES]);
    f->failed[arg % PROCESSES] = E2B_CLOSED;
    f->ended[arg % PROCESSES] = false;
}

/* *longest: how long the call may take. */
static e2b_err act(fuzzed *f, uint8_t action, uint8_t arg, uint64_t *longest)
{
    e2b_process *process = &f->processes[arg % PROCESSES];
    e2b_connect_options connect = {arg & 64 ? 9 : 0, 0};
    switch (action) {
    case ASSUME: assume(f, arg); return E2B_OK;
    case CREATE: return create(f, arg);
    case REFER: return e2b_sandbox_refer(&f->client, &f->sandbox, "abc");
    case ATTACH: return e2b_sandbox_attach(&f->client, &f->sandbox, "abc");
    case CONNECT: return e2b_sandbox_connect(&f->client, &f->sandbox, "abc", &connect);
    case RESUME: return e2b_sandbox_resume(&f->sandbox, &connect);
    case INFO: return info(f, arg);
    case LIST_OPEN: return list_open(f, arg);
    case LIST_NEXT: return list_next(f);
    case LIST_CLOSE: e2b_sandbox_list_close(&f->list); return E2B_OK;
    case START: case START_INPUT: case SHELL: case JOIN: return start(f, action, arg);
    case NEXT: *longest = arg / PROCESSES; return next(f, arg);
    case WAIT: *longest = arg / 2; return wait_for(f, arg);
    case SEND: return e2b_process_send(process, f->input, (size_t)arg * 270);
    case END_INPUT: return e2b_process_end_input(process);
    case SIGNAL: return arg & 16 ? e2b_sandbox_signal(&f->sandbox, 3, NULL, E2B_SIGNAL_TERM) : e2b_process_signal(process, E2B_SIGNAL_KILL);
    case CLOSE: close_process(f, arg); return E2B_OK;
    case PROCESSES_OPEN:
        e2b_process_list_close(&f->process_list);
        e2b_arena_init(&f->arena, arg ? f->arena_memory : NULL, arg);
        return e2b_process_list_open(&f->sandbox, &f->process_list, arg & 1 ? &f->arena : NULL);
    case PROCESSES_NEXT: return processes_next(f);
    case PROCESSES_CLOSE: e2b_process_list_close(&f->process_list); return E2B_OK;
    case RUN: *longest = REQUEST_MS + GRACE_MS; return run_command(f, arg);
    case HEALTH: return e2b_sandbox_health(&f->sandbox);
    case TIMEOUT: return e2b_sandbox_set_timeout(&f->sandbox, arg);
    case PAUSE: return e2b_sandbox_pause(&f->sandbox, arg % 3);
    case SETTLE: *longest = arg + 2 * REQUEST_MS; return e2b_sandbox_settle(&f->sandbox, arg);
    case KILL: *longest = SETTLE_MS + 2 * REQUEST_MS; return kill_sandbox(f);
    case CANCEL: f->cancel = arg & 1; return E2B_OK;
    case LIMITS: set_limits(f, arg); return E2B_OK;
    case HOST: return host(f, arg);
    default: copy_handle(f, arg); return E2B_OK;
    }
}

/* Refused before anything was sent. */
static bool refused(uint8_t action, e2b_err err)
{
    if (action == KILL || action == SETTLE) return false;
    return err == E2B_INVALID || err == E2B_STATE || err == E2B_CLOSED || (err == E2B_BUSY && action >= START && action <= JOIN);
}

static void step(fuzzed *f, uint8_t action, uint8_t arg)
{
    uint64_t longest = REQUEST_MS, sent = f->port.sent, began = f->port.now_ms;
    bool reads = action == NEXT || action == WAIT; /* sends what was asked for before */
    f->calls = f->crept = 0;
    e2b_err err = act(f, action % ACTIONS, arg, &longest);
    FUZZ_CHECK(err <= 0 && strcmp(e2b_err_name(err), "E2B_?") != 0);
    if (refused(action % ACTIONS, err) && !reads) FUZZ_CHECK(f->port.sent == sent);
    FUZZ_CHECK(f->port.now_ms - began <= longest + f->crept + 1);
    check_all(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzzed f;
    fuzz_bytes input = {data, size};
    memset(&f, 0, offsetof(fuzzed, input));
    e2b_memory_open(&f.port, NULL, 0);
    set_up(&f, &input);
    for (size_t i = 0; i < PROCESSES; i++) f.failed[i] = E2B_CLOSED;
    size_t count_of_actions = fuzz_byte(&input) % 40;
    const uint8_t *actions = input.at;
    size_t pairs = input.left / 2 < count_of_actions ? input.left / 2 : count_of_actions;
    f.port.script = actions + pairs * 2;
    f.port.script_length = (uint32_t)(input.left - pairs * 2);
    for (size_t i = 0; i < pairs; i++) step(&f, actions[2 * i] % ACTIONS, actions[2 * i + 1]);
    e2b_client_close(&f.client);
    FUZZ_CHECK(f.port.closes == f.port.opened);
    /* The memory is the caller's again: no handle reads it. */
    free(f.memory);
    for (size_t i = 0; i < PROCESSES; i++) next(&f, (uint8_t)i);
    for (size_t i = 0; i < PROCESSES; i++) e2b_process_close(&f.processes[i]);
    e2b_sandbox_list_close(&f.list);
    e2b_process_list_close(&f.process_list);
    free(f.arena_memory);
    return 0;
}
