/* memory_steps: one connection going through its steps. */
#ifndef E2B_MEMORY_STEPS_H
#define E2B_MEMORY_STEPS_H

#include "memory_request.h"
#include "memory_script.h"

#define LINK_STARTED 1u       /* `rest` belongs to the step it is at */
#define LINK_CLOSED_WINDOW 2u /* after a take: nothing more is taken */
#define LINK_HANGS 4u
#define LINK_REPLYING 8u /* the steps are those of a responder */
#define LINK_DEAF 16u    /* send fails */
#define LINK_WENT_BACK 32u /* to the beginning of a repeated block, and nothing happened since */

/* What lies in the state of an e2b_link. */
typedef struct e2b_memory_link {
    e2b_memory_framing framing;
    uint64_t rest; /* of the step under way: bytes, or the time when it is over */
    e2b_memory_cursor cursor;
    uint32_t number;
    uint16_t element; /* of port->connections; beyond the count: none */
    uint8_t flags;
    int8_t outcome; /* 0 while the connection lives */
} e2b_memory_link;

/* NULL if nothing is kept about this connection. */
e2b_memory_connection *e2b_memory_element(e2b_memory_port *port, const e2b_memory_link *link);

/* The step the connection is at; false if it has none left, has ended or hangs. */
bool e2b_memory_current(e2b_memory_port *port, const e2b_memory_link *link, e2b_memory_step *step);

/* The bytes of the data step it is at that were not given yet: link->rest of them. */
const uint8_t *e2b_memory_rest(e2b_memory_port *port, const e2b_memory_link *link, const e2b_memory_step *step);

/* Passes every step that is over, up to one that waits or gives something. */
void e2b_memory_settle(e2b_memory_port *port, e2b_memory_link *link);

/* Passes the step it is at, a would-block, and what is over after it. */
void e2b_memory_pass_block(e2b_memory_port *port, e2b_memory_link *link, const e2b_memory_step *step);

#endif
