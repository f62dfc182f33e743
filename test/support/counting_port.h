/* counting_port: another port, with an eye on what passes through it. Tells a
 * test what the system really took of a request and gave of an answer. */
#ifndef COUNTING_PORT_H
#define COUNTING_PORT_H

#include "e2b_port.h"

typedef struct counting_port {
    e2b_port port; /* hand this to the client */

    /* Since counting_port_reset: */
    unsigned opens;
    e2b_link *first;       /* the first link that was sent on, and of that alone: */
    size_t sent, received;
    size_t sent_before;    /* its first answer */
    char reply[8192];      /* its first bytes */
    size_t sent_elsewhere;

    e2b_port *inner;
    e2b_link closed; /* stands for the first link once that is closed */
} counting_port;

void counting_port_init(counting_port *counting, e2b_port *inner);
void counting_port_reset(counting_port *counting);

#endif
