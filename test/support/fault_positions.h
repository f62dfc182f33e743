/* fault_positions: an exchange with a fault at every byte of its request and
 * of its answer, many positions at a time. */
#ifndef FAULT_POSITIONS_H
#define FAULT_POSITIONS_H

#include "fault_proxy.h"
#include "live_client.h"
#include "tally.h"

typedef struct fault_point {
    const char *kind;
    char text[32];       /* "cut up 17" */
    char label[12];      /* the same in a fixed width, and which attempt it is */
    bool up, cuts, stalls;
    unsigned at;
} fault_point;

#define FAULT_CLIENT_MEMORY E2B_CLIENT_MEMORY(3, 2048)

typedef struct fault_worker {
    fault_port port;
    live_client direct;   /* to the service */
    live_client through;  /* to the proxy; opened anew for each position */
    bool dialed;
    uint32_t patience_ms; /* the time limit of a call that stalls */
    size_t request_size;  /* bytes of a whole request; 0 in the rehearsal */
    tally_case at;
    void *own;
    uint8_t direct_memory[FAULT_CLIENT_MEMORY], through_memory[FAULT_CLIENT_MEMORY];
} fault_worker;

typedef struct fault_subject {
    const char *name;
    bool (*begin)(fault_worker *worker);
    /* The exchange, and all that must hold after it. false: the answer came too
     * late to reach the byte where it should stall; nothing was judged. */
    bool (*position)(fault_worker *worker, const fault_point *point);
    void (*end)(fault_worker *worker);
    size_t own_size; /* of worker->own */
} fault_subject;

/* Learns the lengths from an exchange without a fault, then goes through all.
 * Each position is a case of the tally. */
void fault_positions(const fault_subject *subject);

/* A new client to the proxy. */
bool fault_dial(fault_worker *worker, uint16_t connections, int32_t codec);
void fault_hang_up(fault_worker *worker);

/* Whether an answer with Content-Length, or without a body, has come whole,
 * behind `skipped` bytes of others. */
bool fault_reply_whole(const counting_port *counting, size_t skipped);

/* What the phase of a broken exchange makes of it: its request had left, its
 * answer had begun. */
e2b_err fault_expected(const fault_point *point, bool left, bool begun);

#endif
