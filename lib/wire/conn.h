/* conn: the one pump. It moves bytes between a port's link and the engines,
 * through the one buffer of a slot: first the request goes out through it,
 * then the answer comes in.
 *
 * Nothing here waits but e2b_conn_await and e2b_wait_ready: the other calls
 * do what can be done now and answer E2B_PENDING where more needs a wait.
 */
#ifndef E2B_WIRE_CONN_H
#define E2B_WIRE_CONN_H

#include "e2b.h"
#include "wire/http.h"
#include "wire/request.h"

/* Not an error and never returned to a user: wait, then call again. */
#define E2B_PENDING 1

#define E2B_NO_DEADLINE UINT64_MAX

/* Left free before what is received: a decoder puts the start of a group there
 * whose rest opens the next piece. */
#define E2B_CONN_HEADROOM 8u
/* As much of a refusal's body is kept, and as much of it read at the most. */
#define E2B_CONN_COLLECT 512u
#define E2B_CONN_DRAIN 65536u

#define E2B_BUFFER_MINIMUM 1024u

/* Where a link goes. Borrowed strings. */
typedef struct e2b_route {
    e2b_str host;
    e2b_str address;
    uint32_t destination; /* 0 the API, 1 the shared sandbox host, else one sandbox's own */
    uint16_t tcp_port;
    bool tls;
} e2b_route;

enum { E2B_USE_FREE, E2B_USE_KEPT, E2B_USE_DRAIN, E2B_USE_CALL, E2B_USE_STREAM, E2B_USE_INPUT, E2B_USE_LOOK };

typedef struct e2b_conn {
    e2b_link link;
    e2b_http http;
    uint8_t *buffer;
    uint64_t opened_ms;
    uint64_t used_ms; /* when the latest byte went or came */
    uint64_t sent;    /* bytes of the request that the port took, */
    uint64_t length;  /* of so many */
    uint32_t body_at, body_len; /* a piece of body not used up yet */
    uint32_t in_at, in_end;     /* received and not parsed */
    uint32_t collected, drained;
    uint32_t destination, owner, generation;
    uint8_t use;
    bool reused; /* the link carried an exchange before this one */
    bool up;     /* the port took a byte: the link exists */
    bool sending;
    bool spent;  /* nothing may follow this exchange */
    bool quiet;  /* the latest receive found less than it had room for */
    uint8_t field, found;
    e2b_json_reader reader; /* for an answer that is read without blocking */
} e2b_conn;

/* A client that is not open has no clock: 0. */
uint64_t e2b_now(const e2b_client *client);
/* The moment `limit_ms` from now; 0 stands for `fallback_ms`, E2B_NO_LIMIT for never. */
uint64_t e2b_deadline(const e2b_client *client, uint32_t limit_ms, uint32_t fallback_ms);
uint32_t e2b_limit(uint32_t limit_ms, uint32_t fallback_ms);

/* Opens a fresh link. `beside`: a live connection to the same place whose address is to be used. */
e2b_err e2b_conn_open(e2b_client *client, e2b_conn *conn, const e2b_route *route, const e2b_conn *beside);
/* Closes the link; abort: by reset. The slot's use becomes FREE. */
void e2b_conn_close(e2b_client *client, e2b_conn *conn, bool abort);

/* Readies a connection, fresh or kept, for the next request. */
void e2b_conn_start(e2b_conn *conn, char *next_token, size_t next_token_size);
/* Sends what the port takes of the request. E2B_OK: all of it is gone. */
e2b_err e2b_conn_send(e2b_client *client, e2b_conn *conn, const e2b_request *request);
/* Receives until the final status is known: conn->http.status. */
e2b_err e2b_conn_head(e2b_client *client, e2b_conn *conn);
/* The next piece of body, where it lies in the buffer; empty: the message is
 * complete. The same piece comes again until e2b_conn_take. */
e2b_err e2b_conn_body(e2b_client *client, e2b_conn *conn, uint8_t **piece, size_t *length);
void e2b_conn_take(e2b_conn *conn, size_t count);
/* Receives the body to its end, keeping its first E2B_CONN_COLLECT bytes at the
 * buffer's start. Bodies over E2B_CONN_DRAIN are left unread and the link closed. */
e2b_err e2b_conn_collect(e2b_client *client, e2b_conn *conn, e2b_str *body);

/* Waits until the connection can go on. At the deadline, or when the connect
 * limit is over, the error says in which phase. */
e2b_err e2b_conn_await(e2b_client *client, e2b_conn *conn, uint64_t deadline);
/* What the connection waits for: E2B_WANT_SEND or E2B_WANT_RECV. */
uint8_t e2b_conn_wants(const e2b_conn *conn);

/* Waits for any of the first `count` of client->waits, which the caller has
 * filled, at most until `deadline`. E2B_OK also when nothing came in time.
 * E2B_CANCELLED, E2B_PORT, E2B_CLOSED. *woken (may be NULL): the wait was ended early, by
 * a signal or by something of the caller's own that the port watches. */
e2b_err e2b_wait_ready(e2b_client *client, size_t count, uint64_t deadline, bool *woken);

#endif
