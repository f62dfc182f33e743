#include "live_client.h"

#include <stdio.h>
#include <string.h>

static e2b_err set_up(live_client *live)
{
    return e2b_client_init(&live->client, &live->counting.port, &live->options, live->memory, live->memory_size);
}

bool live_client_open(live_client *live, const e2b_client_options *options, uint16_t connections, void *memory,
                      size_t size)
{
    memset(live, 0, sizeof *live);
    if (options) live->options = *options;
    live->options.connections = connections;
    live->memory = memory;
    live->memory_size = size;
    e2b_err err = e2b_posix_open(&live->posix, NULL);
    if (!err) err = e2b_posix_environment(&live->posix, &live->options);
    counting_port_init(&live->counting, &live->posix.port);
    if (!err) err = set_up(live);
    if (err) printf("no client: %s: %s\n", e2b_err_name(err), e2b_reason(&live->client, err));
    return !err;
}

void live_client_reconnect(live_client *live)
{
    live->options.limits = live->client.limits;
    e2b_client_close(&live->client);
    set_up(live);
}

void live_client_close(live_client *live)
{
    e2b_client_close(&live->client);
    e2b_posix_close(&live->posix);
}
