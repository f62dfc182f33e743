/* slots: which connection a call may use. The rules:
 *
 *   - streams hold at most all slots but one, or the only one;
 *   - a kept link goes on only to the same destination, after a look that it
 *     is silent, and not when it has been idle for too long;
 *   - calls that must always get through may take a slot from an input piece,
 *     and kill one from a stream.
 *
 * A holder keeps slot number and generation; whoever lost its slot finds the
 * generation changed.
 */
#ifndef E2B_WIRE_SLOTS_H
#define E2B_WIRE_SLOTS_H

#include "wire/conn.h"

#define E2B_SLOT_FRESH 1u /* the call must not be repeated: only a fresh link or one used a moment ago */
#define E2B_SLOT_NEW 2u   /* a fresh link only */
#define E2B_SLOT_TAKE_INPUT 4u  /* may take the slot of an input piece */
#define E2B_SLOT_TAKE_STREAM 8u /* may take a stream's slot as well, its own sandbox's first */
#define E2B_SLOT_NO_WAIT 16u    /* must not wait for a finished stream to drain */

/* Gives a slot for `use` on behalf of the sandbox numbered `owner`; its link is
 * open (kept: reused is true) or just being opened. `beside` as in e2b_conn_open.
 * E2B_BUSY, or why the link could not be opened. */
e2b_err e2b_slot_acquire(e2b_client *client, const e2b_route *route, uint32_t owner, uint8_t use, uint32_t flags,
                         const e2b_conn *beside, e2b_conn **conn);

/* Gives it back: kept if its message is complete and the server keeps the
 * link; `drain`: a stream whose last bytes may still be on the way is kept too. */
void e2b_slot_release(e2b_client *client, e2b_conn *conn, bool drain);

uint16_t e2b_slot_number(const e2b_client *client, const e2b_conn *conn);

/* The connection a handle holds, or NULL if it was taken from it. */
e2b_conn *e2b_slot_held(const e2b_client *client, uint16_t slot, uint32_t generation);

#endif
