#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check_str.h"
#include "e2b_memory.h"
#include "incremental.h"
#include "wire/conn.h"

/* One case: the answer as a script, and what must come of it. */
typedef struct hostile_case {
    char name[128], call[16], error[32], says[128], exit[32];
    bool proto, has_out, has_err;
    int status, rpc, retry, count, kept; /* -1: not said */
    char out[4096], err[4096];
    size_t out_len, err_len;
    e2b_memory_script script;
    uint8_t steps[1 << 15];
} hostile_case;

/* What came of it. */
typedef struct outcome {
    e2b_err err;
    const e2b_error *error;
    char out[1 << 16], err_out[1 << 16];
    size_t out_len, err_len;
    int exit_known, exit_code, count;
    bool kept;
} outcome;

static hostile_case now;
static outcome found;
static uint64_t block[6000];
static size_t cases, failures;

/* ---- Reading the files -------------------------------------------------------------------- */

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static size_t unescape(const char *in, char *out, size_t size)
{
    size_t len = 0;
    for (; *in; in++) {
        char c = *in;
        if (c == '\\') {
            c = *++in;
            if (c == 'r') c = '\r';
            else if (c == 'n') c = '\n';
            else if (c == 't') c = '\t';
            else if (c == 'x') {
                c = (char)(hex(in[1]) << 4 | hex(in[2]));
                in += 2;
            } else assert_int_equal(c, '\\');
        }
        assert_true(len < size);
        out[len++] = c;
    }
    return len;
}

static void add_chunk(const char *bytes, size_t len)
{
    char line[32];
    snprintf(line, sizeof line, "%zx\r\n", len);
    e2b_memory_text(&now.script, line);
    e2b_memory_data(&now.script, bytes, len);
    e2b_memory_text(&now.script, "\r\n");
}

static void add_envelope(unsigned flags, const char *rest)
{
    static char bytes[8192];
    size_t len = unescape(rest, bytes + 5, sizeof bytes - 5);
    const uint8_t prefix[5] = {(uint8_t)flags, 0, 0, (uint8_t)(len >> 8), (uint8_t)len};
    memcpy(bytes, prefix, 5);
    add_chunk(bytes, len + 5);
}

static void fill(const char *rest)
{
    static char bytes[4096];
    char *after;
    unsigned long count = strtoul(rest, &after, 10);
    size_t len = unescape(after + 1, bytes, sizeof bytes);
    e2b_memory_repeat(&now.script, (uint32_t)count);
    e2b_memory_data(&now.script, bytes, len);
    e2b_memory_repeat_end(&now.script);
}

static void begin_case(const char *name)
{
    memset(&now, 0, sizeof now);
    snprintf(now.name, sizeof now.name, "%s", name);
    strcpy(now.call, "run");
    now.status = now.rpc = now.retry = now.count = now.kept = -1;
    e2b_memory_script_init(&now.script, now.steps, sizeof now.steps);
    e2b_memory_accept(&now.script);
    e2b_memory_request(&now.script);
}

static bool reply_line(const char *word, const char *rest)
{
    static char bytes[8192];
    if (!strcmp(word, "text")) e2b_memory_data(&now.script, bytes, unescape(rest, bytes, sizeof bytes));
    else if (!strcmp(word, "fill")) fill(rest);
    else if (!strcmp(word, "chunk")) add_chunk(bytes, unescape(rest, bytes, sizeof bytes));
    else if (!strcmp(word, "event")) add_envelope(0, rest);
    else if (!strcmp(word, "envelope")) add_envelope((unsigned)strtoul(rest, NULL, 10), strchr(rest, ' ') ? strchr(rest, ' ') + 1 : "");
    else if (!strcmp(word, "last")) e2b_memory_text(&now.script, "0\r\n\r\n");
    else if (!strcmp(word, "stream"))
        e2b_memory_text(&now.script, "HTTP/1.1 200 OK\r\nContent-Type: application/connect+json\r\nTransfer-Encoding: chunked\r\n\r\n");
    else if (!strcmp(word, "end") && !strcmp(rest, "clean")) e2b_memory_end(&now.script);
    else if (!strcmp(word, "end") && !strcmp(rest, "unclean")) e2b_memory_end_unclean(&now.script);
    else if (!strcmp(word, "end") && !strcmp(rest, "reset")) e2b_memory_reset(&now.script);
    else return false;
    return true;
}

static bool expectation_line(const char *word, const char *rest)
{
    if (!strcmp(word, "expect")) snprintf(now.error, sizeof now.error, "%s", rest);
    else if (!strcmp(word, "status")) now.status = atoi(rest);
    else if (!strcmp(word, "rpc")) now.rpc = atoi(rest);
    else if (!strcmp(word, "retry")) now.retry = atoi(rest);
    else if (!strcmp(word, "count")) now.count = atoi(rest);
    else if (!strcmp(word, "kept")) now.kept = 1;
    else if (!strcmp(word, "closed")) now.kept = 0;
    else if (!strcmp(word, "says")) snprintf(now.says, sizeof now.says, "%s", rest);
    else if (!strcmp(word, "exit")) snprintf(now.exit, sizeof now.exit, "%s", rest);
    else if (!strcmp(word, "out")) {
        now.out_len = unescape(rest, now.out, sizeof now.out);
        now.has_out = true;
    } else if (!strcmp(word, "err")) {
        now.err_len = unescape(rest, now.err, sizeof now.err);
        now.has_err = true;
    } else return false;
    return true;
}

/* ---- Replaying ------------------------------------------------------------------------------ */

static void read_process(e2b_sandbox *sandbox)
{
    static const char *const argv[] = {"true"};
    e2b_process process;
    found.err = e2b_process_start(sandbox, &process, argv, 1, NULL);
    bool started = !found.err;
    while (!found.err) {
        e2b_event event;
        found.err = e2b_process_next(&process, &event, E2B_NO_LIMIT);
        if (found.err || event.kind == E2B_EVENT_END) break;
        char *to = event.kind == E2B_EVENT_ERR ? found.err_out : found.out;
        size_t *len = event.kind == E2B_EVENT_ERR ? &found.err_len : &found.out_len;
        assert_true(event.kind == E2B_EVENT_OUT || event.kind == E2B_EVENT_ERR || event.kind == E2B_EVENT_PTY);
        assert_true(*len + event.data.len < sizeof found.out);
        memcpy(to + *len, event.data.ptr, event.data.len);
        *len += event.data.len;
    }
    found.exit_known = process.exit_known;
    found.exit_code = (int)process.exit_code;
    if (found.err && started) {
        /* Asked again, the same. */
        e2b_event event;
        assert_int_equal(e2b_process_next(&process, &event, 0), found.err);
    }
    e2b_process_close(&process);
}

static void list_all(e2b_client *client)
{
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    found.err = e2b_sandbox_list_open(client, &list, NULL);
    found.count = 0;
    while (!found.err && !(found.err = e2b_sandbox_list_next(&list, &info)) && info.id[0]) found.count++;
    e2b_sandbox_list_close(&list);
}

static void make_call(e2b_client *client)
{
    e2b_sandbox sandbox;
    e2b_sandbox_info info;
    memset(&sandbox, 0, sizeof sandbox);
    assert_int_equal(e2b_sandbox_refer(client, &sandbox, "ixk2vvhg6p0pcd2olq5ns"), E2B_OK);
    strcpy(sandbox.envd_version, "0.6.13");
    sandbox.version[1] = 6;
    sandbox.version[2] = 13;
    found.error = &client->error;
    if (!strcmp(now.call, "run")) read_process(&sandbox);
    else if (!strcmp(now.call, "info")) found.err = e2b_sandbox_get_info(&sandbox, &info, NULL);
    else if (!strcmp(now.call, "list")) list_all(client);
    else if (!strcmp(now.call, "health")) found.err = e2b_sandbox_health(&sandbox);
    else if (!strcmp(now.call, "kill")) {
        found.err = e2b_sandbox_kill(&sandbox);
        found.error = &client->cleanup_error;
    } else {
        assert_string_equal(now.call, "create");
        memset(&sandbox, 0, sizeof sandbox);
        found.err = e2b_sandbox_create(client, &sandbox, NULL);
    }
}

/* What came, in words for comparison. */
static void check_outcome(const char *how)
{
    const e2b_error *error = found.error;
    const char *name = found.err ? e2b_err_name(found.err) : "E2B_OK";
    char text[64] = "unknown";
    if (found.exit_known)
        snprintf(text, sizeof text, "%s %d", found.exit_known == E2B_EXIT_CONFIRMED ? "confirmed" : "unconfirmed", found.exit_code);
    bool same = !strcmp(name, now.error) && (now.status < 0 || error->http_status == now.status) &&
                (now.rpc < 0 || error->rpc_code == now.rpc) && (now.retry < 0 || (int)error->retry_after_s == now.retry) &&
                (!now.exit[0] || !strcmp(text, now.exit)) && (now.count < 0 || found.count == now.count) &&
                (!now.says[0] || strstr(error->text, now.says)) && (now.kept < 0 || found.kept == (now.kept == 1)) &&
                (!now.has_out || str_equal((e2b_str){found.out, found.out_len}, (e2b_str){now.out, now.out_len})) &&
                (!now.has_err || str_equal((e2b_str){found.err_out, found.err_len}, (e2b_str){now.err, now.err_len}));
    if (same) return;
    failures++;
    print_error("%s (%s):\nexpected %s, exit %s\nfound    %s, exit %s, status %d, rpc %d, retry %u, %d listed, %s\n%s\nout %.*s\n", now.name, how,
             now.error, now.exit, name, text, (int)error->http_status, (int)error->rpc_code, (unsigned)error->retry_after_s, found.count,
             found.kept ? "kept" : "closed", error->text, (int)found.out_len, found.out);
}

static void replay(size_t most, size_t size, const char *how)
{
    static e2b_memory_port port;
    e2b_client client;
    e2b_client_options options = {.api_key = "e2b_0123456789abcdef", .api_url = "http://api.test", .sandbox_url = "http://box.test",
                                  .codec = now.proto ? E2B_CODEC_PROTO : E2B_CODEC_JSON};
    memset(&found, 0, sizeof found);
    e2b_memory_open(&port, now.script.memory, now.script.length);
    port.recv_max = most;
    port.used_up = E2B_MEMORY_REFUSE; /* there is no second chance */
    assert_int_equal(e2b_client_init(&client, &port.port, &options, block, size), E2B_OK);
    make_call(&client);
    found.kept = client.conns[0].use == E2B_USE_KEPT || client.conns[0].use == E2B_USE_DRAIN;
    check_outcome(how);
    for (const char *c = found.error->text; *c; c++) assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
    assert_null(strstr(found.error->text, "0123456789abcdef"));
    e2b_client_close(&client);
    assert_int_equal(port.closes, port.opened);
}

static void end_case(void)
{
    if (!now.name[0]) return;
    if (!now.error[0]) fail_msg("%s: nothing is expected", now.name);
    if (now.script.full) fail_msg("%s: too long", now.name);
    size_t before = failures;
    size_t small = E2B_CLIENT_MEMORY(1, 1024) - 200;
    replay(0, sizeof block, "whole");
    replay(0, small, "whole, small buffer");
    replay(1, sizeof block, "byte by byte");
    for (size_t most = 2; most < (test_sampled() ? 3u : 40u) && before == failures; most++) replay(most, most & 1 ? small : sizeof block, "in pieces");
    now.name[0] = '\0';
    cases++;
}

/* A word and the rest of the line. */
static void take_line(char *line, const char *file)
{
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '#' || !line[0]) return;
    char *rest = strchr(line, ' ');
    if (rest) *rest++ = '\0';
    else rest = line + strlen(line);
    if (!strcmp(line, "case")) {
        end_case();
        begin_case(rest);
    } else if (!strcmp(line, "call")) snprintf(now.call, sizeof now.call, "%s", rest);
    else if (!strcmp(line, "codec")) now.proto = !strcmp(rest, "proto");
    else if (!reply_line(line, rest) && !expectation_line(line, rest)) fail_msg("%s: what is '%s %s'?", file, line, rest);
}

static void every_case(void **state)
{
    (void)state;
    const char *folder = getenv("E2B_HOSTILE") ? getenv("E2B_HOSTILE") : "test/hostile";
    static char line[16384];
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files));) {
        char path[512];
        size_t len = strlen(entry->d_name);
        if (len < 4 || strcmp(entry->d_name + len - 4, ".txt") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file)) take_line(line, entry->d_name);
        end_case();
        fclose(file);
    }
    closedir(files);
    print_message("# %zu cases\n", cases);
    assert_int_equal(failures, 0);
    assert_true(cases >= 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
