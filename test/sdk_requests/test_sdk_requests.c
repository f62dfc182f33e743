/* Our requests equal the official SDK's: each recorded request is provoked by
 * the equivalent call and compared in method, path, body and the headers that
 * matter. The calls inside a sandbox are made in both codecs: the binary body
 * must be the same message. */
#include "api_peer.h"
#include "check_str.h"
#include "json_canonical.h"
#include "proto_request.h"
#include "vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SANDBOX "isandboxfake0000001"
#define PID 1001
#define SDK_LIMIT_MS 60000 /* of a command, where the caller sets none */

typedef struct session {
    api_peer *peer;
    const char *envd;
    int32_t codec;
    e2b_process process;
} session;

/* ---- What the peer answers --------------------------------------------------------- */

static void answer_created(session *s)
{
    char body[200];
    snprintf(body, sizeof body, "{\"sandboxID\":\"" SANDBOX "\",\"envdVersion\":\"%s\",\"envdAccessToken\":\"fake-envd-access-token\"}", s->envd);
    api_peer_answer(s->peer, 201, body);
}

static size_t envelope(uint8_t *out, uint8_t flags, const void *message, size_t len)
{
    const uint8_t prefix[] = {flags, 0, 0, 0, (uint8_t)len};
    memcpy(out, prefix, 5);
    memcpy(out + 5, message, len);
    return len + 5;
}

/* A process that has started, and if `ends` has ended well. */
static void answer_process(session *s, bool ends)
{
    static const char start[] = "{\"event\":{\"start\":{\"pid\":1001}}}", end[] = "{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}";
    static const uint8_t start_proto[] = {0x0a, 5, 0x0a, 3, 8, 0xe9, 7}, end_proto[] = {0x0a, 4, 0x1a, 2, 0x10, 1};
    uint8_t body[200];
    char head[100];
    bool proto = s->codec == E2B_CODEC_PROTO;
    size_t len = proto ? envelope(body, 0, start_proto, sizeof start_proto) : envelope(body, 0, start, sizeof start - 1);
    if (ends) {
        len += proto ? envelope(body + len, 0, end_proto, sizeof end_proto) : envelope(body + len, 0, end, sizeof end - 1);
        len += envelope(body + len, 2, "{}", 2);
    }
    e2b_memory_script *script = api_peer_begin(s->peer);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", ends ? len : len + 1000);
    e2b_memory_text(script, head);
    e2b_memory_data(script, body, len);
    api_peer_end(s->peer);
}

/* ---- The calls ------------------------------------------------------------------------ */

static void created(session *s, e2b_sandbox_options options)
{
    options.untagged = true;
    answer_created(s);
    memset(&s->peer->sandbox, 0, sizeof s->peer->sandbox);
    api_peer_check(s->peer, e2b_sandbox_create(&s->peer->client, &s->peer->sandbox, &options), E2B_OK);
}

static void create_default(session *s) { created(s, (e2b_sandbox_options){0}); }

static void create_full(session *s)
{
    created(s, (e2b_sandbox_options){
        .template_name = "my-template", .timeout_s = 124, .internet_access = E2B_NO, .auto_pause = E2B_YES, .auto_resume = E2B_YES,
        .metadata = (const e2b_pair[]){{"user", "u 1"}, {"run", "a&b=c"}}, .metadata_count = 2,
        .env = (const e2b_pair[]){{"A", "1"}, {"B", "x\"y"}}, .env_count = 2,
    });
}

static void create_network(session *s)
{
    const e2b_network network = {
        .allow_public_traffic = E2B_NO,
        .allow_out = (const char *const[]){"example.com", "10.0.0.0/8"}, .allow_out_count = 2,
        .deny_out = (const char *const[]){"0.0.0.0/0"}, .deny_out_count = 1,
    };
    created(s, (e2b_sandbox_options){.template_name = "my-template", .network = &network});
}

static void create_disk_only(session *s) { created(s, (e2b_sandbox_options){.auto_pause = E2B_YES, .auto_pause_memory = E2B_NO}); }

static void create_volumes(session *s)
{
    created(s, (e2b_sandbox_options){.volume_mounts = &(e2b_volume_mount){"vol", "/data"}, .volume_mount_count = 1});
}

static void create_mcp(session *s) { created(s, (e2b_sandbox_options){.mcp_json = "{\"time\":{}}"}); }

static void shell(session *s, const char *command, e2b_process_options options)
{
    answer_process(s, false);
    api_peer_check(s->peer, e2b_process_shell(&s->peer->sandbox, &s->process, command, &options), E2B_OK);
    assert_int_equal(s->process.pid, PID);
}

/* What the SDK does after such a create is left to the caller here. */
static void start_mcp_gateway(session *s)
{
    static const e2b_pair token = {"GATEWAY_ACCESS_TOKEN", "00000000-0000-4000-8000-00000000000a"};
    shell(s, "mcp-gateway --config '{\"time\":{}}'",
          (e2b_process_options){.user = "root", .env = &token, .env_count = 1, .timeout_ms = SDK_LIMIT_MS});
}

static void connected(session *s, e2b_connect_options options)
{
    answer_created(s);
    api_peer_check(s->peer, e2b_sandbox_connect(&s->peer->client, &s->peer->sandbox, SANDBOX, &options), E2B_OK);
}

static void connect_default(session *s) { connected(s, (e2b_connect_options){0, 0}); }
static void connect_timeout(session *s) { connected(s, (e2b_connect_options){60, 0}); }
static void connect_reboot(session *s) { connected(s, (e2b_connect_options){0, E2B_NO}); }

static void listed(session *s, e2b_list_options options, size_t pages)
{
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    if (pages == 2) api_peer_answer_with(s->peer, 200, "X-Next-Token: faketoken-page2\r\n", "[]");
    api_peer_answer(s->peer, 200, "[]");
    api_peer_check(s->peer, e2b_sandbox_list_open(&s->peer->client, &list, &options), E2B_OK);
    api_peer_check(s->peer, e2b_sandbox_list_next(&list, &info), E2B_OK);
    e2b_sandbox_list_close(&list);
}

static const e2b_pair filters[] = {{"workspace", "w 1/\xc3\xa4"}, {"k&y", "v=1"}};
static const e2b_list_options filtered = {.metadata = filters, .metadata_count = 2, .running = true, .paused = true, .limit = 50};

static void list_filtered(session *s) { listed(s, filtered, 1); }
static void list_second_page(session *s) { listed(s, filtered, 2); }
static void list_bare(session *s) { listed(s, (e2b_list_options){0}, 1); }

static void list_by_start(session *s)
{
    listed(s, (e2b_list_options){.ascending = E2B_NO, .started_after_ms = INT64_C(1767323045000), .template_name = "base"}, 1);
}

static void get_info(session *s)
{
    e2b_sandbox_info info;
    api_peer_answer(s->peer, 200, API_PEER_INFO);
    api_peer_check(s->peer, e2b_sandbox_get_info(&s->peer->sandbox, &info, NULL), E2B_OK);
}

static void answered_with_204(session *s, e2b_err (*call)(e2b_sandbox *))
{
    api_peer_answer(s->peer, 204, "");
    api_peer_check(s->peer, call(&s->peer->sandbox), E2B_OK);
}

static e2b_err pause(e2b_sandbox *sandbox) { return e2b_sandbox_pause(sandbox, 0); }
static e2b_err pause_disk(e2b_sandbox *sandbox) { return e2b_sandbox_pause(sandbox, E2B_NO); }
static e2b_err timeout_91(e2b_sandbox *sandbox) { return e2b_sandbox_set_timeout(sandbox, 91); }

static void set_timeout(session *s) { answered_with_204(s, timeout_91); }
static void is_running(session *s) { answered_with_204(s, e2b_sandbox_health); }
static void pause_default(session *s) { answered_with_204(s, pause); }
static void pause_disk_only(session *s) { answered_with_204(s, pause_disk); }
static void kill_it(session *s) { answered_with_204(s, e2b_sandbox_kill); }

static void kill_by_id(session *s)
{
    api_peer_check(s->peer, e2b_sandbox_refer(&s->peer->client, &s->peer->sandbox, SANDBOX), E2B_OK);
    kill_it(s);
}

static void run(session *s)
{
    e2b_run_result result;
    memset(&result, 0, sizeof result);
    answer_process(s, true);
    api_peer_check(s->peer, e2b_run(&s->peer->sandbox, "echo hello", NULL, &result), E2B_OK);
}

static void run_options(session *s)
{
    static const e2b_pair env = {"A", "1"};
    shell(s, "echo \"$A\" \xc3\xa4", (e2b_process_options){.user = "root", .cwd = "/tmp", .env = &env, .env_count = 1, .input = true});
}

static void run_background(session *s) { shell(s, "STREAM 1", (e2b_process_options){.timeout_ms = SDK_LIMIT_MS}); }

static void connect_to_process(session *s)
{
    answer_process(s, false);
    api_peer_check(s->peer, e2b_process_connect(&s->peer->sandbox, &s->process, PID, NULL,
                                                &(e2b_process_options){.timeout_ms = SDK_LIMIT_MS}), E2B_OK);
}

static void list_processes(session *s)
{
    e2b_process_list list;
    e2b_process_info info;
    api_peer_answer(s->peer, 200, "{}");
    api_peer_check(s->peer, e2b_process_list_open(&s->peer->sandbox, &list, NULL), E2B_OK);
    api_peer_check(s->peer, e2b_process_list_next(&list, &info), E2B_OK);
    e2b_process_list_close(&list);
}

static void kill_process(session *s)
{
    api_peer_answer(s->peer, 200, s->codec == E2B_CODEC_PROTO ? "" : "{}");
    api_peer_check(s->peer, e2b_sandbox_signal(&s->peer->sandbox, PID, NULL, E2B_SIGNAL_KILL), E2B_OK);
}

/* The stream drives the sending. */
static void send_input(session *s, const char *data, size_t size)
{
    e2b_event event;
    shell(s, "cat", (e2b_process_options){.input = true});
    api_peer_answer(s->peer, 200, s->codec == E2B_CODEC_PROTO ? "" : "{}");
    if (size) api_peer_check(s->peer, e2b_process_send(&s->process, data, size), E2B_OK);
    else api_peer_check(s->peer, e2b_process_end_input(&s->process), E2B_OK);
    api_peer_check(s->peer, e2b_process_next(&s->process, &event, 1000), E2B_OK);
    assert_int_equal(event.kind, size ? E2B_EVENT_SENT : E2B_EVENT_NONE);
}

static void send_text(session *s) { send_input(s, "h\xc3\xa9llo\n", 7); }
static void send_bytes(session *s) { send_input(s, "\x00\xff\x80\n", 4); }
static void close_input(session *s) { send_input(s, NULL, 0); }

static const struct {
    const char *call;
    int seq;
    void (*make)(session *);
} calls[] = {
    {"Sandbox.create default", 1, create_default},
    {"Sandbox.create full", 1, create_full},
    {"Sandbox.create network", 1, create_network},
    {"Sandbox.create keepMemory false", 1, create_disk_only},
    {"Sandbox.create volumeMounts", 1, create_volumes},
    {"Sandbox.create mcp", 1, create_mcp},
    {"Sandbox.create mcp", 2, start_mcp_gateway},
    {"Sandbox.connect default", 1, connect_default},
    {"Sandbox.connect timeout", 1, connect_timeout},
    {"Sandbox.connect onResume reboot", 1, connect_reboot},
    {"Sandbox.list metadata+state", 1, list_filtered},
    {"Sandbox.list metadata+state", 2, list_second_page},
    {"Sandbox.list order+startedAfter+template", 1, list_by_start},
    {"Sandbox.list bare", 1, list_bare},
    {"Sandbox.getInfo", 1, get_info},
    {"Sandbox.setTimeout", 1, set_timeout},
    {"Sandbox.isRunning", 1, is_running},
    {"Sandbox.pause", 1, pause_default},
    {"Sandbox.pause keepMemory false", 1, pause_disk_only},
    {"Sandbox.kill", 1, kill_it},
    {"Sandbox.kill static", 1, kill_by_id},
    {"commands.run", 1, run},
    {"commands.run options", 1, run_options},
    {"commands.run background", 1, run_background},
    {"commands.connect", 1, connect_to_process},
    {"commands.list", 1, list_processes},
    {"commands.kill", 1, kill_process},
    {"commands.sendStdin text", 1, send_text},
    {"commands.sendStdin bytes", 1, send_bytes},
    {"commands.closeStdin", 1, close_input},
};

enum { CALL_COUNT = sizeof calls / sizeof calls[0] };

/* ---- Comparing -------------------------------------------------------------------------- */

static bool fail_at(const vector_file *line, const char *what, e2b_str found, e2b_str expected)
{
    fail_msg("%s (SDK %s, envd %s): %s is '%.*s', expected '%.*s'", vector_value(line, "call").ptr, vector_value(line, "sdk").ptr,
             vector_value(line, "envd").ptr, what, (int)found.len, found.ptr ? found.ptr : "", (int)expected.len,
             expected.ptr ? expected.ptr : "");
    return false;
}

/* Without the fraction that says nothing: .000Z is the same moment. */
static void same_moment(char *path)
{
    char *zeros = strstr(path, ".000Z");
    if (zeros) memmove(zeros, zeros + 4, strlen(zeros + 4) + 1);
}

static void compare_line(const vector_file *line, const api_peer *peer, size_t request)
{
    char expected[400];
    const char *text = peer->requests[request];
    snprintf(expected, sizeof expected, "%s %s", vector_value(line, "method").ptr, vector_value(line, "path").ptr);
    same_moment(expected);
    e2b_str found = {text, strcspn(text, "\r") - strlen(" HTTP/1.1")};
    if (!str_equal(found, str_of(expected))) fail_at(line, "the request line", found, str_of(expected));
}

static const char *const compared[] = {
    "x-api-key", "x-access-token", "authorization", "content-type", "content-encoding", "connect-protocol-version",
    "connect-timeout-ms", "keepalive-ping-interval", "e2b-sandbox-id", "e2b-sandbox-port",
};

static e2b_str binary_type(e2b_str type)
{
    if (str_equal(type, str_of("application/connect+json"))) return str_of("application/connect+proto");
    return str_equal(type, str_of("application/json")) ? str_of("application/proto") : type;
}

static void compare_headers(const vector_file *line, const api_peer *peer, size_t request, bool binary)
{
    for (size_t i = 0; i < sizeof compared / sizeof compared[0]; i++) {
        char name[60];
        snprintf(name, sizeof name, "header.%s", compared[i]);
        e2b_str found = api_peer_header(peer, request, compared[i]), expected = {NULL, 0};
        if (vector_count(line, name)) expected = vector_value(line, name);
        if (binary && strcmp(compared[i], "content-type") == 0) expected = binary_type(expected);
        if (!found.ptr != !expected.ptr || !str_equal(found, expected)) fail_at(line, compared[i], found, expected);
    }
    assert_null(strstr(peer->requests[request], "X-Metadata-"));
}

/* The payload of the only envelope of a body. */
static e2b_str payload(e2b_str body)
{
    const unsigned char *prefix = (const unsigned char *)body.ptr;
    assert_true(body.len >= 5 && prefix[0] == 0);
    size_t length = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
    assert_int_equal(length, body.len - 5);
    return (e2b_str){body.ptr + 5, length};
}

static void compare_body(const vector_file *line, const api_peer *peer, size_t request, bool binary)
{
    char json[2000], found[2000];
    e2b_str body = api_peer_body_bytes(peer, request);
    if (!vector_count(line, "body")) {
        assert_int_equal(body.len, 0);
        return;
    }
    if (vector_count(line, "enveloped")) body = payload(body);
    if (binary) {
        const char *method = strrchr(vector_value(line, "path").ptr, '/') + 1;
        if (!proto_request(method, (const uint8_t *)body.ptr, body.len, json, sizeof json)) fail_msg("%s: no %s message", vector_value(line, "call").ptr, method);
        body = str_of(json);
    }
    if (!json_canonical(body.ptr, body.len, found, sizeof found)) fail_at(line, "the body, which is no JSON,", body, vector_value(line, "body"));
    if (!str_equal(str_of(found), vector_value(line, "body"))) fail_at(line, "the body", str_of(found), vector_value(line, "body"));
}

/* ---- Each line ------------------------------------------------------------------------------ */

/* The older SDK knows the older routes only; our client learns that they are the ones. */
static void learn_routes(session *s)
{
    api_peer_answer(s->peer, 404, API_PEER_NO_ROUTE);
    create_default(s);
    assert_int_equal(s->peer->request_count, 2);
}

static void make(session *s, const vector_file *line, size_t call, int32_t codec)
{
    char version[20];
    snprintf(version, sizeof version, "%s", vector_value(line, "envd").ptr);
    s->envd = version;
    s->codec = codec;
    memset(&s->process, 0, sizeof s->process);
    api_peer_restart(s->peer, &(e2b_client_options){.api_key = "e2b_0000000000000000000000000000000000000000", .connections = 2, .codec = codec});
    if (vector_is(line, "sdk", "2.45.0")) learn_routes(s);
    else create_default(s);
    calls[call].make(s);
    size_t request = s->peer->request_count - 1;
    /* What the binary codec does not know of is a plain List, always JSON. */
    bool binary = codec == E2B_CODEC_PROTO && calls[call].make != list_processes;
    compare_line(line, s->peer, request);
    compare_headers(line, s->peer, request, binary);
    compare_body(line, s->peer, request, binary);
    e2b_process_close(&s->process);
}

/* The call that stands for a line; CALL_COUNT: none. */
static size_t find_call(const vector_file *line)
{
    size_t call = 0;
    char seq[4];
    for (; call < CALL_COUNT; call++) {
        snprintf(seq, sizeof seq, "%d", calls[call].seq);
        if (vector_is(line, "call", calls[call].call) && vector_is(line, "seq", seq)) break;
    }
    return call;
}

static void test_every_line(void **state)
{
    session s = {*state, NULL, 0, {0}};
    vector_file line;
    bool used[CALL_COUNT] = {false};
    size_t compared_lines = 0;
    vectors_open(&line, "sdk_requests");
    while (vectors_next(&line)) {
        size_t call = find_call(&line);
        bool left_out = vector_count(&line, "left_out") > 0;
        if (left_out == (call < CALL_COUNT))
            fail_msg("%s (%s): either compared or left out with a reason", vector_value(&line, "call").ptr, vector_value(&line, "sdk").ptr);
        if (left_out) continue;
        used[call] = true;
        compared_lines++;
        make(&s, &line, call, E2B_CODEC_JSON);
        if (vector_is(&line, "target", "envd") && calls[call].make != is_running) make(&s, &line, call, E2B_CODEC_PROTO);
    }
    for (size_t call = 0; call < CALL_COUNT; call++)
        if (!used[call]) fail_msg("no recorded request: %s", calls[call].call);
    assert_int_equal(line.row, 128);
    assert_int_equal(compared_lines, 41);
    vectors_close(&line);
}

/* ---- Versions of the daemon -------------------------------------------------------------------- */

static void in_version(session *s, const char *version)
{
    s->envd = version;
    s->codec = E2B_CODEC_JSON;
    api_peer_restart(s->peer, &(e2b_client_options){.connections = 2});
    create_default(s);
}

static void test_versions(void **state)
{
    session s = {*state, NULL, 0, {0}};
    static const struct {
        const char *version;
        bool names_user, ends_input;
    } rows[] = {{"0.1.5", true, false}, {"0.2.10", true, false}, {"0.3.0", true, false}, {"0.3.99", true, false}, {"0.4.0", false, false},
                {"0.5.1", false, false}, {"0.5.2", false, true}, {"0.10.0", false, true}, {"1.0.0", false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        in_version(&s, rows[i].version);
        shell(&s, "true", (e2b_process_options){.input = true});
        size_t request = s.peer->request_count - 1;
        check_str(api_peer_header(s.peer, request, "authorization"), rows[i].names_user ? str_of("Basic dXNlcjo=") : (e2b_str){NULL, 0});
        /* Also before 0.3.0, which does not look at it. */
        assert_non_null(strstr(api_peer_body(s.peer, request) + 5, "\"stdin\":true"));
        e2b_err err = e2b_process_end_input(&s.process);
        api_peer_check(s.peer, err, rows[i].ends_input ? E2B_OK : E2B_UNSUPPORTED);
        if (err) api_peer_check_words(&s.peer->client.error, err, "0.5.2");
        e2b_process_close(&s.process);
        /* A user of the caller's own is named in every version. */
        in_version(&s, rows[i].version);
        shell(&s, "true", (e2b_process_options){.user = "root"});
        check_str(api_peer_header(s.peer, s.peer->request_count - 1, "authorization"), str_of("Basic cm9vdDo="));
        e2b_process_close(&s.process);
    }
}

/* A limit kills the process, so none is sent that the caller did not set. */
static void test_limits_of_a_command(void **state)
{
    session s = {*state, NULL, 0, {0}};
    static const struct {
        uint32_t timeout_ms;
        const char *sent;
    } rows[] = {{0, NULL}, {E2B_NO_LIMIT, NULL}, {1, "1"}, {90001, "90001"}};
    for (size_t i = 0; i < 4; i++) {
        in_version(&s, "0.6.13");
        answer_process(&s, false);
        api_peer_check(s.peer, e2b_process_connect(&s.peer->sandbox, &s.process, PID, NULL,
                                                   &(e2b_process_options){.timeout_ms = rows[i].timeout_ms}), E2B_OK);
        check_str(api_peer_header(s.peer, s.peer->request_count - 1, "connect-timeout-ms"),
                  rows[i].sent ? str_of(rows[i].sent) : (e2b_str){NULL, 0});
        e2b_process_close(&s.process);
    }
}

/* ---- The comparison itself ------------------------------------------------------------------------ */

static void test_canonical_json(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical; /* NULL: refused */
    } rows[] = {
        {" { \"b\" : [ 1 , -2.5e3 , true ] , \"a\" : { } , \"\" : \"\" } ", "{\"\":\"\",\"a\":{},\"b\":[1,-2.5e3,true]}"},
        {"{\"ab\":1,\"a\":2,\"a!\":3}", "{\"a\":2,\"a!\":3,\"ab\":1}"},
        {"\"\\u0061\\/\\n\\u0001\\u00e4\\ud83d\\ude00\\u20ac\"", "\"a/\\n\\u0001\xc3\xa4\xf0\x9f\x98\x80\xe2\x82\xac\""},
        {"[]", "[]"}, {"null", "null"}, {"\"\\\"\\\\\"", "\"\\\"\\\\\""},
        {"{\"a\":1,\"a\":2}", NULL}, {"{\"a\":1,}", NULL}, {"[1,]", NULL}, {"{\"a\" 1}", NULL}, {"", NULL}, {"{}{}", NULL},
        {"\"\\ud800\"", NULL}, {"\"\\x\"", NULL}, {"\"a", NULL}, {"{a:1}", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[200];
        bool good = json_canonical(rows[i].text, strlen(rows[i].text), out, sizeof out);
        if (good != (rows[i].canonical != NULL)) fail_msg("%s: %s", rows[i].text, out);
        if (good) assert_string_equal(out, rows[i].canonical);
    }
}

/* Messages made with the SDK's own descriptors. */
static void test_protobuf_messages(void **state)
{
    (void)state;
    static const struct {
        const char *method, *hex, *json; /* NULL: refused */
    } rows[] = {
        {"Start", "0a2a0a092f62696e2f6261736812022d6c12022d6312076563686f2068691a060a014112016222042f746d702000",
         "{\"process\":{\"args\":[\"-l\",\"-c\",\"echo hi\"],\"cmd\":\"/bin/bash\",\"cwd\":\"/tmp\",\"envs\":{\"A\":\"b\"}},\"stdin\":false}"},
        {"Connect", "0a0308d209", "{\"process\":{\"pid\":1234}}"},
        {"SendInput", "0a02080712050a0368690a", "{\"input\":{\"stdin\":\"aGkK\"},\"process\":{\"pid\":7}}"},
        {"SendSignal", "0a0208071009", "{\"process\":{\"pid\":7},\"signal\":\"SIGNAL_SIGKILL\"}"},
        {"CloseStdin", "0a03120174", "{\"process\":{\"tag\":\"t\"}}"},
        {"Start", "0a130a092f62696e2f6261736812022d6912022d6c12060a0408501018", NULL}, /* a terminal */
        {"Connect", "0a0308d2", NULL}, {"Connect", "0a0408d209", NULL}, {"SendSignal", "0a0208071001", NULL}, {"Connect", "0b0308d209", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char hex[200], json[400], out[400];
        snprintf(hex, sizeof hex, "%s", rows[i].hex);
        e2b_str bytes = vector_bytes((e2b_str){hex, strlen(hex)});
        bool good = proto_request(rows[i].method, (const uint8_t *)bytes.ptr, bytes.len, json, sizeof json);
        if (good != (rows[i].json != NULL)) fail_msg("%s %s", rows[i].method, rows[i].hex);
        if (!good) continue;
        assert_true(json_canonical(json, strlen(json), out, sizeof out));
        assert_string_equal(out, rows[i].json);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, api_peer_setup, api_peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_json),
        cmocka_unit_test(test_protobuf_messages),
        TEST(test_every_line),
        TEST(test_versions),
        TEST(test_limits_of_a_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
