/* many: eight commands at once in one sandbox, watched by one thread. */
#include <stdio.h>

#include "e2b.h"
#include "e2b_posix.h"

#define COUNT 8

static uint8_t memory[E2B_CLIENT_MEMORY(COUNT + 1, 4 * 1024)]; /* one connection is always left for calls */

static e2b_err start_all(e2b_sandbox *sandbox, e2b_process *processes, e2b_process **live)
{
    e2b_err err = E2B_OK;
    for (int i = 0; i < COUNT && !err; i++) {
        char command[64];
        snprintf(command, sizeof command, "echo %d says hello; exit %d", i, i);
        err = e2b_process_shell(sandbox, &processes[i], command, NULL);
        live[i] = &processes[i];
    }
    return err;
}

static e2b_err watch(e2b_client *client, e2b_process **live, size_t count)
{
    e2b_event event;
    size_t ready;
    e2b_err err = E2B_OK;
    while (!err && count) {
        err = e2b_wait(client, live, count, E2B_NO_LIMIT, &ready); /* the ready ones are moved to the front */
        for (size_t i = ready; !err && i-- > 0;) {                  /* downwards: removing is a swap with the last */
            err = e2b_process_next(live[i], &event, 0);
            if (event.kind == E2B_EVENT_OUT) fwrite(event.data.ptr, 1, event.data.len, stdout);
            if (err || event.kind != E2B_EVENT_END) continue;
            printf("pid %u: exit %d\n", (unsigned)live[i]->pid, (int)event.exit_code);
            live[i] = live[--count];
        }
    }
    return err;
}

int main(void)
{
    e2b_posix_port port = {0};
    e2b_client client = {0};
    e2b_sandbox sandbox = {0};
    e2b_process processes[COUNT] = {{0}}, *live[COUNT];
    e2b_client_options options = {.connections = COUNT + 1};

    e2b_err err = e2b_posix_open(&port, NULL);
    if (!err) err = e2b_posix_environment(&port, &options);
    if (!err) err = e2b_client_init(&client, &port.port, &options, memory, sizeof memory);
    if (!err) err = e2b_sandbox_create(&client, &sandbox, NULL);
    if (!err) err = start_all(&sandbox, processes, live);
    if (!err) err = watch(&client, live, COUNT);
    for (int i = 0; i < COUNT; i++) e2b_process_close(&processes[i]);
    e2b_err killed = e2b_sandbox_kill(&sandbox);
    if (!err) err = killed;
    if (err) fprintf(stderr, "%s: %s\n", e2b_err_name(err), e2b_reason(&client, err));
    e2b_client_close(&client);
    e2b_posix_close(&port);
    return err != E2B_OK;
}
