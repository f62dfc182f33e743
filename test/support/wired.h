/* wired: a client over a memory port, and calls to it, for tests of the wire
 * floor. */
#ifndef WIRED_H
#define WIRED_H

#include "e2b_memory.h"
#include "wire/call.h"

#define WIRED_KEY "e2b_0123456789abcdef"

typedef struct wired {
    e2b_memory_port port;
    e2b_memory_script script; /* to be filled between setup and ready */
    e2b_memory_connection connections[8];
    e2b_client client;
    char next_token[32];
    uint8_t steps[1 << 14];
    char sent[8][4096];
    uint64_t block[3000];
} wired;

void wired_setup(wired *w);
/* Opens the port and sets up a client with so many slots of `buffer` bytes (0: what there is room for). */
void wired_ready(wired *w, uint16_t connections, size_t buffer);
void wired_done(wired *w);

/* Steps of the script. */
void wired_reply(wired *w, const char *text); /* the next whole request, then this answer */
#define WIRED_OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

/* A GET to destination 0 within 60 s. */
e2b_call wired_call(wired *w, bool repeatable);
e2b_route wired_route(uint32_t destination);
/* The whole of it; E2B_OK if it was answered. */
e2b_err wired_get(wired *w, bool repeatable);
/* A slot for this use, its link open, nothing sent. */
e2b_err wired_acquire(wired *w, uint32_t destination, uint8_t use, uint32_t flags, e2b_conn **conn);
/* Sends a GET on it and receives the head, waiting as long as it takes. */
void wired_exchange(wired *w, e2b_conn *conn);

#endif
