/* marker: finds the first occurrence of a marker in a stream, in constant
 * memory and linear time, however the stream is cut.
 *
 * Everything before the marker is noise: its newest bytes are kept for
 * diagnosis, the number of older ones is counted. Everything after it is
 * payload, handed through without a copy.
 */
#ifndef E2B_BASE_MARKER_H
#define E2B_BASE_MARKER_H

#include "e2b.h"

#define E2B_MARKER_MAX 64

/* Set up by e2b_marker_init. */
typedef struct e2b_marker {
    uint8_t *kept; /* caller's ring of kept_size bytes; may be NULL if that is 0 */
    size_t kept_size;
    size_t kept_at;   /* where the oldest kept byte lies */
    size_t kept_len;
    uint64_t dropped; /* noise bytes not kept */
    uint8_t marker[E2B_MARKER_MAX];
    uint8_t fallback[E2B_MARKER_MAX]; /* per prefix: the longest proper border */
    uint8_t marker_len;
    uint8_t matched; /* bytes of the marker matched by the stream's end so far */
    bool found;
} e2b_marker;

/* False if the marker is empty or longer than E2B_MARKER_MAX. */
bool e2b_marker_init(e2b_marker *scanner, e2b_str marker, void *kept, size_t kept_size);

/* Feeds a piece; gives the part of it that is payload (perhaps empty). */
e2b_str e2b_marker_feed(e2b_marker *scanner, e2b_str piece);

/* The stream has ended. If the marker never came, the bytes of a partial
 * match join the noise. */
void e2b_marker_end(e2b_marker *scanner);

/* The kept noise, oldest first, in at most two pieces. */
void e2b_marker_noise(const e2b_marker *scanner, e2b_str pieces[2]);

#endif
