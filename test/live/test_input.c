/* Input fails alone: whatever becomes of it, the stream goes on to its end. And
 * who gets a connection when all are in use. */
#include <string.h>

#include "live_client.h"
#include "local_service.h"
#include "tally.h"

#define UNTIL_GO "while [ ! -e ~/go ]; do sleep 0.02; done; "

enum { MIB = 1 << 20 };

static uint8_t memory[E2B_CLIENT_MEMORY(4, 16 * 1024)], other_memory[E2B_CLIENT_MEMORY(2, 2048)];
static uint8_t data[MIB];
static live_client live, other;
static e2b_sandbox sandbox, seen; /* the same one, from both clients */

/* ---- A process, and what it says ------------------------------------------------ */

typedef struct story {
    e2b_process process;
    e2b_event event;
    char out[64];
    size_t len, total; /* of output: kept, and in all */
    bool same;         /* all of it is `data` from its start */
    e2b_err input_end;
    uint64_t taken;
    unsigned sent, input_ends;
    bool ended;
} story;

static e2b_err start(story *s, const char *command)
{
    const char *argv[] = {"sh", "-c", command};
    e2b_process_options options;
    memset(s, 0, sizeof *s);
    memset(&options, 0, sizeof options);
    s->same = true;
    options.input = true;
    return e2b_process_start(&sandbox, &s->process, argv, 3, &options);
}

static void note(story *s)
{
    const e2b_str out = s->event.data;
    if (s->event.kind == E2B_EVENT_SENT) s->sent++;
    if (s->event.kind == E2B_EVENT_END) s->ended = true;
    if (s->event.kind == E2B_EVENT_INPUT_END) {
        s->input_ends++;
        s->input_end = s->event.code;
        s->taken = s->event.taken;
    }
    if (s->event.kind != E2B_EVENT_OUT) return;
    s->same = s->same && s->total + out.len <= sizeof data && memcmp(data + s->total, out.ptr, out.len) == 0;
    size_t room = sizeof s->out - 1 - s->len, kept = out.len < room ? out.len : room;
    memcpy(s->out + s->len, out.ptr, kept);
    s->len += kept;
    s->total += out.len;
}

static e2b_err next(story *s, uint32_t wait_ms)
{
    e2b_err err = e2b_process_next(&s->process, &s->event, wait_ms);
    if (!err) note(s);
    return err;
}

static e2b_err to_the_end(story *s)
{
    e2b_err err = E2B_OK;
    while (!err && !s->ended) err = next(s, E2B_NO_LIMIT);
    return err;
}

/* As long as nothing happens for a moment. */
static e2b_err until_quiet(story *s, uint32_t wait_ms)
{
    e2b_err err;
    do err = next(s, wait_ms);
    while (!err && s->event.kind != E2B_EVENT_NONE && !s->ended);
    return err;
}

static e2b_err shell(e2b_sandbox *in, const char *command)
{
    e2b_run_result result;
    memset(&result, 0, sizeof result);
    return e2b_run(in, command, NULL, &result);
}

static bool open_with(uint16_t connections, int32_t codec)
{
    e2b_client_options options;
    memset(&options, 0, sizeof options);
    options.codec = codec;
    return live_client_open(&live, &options, connections, memory, sizeof memory) &&
           e2b_sandbox_attach(&live.client, &sandbox, seen.id) == E2B_OK;
}

static void close_and_count(tally_case *at, story *s)
{
    e2b_process_close(&s->process);
    live_client_close(&live);
    HOLDS(at, shell(&seen, "rm -f ~/go") == E2B_OK);
    tally_add(at);
}

/* ---- Cases ------------------------------------------------------------------------------ */

static void order(int32_t codec)
{
    tally_case at = {"the order of sending", 0};
    story s;
    HOLDS(&at, open_with(2, codec) && start(&s, "cat") == E2B_OK);
    HOLDS(&at, e2b_process_send(&s.process, data, 0) == E2B_INVALID);
    HOLDS(&at, e2b_process_send(&s.process, data, 100000) == E2B_OK);
    HOLDS(&at, e2b_process_send(&s.process, data, 1) == E2B_BUSY);
    HOLDS(&at, e2b_process_end_input(&s.process) == E2B_OK && e2b_process_end_input(&s.process) == E2B_OK);
    HOLDS(&at, e2b_process_send(&s.process, data, 1) == E2B_STATE);
    HOLDS(&at, !at.failed && to_the_end(&s) == E2B_OK && s.sent == 1 && s.input_ends == 0);
    HOLDS(&at, s.same && s.total == 100000 && s.event.exit_code == 0);
    HOLDS(&at, next(&s, 0) == E2B_OK && s.event.kind == E2B_EVENT_END);
    close_and_count(&at, &s);
}

/* What `yes | head -1` does: input without end for one that stops reading. */
static void endless(int32_t codec)
{
    tally_case at = {"endless input", 0};
    story s;
    e2b_err err = E2B_OK;
    HOLDS(&at, open_with(2, codec) && start(&s, "head -c 3") == E2B_OK);
    while (!err && !s.ended) {
        e2b_process_send(&s.process, data, sizeof data); /* as soon as it may */
        err = next(&s, E2B_NO_LIMIT);
    }
    HOLDS(&at, !err && s.total == 3 && s.same && s.event.exit_code == 0);
    HOLDS(&at, s.input_ends <= 1);
    HOLDS(&at, e2b_process_send(&s.process, data, 1) != E2B_OK);
    close_and_count(&at, &s);
}

/* Input that is not taken for much longer than any call may last. The stream
 * is silent as well, so that the process is looked for on a free connection. */
static void read_late(int32_t codec)
{
    tally_case at = {"input that is read late", 0};
    story s;
    HOLDS(&at, open_with(4, codec) && start(&s, UNTIL_GO "cat") == E2B_OK);
    int looks = local_service_requests("POST /process.Process/List");
    live.client.limits.request_ms = 100;
    live.client.limits.idle_ms = 200;
    HOLDS(&at, e2b_process_send(&s.process, data, sizeof data) == E2B_OK);
    HOLDS(&at, e2b_process_end_input(&s.process) == E2B_OK);
    for (int i = 0; i < 3; i++) HOLDS(&at, until_quiet(&s, 1000) == E2B_OK);
    HOLDS(&at, s.sent == 0 && s.input_ends == 0 && s.total == 0);
    HOLDS(&at, local_service_requests("POST /process.Process/List") > looks);
    live.client.limits.request_ms = live.client.limits.idle_ms = 0;
    HOLDS(&at, shell(&sandbox, "touch ~/go") == E2B_OK);
    HOLDS(&at, !at.failed && to_the_end(&s) == E2B_OK && s.sent == 1 && s.input_ends == 0);
    HOLDS(&at, s.same && s.total == sizeof data && s.event.exit_code == 0);
    close_and_count(&at, &s);
}

/* Two connections, both in use, and the look for the silent process needs one. */
static void look_takes_the_piece_s_connection(void)
{
    tally_case at = {"a look takes the piece's connection", 0};
    story s;
    HOLDS(&at, open_with(2, E2B_CODEC_JSON) && start(&s, UNTIL_GO "echo done") == E2B_OK);
    live.client.limits.idle_ms = 300;
    HOLDS(&at, e2b_process_send(&s.process, data, sizeof data) == E2B_OK);
    while (!s.input_ends && next(&s, E2B_NO_LIMIT) == E2B_OK) continue;
    HOLDS(&at, s.input_end == E2B_NO_REPLY && s.taken < sizeof data);
    HOLDS(&at, e2b_process_send(&s.process, data, 1) == E2B_NO_REPLY);
    HOLDS(&at, e2b_process_end_input(&s.process) == E2B_NO_REPLY);
    HOLDS(&at, shell(&seen, "touch ~/go") == E2B_OK);
    HOLDS(&at, !at.failed && to_the_end(&s) == E2B_OK && s.input_ends == 1 && strcmp(s.out, "done\n") == 0);
    close_and_count(&at, &s);
}

static void signal_takes_the_piece_s_connection(void)
{
    tally_case at = {"a signal takes the piece's connection", 0};
    story s;
    HOLDS(&at, open_with(2, E2B_CODEC_JSON) && start(&s, "exec sleep 1000") == E2B_OK);
    HOLDS(&at, e2b_process_send(&s.process, data, sizeof data) == E2B_OK);
    HOLDS(&at, until_quiet(&s, 200) == E2B_OK);
    HOLDS(&at, e2b_sandbox_health(&sandbox) == E2B_BUSY);
    HOLDS(&at, e2b_process_signal(&s.process, E2B_SIGNAL_TERM) == E2B_OK);
    HOLDS(&at, !at.failed && to_the_end(&s) == E2B_OK && s.input_ends == 1 && s.input_end == E2B_NO_REPLY);
    HOLDS(&at, !s.event.exited);
    close_and_count(&at, &s);
}

static void refused(void)
{
    tally_case at = {"input that is refused", 0};
    story s;
    HOLDS(&at, open_with(2, E2B_CODEC_JSON) && start(&s, "exec <&-; echo closed; " UNTIL_GO "echo done") == E2B_OK);
    while (s.total < 7 && next(&s, E2B_NO_LIMIT) == E2B_OK) continue;
    HOLDS(&at, e2b_process_send(&s.process, data, sizeof data) == E2B_OK);
    while (!s.input_ends && next(&s, E2B_NO_LIMIT) == E2B_OK) continue;
    HOLDS(&at, s.input_end == E2B_SERVER && s.taken == 0);
    HOLDS(&at, shell(&seen, "touch ~/go") == E2B_OK);
    HOLDS(&at, !at.failed && to_the_end(&s) == E2B_OK && s.input_ends == 1 && strcmp(s.out, "closed\ndone\n") == 0);
    close_and_count(&at, &s);
}

/* The piece was taken, and the answer is lost: it is not sent again. */
static void answer_lost(const char *how, bool ending)
{
    static const char piece[] = "POST /process.Process/SendInput", end[] = "POST /process.Process/CloseStdin";
    tally_case at = {ending ? "the answer to the end of input is lost" : "the answer to a piece is lost", 0};
    story s;
    char rule[160] = "{\"path\":\"/process.Process/";
    strcat(strcat(strcat(strcat(rule, ending ? "CloseStdin" : "SendInput"), "\",\"withhold\":\""), how), "\"}");
    HOLDS(&at, open_with(2, E2B_CODEC_JSON) && start(&s, "head -c 1000") == E2B_OK);
    int before = local_service_requests(ending ? end : piece);
    HOLDS(&at, local_service_fault(rule));
    if (ending) HOLDS(&at, e2b_process_end_input(&s.process) == E2B_OK);
    else HOLDS(&at, e2b_process_send(&s.process, data, 1000) == E2B_OK);
    HOLDS(&at, !at.failed && to_the_end(&s) == E2B_OK && s.same && s.total == (ending ? 0 : 1000));
    /* The end of the process may come first: it ends the loan. */
    HOLDS(&at, s.sent == 0 && s.input_ends <= 1 && (!s.input_ends || (s.input_end == E2B_NO_REPLY && s.taken == 0)));
    HOLDS(&at, local_service_requests(ending ? end : piece) == before + 1);
    close_and_count(&at, &s);
}

static void no_connection_for_input(void)
{
    tally_case at = {"no connection for input", 0};
    story s;
    HOLDS(&at, open_with(1, E2B_CODEC_JSON));
    unsigned opens = live.counting.opens;
    HOLDS(&at, start(&s, "cat") == E2B_INVALID && live.counting.opens == opens);
    close_and_count(&at, &s);
}

/* Kill takes a stream's connection where no other is left. */
static void kill_takes_a_stream_s_connection(uint16_t connections)
{
    tally_case at = {"kill takes a stream's connection", 0};
    static const char *const argv[] = {"sleep", "1000"};
    e2b_sandbox mine;
    story s;
    memset(&mine, 0, sizeof mine);
    memset(&s, 0, sizeof s);
    HOLDS(&at, open_with(connections, E2B_CODEC_JSON) && e2b_sandbox_create(&live.client, &mine, NULL) == E2B_OK);
    HOLDS(&at, e2b_process_start(&mine, &s.process, argv, 2, NULL) == E2B_OK);
    if (connections == 1) {
        HOLDS(&at, e2b_sandbox_health(&mine) == E2B_BUSY);
        HOLDS(&at, e2b_process_signal(&s.process, E2B_SIGNAL_TERM) == E2B_BUSY);
    }
    HOLDS(&at, e2b_sandbox_kill(&mine) == E2B_OK && mine.state == E2B_SANDBOX_GONE);
    HOLDS(&at, local_service_sandboxes(mine.id) == 0);
    e2b_err err = to_the_end(&s);
    CHECK(&at, err == (connections == 1 ? E2B_CLOSED : E2B_TRUNCATED), "%s", e2b_err_name(err));
    HOLDS(&at, next(&s, 0) == err);
    close_and_count(&at, &s);
}

int main(void)
{
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7 + i / 256 * 13);
    if (!live_client_open(&other, NULL, 2, other_memory, sizeof other_memory)) return 1;
    if (e2b_sandbox_create(&other.client, &seen, NULL)) return 1;
    for (int32_t codec = E2B_CODEC_JSON; codec <= E2B_CODEC_PROTO; codec++) {
        order(codec);
        endless(codec);
        read_late(codec);
    }
    look_takes_the_piece_s_connection();
    signal_takes_the_piece_s_connection();
    refused();
    answer_lost("close", false);
    answer_lost("reset", false);
    answer_lost("never", false);
    answer_lost("close", true);
    no_connection_for_input();
    kill_takes_a_stream_s_connection(1);
    kill_takes_a_stream_s_connection(2);
    if (e2b_sandbox_kill(&seen)) return 1;
    live_client_close(&other);
    return tally_end();
}
