/* call: one request and its answer, blocking, with the rules of slots,
 * deadlines and repetition.
 */
#ifndef E2B_WIRE_CALL_H
#define E2B_WIRE_CALL_H

#include "wire/conn.h"
#include "wire/slots.h"

typedef struct e2b_call {
    e2b_client *client;
    const char *operation; /* for the error text: "create sandbox" */
    e2b_route route;
    e2b_request request;
    uint32_t owner;
    uint32_t slot_flags;
    uint8_t use;
    bool repeatable; /* sent once more when a kept link died before the answer */
    bool envd;
    uint64_t deadline;
    char *next_token;
    size_t next_token_size;
    /* Filled. */
    e2b_conn *conn;   /* NULL: none is held */
    bool sent;        /* the request's last byte was taken, */
    uint64_t sent_ms; /* at this time */
} e2b_call;

/* Sends the request and receives the head of the answer, of any status. On
 * error the slot is given back and the failure written down. */
e2b_err e2b_call_begin(e2b_call *call);

/* The next piece of the body; empty at its end. */
e2b_err e2b_call_body(e2b_call *call, uint8_t **piece, size_t *length);

/* An answer with a status of 300 and more: reads its body, gives the slot
 * back, writes the failure down. */
e2b_err e2b_call_refused(e2b_call *call);

/* The same, with the body given out instead: it lies in the slot's buffer
 * until e2b_call_end. */
e2b_err e2b_call_collect(e2b_call *call, e2b_str *body);

/* Writes down `err`, which occurred in this call, and gives the slot back. */
e2b_err e2b_call_fail(e2b_call *call, e2b_err err, const char *detail);

/* Gives the slot back. */
void e2b_call_end(e2b_call *call);

/* begin, and for an answer below 300 without interest in its body: end. */
e2b_err e2b_call_simple(e2b_call *call);

#endif
