/* e2b_port.h: what a platform supplies to libe2b.
 *
 * The library understands bytes; a port moves them. A port is one table of
 * functions with a context. It is the only place where the library calls
 * through function pointers, and the only way it reaches sockets, clocks and
 * randomness.
 *
 * Conventions. No call waits, except `wait` and the name resolution inside
 * `open`. Every function gets `context` first. A port serves one client at a
 * time and is called from one thread at a time.
 */
#ifndef E2B_PORT_H
#define E2B_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A borrowed string: `len` bytes at `ptr`, not necessarily NUL-terminated,
 * possibly with NUL bytes inside. {NULL, 0} is the empty string. */
typedef struct e2b_str {
    const char *ptr;
    size_t len;
} e2b_str;

/* What `open`, `recv`, `send` and `wait` answer. Positive values of recv and
 * send are byte counts; zero is never returned by either. */
#define E2B_IO_OK 0             /* open, wait: done */
#define E2B_IO_AGAIN (-1)       /* nothing now; call again after wait */
#define E2B_IO_END (-2)         /* the peer ended the link in an orderly way */
#define E2B_IO_END_UNCLEAN (-3) /* the socket ended without the goodbye TLS requires */
#define E2B_IO_RESET (-4)       /* the peer reset the link */
#define E2B_IO_FAILED (-5)      /* anything else; link->error tells */
#define E2B_IO_RESOLVE (-6)     /* open: the name has no address */
#define E2B_IO_CONNECT (-7)     /* open, recv, send: no address could be reached */
#define E2B_IO_UNSUPPORTED (-8) /* open: this port can't do what the target asks, such as TLS */
#define E2B_IO_TLS (-9)         /* open, recv, send: the TLS handshake failed; link->error tells */

/* One connection, as the port sees it: 64 bytes inside the client's memory.
 * Zeroed before `open`. Between calls the library neither reads nor writes
 * `state`; it may be copied together with the client's memory as a whole. */
typedef struct e2b_link {
    uint64_t state[7]; /* the port's */
    int32_t error;     /* the port's own number for the latest failure: errno, a TLS code */
    int32_t reserved;
} e2b_link;

/* Where a link should go. Borrowed for the call of `open` only. */
typedef struct e2b_target {
    e2b_str host;          /* a name or a numeric address, without brackets; checked: no NUL, CR, LF */
    uint16_t tcp_port;
    bool tls;              /* true: the host name is verified and sent as SNI */
    e2b_str address;       /* if not empty: numeric address to use instead of resolving host */
    const e2b_link *beside; /* if not NULL: a live link to the same target; go to the address it reached, never to the resolver */
    uint32_t connect_ms;   /* the time limit for all addresses together; UINT32_MAX: none. The library enforces it
                            * too; the port uses it to share time between addresses */
} e2b_target;

#define E2B_WANT_RECV 1u
#define E2B_WANT_SEND 2u

/* One link to wait for. `wanted` is set by the library. The port sets `ready`
 * to the subset of `wanted` that will not answer AGAIN; failure and end count
 * as ready. A link still connecting becomes ready when it is up, has failed,
 * or must be called to try its next address. */
typedef struct e2b_wait_item {
    e2b_link *link;
    uint8_t wanted;
    uint8_t ready;
} e2b_wait_item;

/* Spare words in the scratch of `wait`, beyond one a link, for descriptors of
 * the port's own (a wake descriptor, a terminal). */
#define E2B_WAIT_SPARE 6

typedef struct e2b_port {
    void *context;

    /* Required ------------------------------------------------------------ */

    /* Starts a connection. OK means under way: send and recv answer AGAIN
     * until it is up. May block only in a name resolver. On failure the link
     * needs no close. */
    int32_t (*open)(void *context, e2b_link *link, const e2b_target *target);

    /* Reads up to `size` (> 0) bytes, never more. */
    int32_t (*recv)(void *context, e2b_link *link, void *buffer, size_t size);

    /* Sends up to `size` (> 0) bytes and says how many it took. After AGAIN
     * the library repeats the call with the same bytes, perhaps followed by
     * more. Raises no signal. */
    int32_t (*send)(void *context, e2b_link *link, const void *data, size_t size);

    /* Ends a link, whatever its state; never blocks. `abort`: by reset, so
     * that bytes not yet on the wire are dropped. */
    void (*close)(void *context, e2b_link *link, bool abort);

    /* Waits until an item is ready, the time is over (UINT32_MAX: no limit),
     * or the port is woken or interrupted, which is not an error. Never longer
     * than `wake_ms` below if that is not 0. `space` is scratch of
     * count + E2B_WAIT_SPARE words, the port's during the call. count may be
     * 0: then it sleeps. OK, or FAILED when waiting itself is broken. */
    int32_t (*wait)(void *context, e2b_wait_item *items, size_t count, uint64_t *space, uint32_t timeout_ms);

    /* Milliseconds of a clock that never goes back; any start below 2^63. */
    uint64_t (*now_ms)(void *context);

    /* Seconds since 1970-01-01 UTC, or negative if the platform doesn't know. */
    int64_t (*unix_time)(void *context);

    /* Fills `out` with unpredictable bytes. OK or FAILED. */
    int32_t (*random)(void *context, void *out, size_t size);

    /* Optional: NULL means nothing happens -------------------------------- */

    /* One line about what goes over the wire, without secrets, no newline. */
    void (*trace)(void *context, const char *line, size_t length);

    /* Optional: NULL means E2B_UNSUPPORTED for whatever needs it ---------- */

    int32_t (*sha256)(void *context, const void *data, size_t size, uint8_t digest[32]);
    /* Mutual exclusion between threads that share a gate or a meter. */
    void (*lock)(void *context);
    void (*unlock)(void *context);
    /* Takes the next place in a queue that all processes of a user share:
     * places are `spacing_ms` apart; *delay_ms is how long to wait for it.
     * More than `longest_ms` away: AGAIN, and nothing was taken. */
    int32_t (*reserve)(void *context, const char *name, uint32_t spacing_ms, uint32_t longest_ms, uint32_t *delay_ms);
    /* A lock between processes. AGAIN: somebody else holds it. */
    int32_t (*hold)(void *context, const char *name);
    void (*release)(void *context, const char *name);
    /* Appends one line to the record of that name, on disk before it returns. */
    int32_t (*record)(void *context, const char *name, const char *line, size_t length);
    /* Whether a process of this machine is alive. */
    bool (*process_alive)(void *context, int64_t pid);

    /* A port whose `wait` can't be woken by a cancel flag set elsewhere says
     * here how long one wait may last, so that the flag is looked at in time.
     * 0: wait can be woken. */
    uint32_t wake_ms;
} e2b_port;

#ifdef __cplusplus
}
#endif
#endif
