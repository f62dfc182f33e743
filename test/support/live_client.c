#include "live_client.h"

#include <stdio.h>
#include <string.h>

bool live_client_open(live_client *live, const e2b_client_options *options, uint16_t connections, void *memory,
                      size_t size)
{
    e2b_client_options own;
    memset(&own, 0, sizeof own);
    if (options) own = *options;
    own.connections = connections;
    memset(&live->client, 0, sizeof live->client);
    e2b_err err = e2b_posix_open(&live->posix, NULL);
    if (!err) err = e2b_posix_environment(&live->posix, &own);
    counting_port_init(&live->counting, &live->posix.port);
    if (!err) err = e2b_client_init(&live->client, &live->counting.port, &own, memory, size);
    if (err) printf("no client: %s: %s\n", e2b_err_name(err), e2b_reason(&live->client, err));
    return !err;
}

void live_client_close(live_client *live)
{
    e2b_client_close(&live->client);
    e2b_posix_close(&live->posix);
}
