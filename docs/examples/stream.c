/* stream: feed standard input to a program in a sandbox and write its output as it comes:
 *
 *     stream gzip -9 <file >file.gz
 */
#include <stdio.h>

#include "e2b.h"
#include "e2b_posix.h"

static uint8_t memory[E2B_CLIENT_MEMORY(2, 16 * 1024)];
static char chunk[32 * 1024];

/* Lends what standard input has next, or ends the input. */
static e2b_err feed(e2b_process *process)
{
    size_t count = fread(chunk, 1, sizeof chunk, stdin);
    return count ? e2b_process_send(process, chunk, count) : e2b_process_end_input(process);
}

static e2b_err pump(e2b_process *process, int *exit_code)
{
    e2b_event event;
    e2b_err err = feed(process);
    while (!err && !(err = e2b_process_next(process, &event, E2B_NO_LIMIT)) && event.kind != E2B_EVENT_END) {
        if (event.kind == E2B_EVENT_OUT) fwrite(event.data.ptr, 1, event.data.len, stdout);
        if (event.kind == E2B_EVENT_ERR) fwrite(event.data.ptr, 1, event.data.len, stderr);
        if (event.kind == E2B_EVENT_SENT) err = feed(process); /* the chunk is ours again */
        if (event.kind == E2B_EVENT_INPUT_END) fprintf(stderr, "it takes no more input\n");
    }
    *exit_code = process->exit_code;
    return err;
}

int main(int argc, char **argv)
{
    e2b_posix_port port = {0};
    e2b_client client = {0};
    e2b_sandbox sandbox = {0};
    e2b_process process = {0};
    e2b_client_options options = {.connections = 2};
    int exit_code = 0;

    if (argc < 2) return fprintf(stderr, "usage: stream COMMAND [WORD...]\n"), 2;
    e2b_err err = e2b_posix_open(&port, NULL);
    if (!err) err = e2b_posix_environment(&port, &options);
    if (!err) err = e2b_client_init(&client, &port.port, &options, memory, sizeof memory);
    if (!err) err = e2b_sandbox_create(&client, &sandbox, NULL);
    if (!err)
        err = e2b_process_start(&sandbox, &process, (const char *const *)argv + 1, (size_t)argc - 1,
                                &(e2b_process_options){.input = true});
    if (!err) err = pump(&process, &exit_code);
    e2b_process_close(&process);
    e2b_err killed = e2b_sandbox_kill(&sandbox);
    if (!err) err = killed;
    if (err) fprintf(stderr, "%s: %s\n", e2b_err_name(err), e2b_reason(&client, err));
    e2b_client_close(&client);
    e2b_posix_close(&port);
    return err ? 1 : exit_code;
}
