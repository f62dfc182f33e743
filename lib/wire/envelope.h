/* envelope: Connect's framing of a stream: one byte of flags, four of length
 * (big-endian), the payload.
 *
 * Refused: compressed messages (E2B_COMPRESSED), reserved flags and anything
 * after the end-of-stream message (E2B_PROTOCOL).
 */
#ifndef E2B_WIRE_ENVELOPE_H
#define E2B_WIRE_ENVELOPE_H

#include "e2b.h"

/* Takes the prefix's bytes from `in`. E2B_OK with *used == len: the prefix is
 * not complete yet, unless e2b_envelope_open says so. */
e2b_err e2b_envelope_read(e2b_envelope *envelope, const uint8_t *in, size_t len, size_t *used);

/* Whether a prefix is complete and its payload is being read; envelope->left bytes of it remain. */
bool e2b_envelope_open(const e2b_envelope *envelope);

/* `count` bytes (at most left) of payload were used. */
void e2b_envelope_take(e2b_envelope *envelope, size_t count);

/* The payload has been used up; ready for the next prefix. */
void e2b_envelope_close(e2b_envelope *envelope);

/* Whether this is, or was, the end-of-stream message. */
bool e2b_envelope_is_last(const e2b_envelope *envelope);

#endif
