/* ours: the library at the same work.
 *
 *     ours stream PORT MIB CODEC BUFFER
 *     ours commands PORT COUNT CODEC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "e2b.h"
#include "e2b_posix.h"

static uint8_t memory[E2B_CLIENT_MEMORY(2, 1 << 20)];
static e2b_posix_port port;
static e2b_client client;
static e2b_sandbox sandbox;

static e2b_err open_all(const char *tcp_port, bool proto, size_t buffer)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%s", tcp_port);
    e2b_client_options options = {.connections = 2, .api_key = "e2b_00", .api_url = url, .sandbox_url = url,
                                  .codec = proto ? E2B_CODEC_PROTO : E2B_CODEC_JSON};
    e2b_err err = e2b_posix_open(&port, NULL);
    if (!err) err = e2b_client_init(&client, &port.port, &options, memory, E2B_CLIENT_MEMORY(2, buffer));
    return err ? err : e2b_sandbox_create(&client, &sandbox, NULL);
}

static e2b_err stream(const char *mib)
{
    char command[64];
    e2b_process process;
    e2b_event event;
    uint64_t total = 0;
    snprintf(command, sizeof command, "STREAM %s", mib);
    e2b_err err = e2b_process_shell(&sandbox, &process, command, NULL);
    while (!err && !(err = e2b_process_next(&process, &event, E2B_NO_LIMIT)) && event.kind != E2B_EVENT_END)
        total += event.data.len;
    if (!err && total != (uint64_t)atoi(mib) << 20) err = E2B_TRUNCATED;
    return err;
}

static e2b_err commands(long count)
{
    char out[64];
    e2b_run_result result = {.out = {.ptr = out, .size = sizeof out}};
    e2b_err err = E2B_OK;
    while (!err && count-- > 0) {
        err = e2b_run(&sandbox, "true", NULL, &result);
        if (!err && result.out.len != 3) err = E2B_TRUNCATED;
    }
    return err;
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    bool streaming = strcmp(argv[1], "stream") == 0;
    e2b_err err = open_all(argv[2], strcmp(argv[4], "proto") == 0, streaming && argc > 5 ? (size_t)atoi(argv[5]) : 4096);
    if (!err) err = streaming ? stream(argv[3]) : commands(atol(argv[3]));
    if (err) fprintf(stderr, "%s: %s\n", e2b_err_name(err), e2b_reason(&client, err));
    return err != E2B_OK;
}
