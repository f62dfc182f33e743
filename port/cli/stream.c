#include "stream.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "report.h"
#include "signals.h"
#include "text_output.h"

#define WAIT_MS 60000

typedef struct cli_stream {
    cli_session *session;
    e2b_process *process;
    bool reading; /* standard input has not ended and somebody takes it */
    bool lent;    /* what was read last is under way */
    bool owned;
    int signals;  /* so many have been acted on */
} cli_stream;

/* Lent to the library from send until SENT. */
static char input[64 * 1024];

bool stream_has_input(void)
{
    struct stat here, null;

    return fstat(STDIN_FILENO, &here) != 0 || stat("/dev/null", &null) != 0 || !S_ISCHR(here.st_mode) ||
           here.st_rdev != null.st_rdev;
}

static bool input_is_ready(void)
{
    struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };

    return poll(&ready, 1, 0) > 0;
}

static void end_input(cli_stream *stream)
{
    stream->reading = false;
    if (e2b_process_end_input(stream->process) == E2B_UNSUPPORTED)
        report_text("this sandbox is too old to be told that the input has ended",
                    "a command that reads to the end will wait: give it --no-input, or press ctrl-C");
}

/* Takes the next piece of standard input if there is one and nothing is under
 * way; if there is none yet, has the next wait look for it. */
static void offer_input(cli_stream *stream)
{
    bool wanted = stream->reading && !stream->lent;

    if (wanted && input_is_ready()) {
        ssize_t count = read(STDIN_FILENO, input, sizeof input);
        if (count > 0) {
            stream->lent = e2b_process_send(stream->process, input, (size_t)count) == E2B_OK;
            stream->reading = stream->lent;
        } else if (count == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
            end_input(stream);
        }
        wanted = stream->reading && !stream->lent;
    }
    e2b_posix_watch(&stream->session->port, STDIN_FILENO, wanted ? POLLIN : 0);
}

/* The command does not have to read its input, so that a refusal is its own
 * affair. What was lost on the way is not. */
static void input_ended(cli_stream *stream, e2b_err code)
{
    bool lost = code <= E2B_RESOLVE && code >= E2B_IDLE;

    stream->lent = false;
    stream->reading = false;
    if (lost)
        report(&stream->session->client, "standard input no longer reaches the command", NULL, code);
}

/* False: there is nothing any more that a signal could end. */
static bool terminate(cli_stream *stream)
{
    const e2b_sandbox *sandbox = &stream->session->sandbox;
    /* By pid, beside the stream: output that is still to be written lies in the stream's buffer. */
    e2b_err err = e2b_sandbox_signal(&stream->session->sandbox, stream->process->pid, NULL, E2B_SIGNAL_TERM);

    if (err && err != E2B_NOT_FOUND && err != E2B_CANCELLED)
        report(&stream->session->client, "cannot pass the signal on to the command in sandbox", sandbox->id, err);
    return !err;
}

/* The first signal goes to the command. One that has ended, while a child of
 * its keeps the output open, has no use for it: then we leave at once. */
static void pass_signal(cli_stream *stream)
{
    if (signals_count() > stream->signals && stream->signals == 0 && !terminate(stream))
        signals_leave();
    stream->signals = signals_count();
}

/* 0, or what kept the output from being written. */
static int write_output(cli_stream *stream, int fd, e2b_str data)
{
    size_t written = 0;
    int error;

    while ((error = write_all(fd, data.ptr, data.len, &written)) == EINTR) {
        pass_signal(stream);
        if (stream->signals > 1)
            break;
    }
    return error;
}

/* Nobody takes the output any more: the command ends as it would in a pipe. */
static int output_lost(cli_stream *stream, int fd, int error)
{
    if (error != EINTR && !stream->owned)
        terminate(stream);
    e2b_process_close(stream->process);
    return report_output(fd == STDOUT_FILENO ? "standard output" : "standard error", error);
}

static int left(cli_stream *stream)
{
    const cli_session *session = stream->session;
    cli_line line = { .len = 0 };

    if (!stream->owned) {
        line_text(&line, "e2b: left process ");
        line_number(&line, stream->process->pid);
        line_text(&line, " after SIGTERM: it may still be running: e2b kill-process ");
        line_text(&line, session->sandbox.id);
        line_text(&line, " ");
        line_number(&line, stream->process->pid);
        line_end(&line);
    }
    return signals_exit_code();
}

static int failed(cli_stream *stream, e2b_err err)
{
    const cli_session *session = stream->session;
    const char *doing = "lost the command in sandbox";

    if (err == E2B_CANCELLED)
        return left(stream);
    if (err == E2B_COMMAND_TIMEOUT)
        doing = "the time limit passed for the command in sandbox";
    else if (stream->process->exit_known == E2B_EXIT_UNCONFIRMED)
        doing = stream->process->exit_code == 0 ? "the command ended well, but the connection was cut, in sandbox"
                                                : "the command failed and the connection was cut, in sandbox";
    return report(&session->client, doing, session->sandbox.id, err);
}

int stream_process(cli_session *session, e2b_process *process, bool with_input, bool owned)
{
    cli_stream stream = { .session = session, .process = process, .reading = with_input, .owned = owned };
    e2b_event event;

    signals_streaming();
    for (;;) {
        pass_signal(&stream);
        offer_input(&stream);
        e2b_err err = e2b_process_next(process, &event, WAIT_MS);
        if (err) {
            e2b_process_close(process);
            return failed(&stream, err);
        }
        if (event.kind == E2B_EVENT_SENT)
            stream.lent = false;
        if (event.kind == E2B_EVENT_INPUT_END)
            input_ended(&stream, event.code);
        if (event.kind == E2B_EVENT_END)
            return exit_code_of(&event);
        if (event.kind == E2B_EVENT_OUT || event.kind == E2B_EVENT_ERR || event.kind == E2B_EVENT_PTY) {
            int fd = event.kind == E2B_EVENT_ERR ? STDERR_FILENO : STDOUT_FILENO;
            int error = write_output(&stream, fd, event.data);
            if (error == EINTR) {
                e2b_process_close(process);
                return left(&stream);
            }
            if (error)
                return output_lost(&stream, fd, error);
        }
    }
}
