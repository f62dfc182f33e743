/* live_client: a client over sockets, to e2b-local or to a proxy before it. */
#ifndef LIVE_CLIENT_H
#define LIVE_CLIENT_H

#include "counting_port.h"
#include "e2b_posix.h"

typedef struct live_client {
    e2b_posix_port posix;
    counting_port counting;
    e2b_client client;

    e2b_client_options options;
    void *memory;
    size_t memory_size;
} live_client;

/* options may be NULL; what they leave out comes from the environment. Prints
 * what went wrong and gives false. */
bool live_client_open(live_client *live, const e2b_client_options *options, uint16_t connections, void *memory,
                      size_t size);
void live_client_close(live_client *live);

/* Leaves every connection, but for that goes on with the same client. */
void live_client_reconnect(live_client *live);

#endif
