/* posix_link: what a connection's 56 bytes of state hold, and how it comes up. */
#ifndef E2B_POSIX_LINK_H
#define E2B_POSIX_LINK_H

#include "e2b_posix.h"

#define LINK_CLOSED 0u
#define LINK_CONNECTING 1u
#define LINK_UP 2u
#define LINK_DEAD 3u /* `outcome` is the answer from now on */

#define ADDRESSES_NONE 0u   /* one attempt, no list */
#define ADDRESSES_SYSTEM 1u /* getaddrinfo's */
#define ADDRESSES_HOOK 2u

typedef struct e2b_posix_link {
    uint64_t deadline_ms; /* for all addresses together; UINT64_MAX: none */
    uint64_t attempt_ms;  /* when it is the next address's turn; UINT64_MAX: it is the last one */
    const void *list;
    const void *next; /* of getaddrinfo's list; NULL: no address left */
    int32_t fd;
    uint32_t index, count; /* of the hook's list: the next one, and all */
    uint16_t tcp_port;
    uint8_t phase;
    uint8_t addresses;
    int8_t outcome;
    bool was_reset; /* send met the reset: the end that recv finds later is none */
} e2b_posix_link;

e2b_posix_link e2b_posix_load(const e2b_link *link);
void e2b_posix_store(e2b_link *link, const e2b_posix_link *l);

/* Makes every later recv and send answer `outcome`, and gives the list of addresses back. */
int32_t e2b_posix_fail(e2b_link *link, e2b_posix_link *l, int32_t outcome, int error);

/* The function `open` of the port. */
int32_t e2b_posix_connect(void *context, e2b_link *link, const e2b_target *target);

/* A connecting link: sees whether it is up, and goes on to the next address
 * where the present one failed or had its time. OK, AGAIN or CONNECT. */
int32_t e2b_posix_connect_on(e2b_link *link, e2b_posix_link *l);

/* Closes the socket and gives the list of addresses back. */
void e2b_posix_drop(e2b_posix_link *l, bool abort);

/* The functions wait, now_ms, unix_time and random of the port. */
int32_t e2b_posix_wait(void *context, e2b_wait_item *items, size_t count, uint64_t *space, uint32_t timeout_ms);
uint64_t e2b_posix_now_ms(void *context);
int64_t e2b_posix_unix_time(void *context);
int32_t e2b_posix_random(void *context, void *out, size_t size);

/* Makes a descriptor non-blocking and closed by exec; false if it can't. */
bool e2b_posix_prepare(int fd);

#endif
