/* run: create a sandbox, run a command in it, print what it says, kill it. */
#include <stdio.h>

#include "e2b.h"
#include "e2b_posix.h" /* sockets and clocks for this machine */

static uint8_t memory[E2B_CLIENT_MEMORY(2, 16 * 1024)]; /* 2 connections, 16 KiB each */

int main(void)
{
    e2b_posix_port port = {0};
    e2b_client client = {0};
    e2b_sandbox sandbox = {0};
    e2b_client_options options = {.connections = 2};
    char out[4096], err_out[1024];
    e2b_run_result result = {.out = {.ptr = out, .size = sizeof out}, .err = {.ptr = err_out, .size = sizeof err_out}};

    e2b_err err = e2b_posix_open(&port, NULL);
    if (!err) err = e2b_posix_environment(&port, &options); /* E2B_API_KEY, E2B_API_URL, ... */
    if (!err) err = e2b_client_init(&client, &port.port, &options, memory, sizeof memory);
    if (!err) err = e2b_sandbox_create(&client, &sandbox, &(e2b_sandbox_options){.timeout_s = 60});
    if (!err) err = e2b_run(&sandbox, "uname -a; python3 --version", NULL, &result);
    if (!err) printf("%.*s[exit %d]\n", (int)result.out.len, out, (int)result.exit_code);
    e2b_err killed = e2b_sandbox_kill(&sandbox); /* after a lost create too; nothing to do if nothing was made */
    if (!err) err = killed;
    if (err) fprintf(stderr, "%s: %s\n", e2b_err_name(err), e2b_reason(&client, err));
    e2b_client_close(&client);
    e2b_posix_close(&port);
    return err != E2B_OK;
}
