/* memory_request: where requests begin and end in what was sent. Follows
 * well-formed HTTP/1.1 only, which is enough to see the library's own. */
#ifndef E2B_MEMORY_REQUEST_H
#define E2B_MEMORY_REQUEST_H

#include "e2b_memory.h"

typedef struct e2b_memory_framing {
    uint64_t left;      /* of the body or the chunk */
    uint16_t heads;     /* that arrived and were not asked for yet */
    uint16_t requests;  /* whole ones, likewise */
    uint8_t phase;
    uint8_t column;     /* in a header line */
    uint8_t candidates; /* header names that the line may still be */
    uint8_t chunked;
} e2b_memory_framing;

#define E2B_MEMORY_HEAD 1u
#define E2B_MEMORY_REQUEST 2u

/* Uses bytes up to the next end of a head or of a request and says how many;
 * *event tells which of them was reached, both if there is no body. */
size_t e2b_memory_framing_feed(e2b_memory_framing *framing, const uint8_t *data, size_t size, unsigned *event);

#endif
