/* e2b_memory.h: a port without sockets and without a clock.
 *
 * What arrives, when, in which pieces and how it ends comes from a script;
 * what was sent is kept; time is a number that moves by steps and by waits.
 * For tests and fuzzers: the same bytes always give the same run.
 *
 *     uint8_t steps[512];
 *     e2b_memory_script script;
 *     e2b_memory_port port;
 *     e2b_memory_script_init(&script, steps, sizeof steps);
 *     e2b_memory_accept(&script);
 *     e2b_memory_request(&script);
 *     e2b_memory_text(&script, "HTTP/1.1 204 No Content\r\n\r\n");
 *     e2b_memory_open(&port, script.memory, script.length);
 *     e2b_client_init(&client, &port.port, ...);
 *
 * Snapshots. The port is a plain struct and points only to memory of the
 * caller. A run is saved by copying, at the same moment, the port, the client
 * struct and its memory, the handles in use and, if there are any, the
 * e2b_memory_connection array and the reply memory it names; it is restored by
 * copying all of them back to where they were.
 */
#ifndef E2B_MEMORY_H
#define E2B_MEMORY_H

#include "e2b_port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The script -------------------------------------------------------------
 *
 * A list of steps, written into the caller's memory. Any bytes at all are a
 * valid script, which is what a fuzzer feeds.
 *
 * Each connection takes the next accept, refuse or hang and the steps up to
 * the one after it. A connection goes through its steps in order; what does
 * not wait is passed at once. Unless a step says otherwise the peer takes
 * whatever is sent. */
typedef struct e2b_memory_script {
    uint8_t *memory;
    size_t size;
    size_t length; /* bytes written */
    bool full;     /* a step did not fit and was left out, as was everything after it */
} e2b_memory_script;

void e2b_memory_script_init(e2b_memory_script *script, void *memory, size_t size);

/* How a connection begins. */
void e2b_memory_accept(e2b_memory_script *script); /* it is up at once */
void e2b_memory_refuse(e2b_memory_script *script); /* E2B_IO_CONNECT from the first recv or send */
void e2b_memory_hang(e2b_memory_script *script);   /* it never comes up and never fails */

/* What recv gives. */
void e2b_memory_data(e2b_memory_script *script, const void *data, size_t length);
void e2b_memory_text(e2b_memory_script *script, const char *text); /* data, without the NUL */

/* The next recv or send answers AGAIN, once; a wait passes it too. */
void e2b_memory_would_block(e2b_memory_script *script);

/* The peer takes `count` bytes and then no more until the connection comes to
 * another take, a request or an early. recv gives nothing until they are taken. */
void e2b_memory_take(e2b_memory_script *script, uint32_t count);

/* From here on send answers RESET while recv goes through the steps: a peer
 * that answers and has stopped reading. */
void e2b_memory_send_fails(e2b_memory_script *script);

/* Nothing happens on this connection for so long. Connections wait in parallel. */
void e2b_memory_advance(e2b_memory_script *script, uint32_t ms);

/* How a connection ends; the outcome stays. After an end the peer still takes
 * what is sent, as a socket does that has not heard of it; after a reset send
 * answers RESET as well. */
void e2b_memory_end(e2b_memory_script *script);
void e2b_memory_end_unclean(e2b_memory_script *script);
void e2b_memory_reset(e2b_memory_script *script);

/* Waits until the next whole request has arrived on this connection, head and
 * body (Content-Length and chunked are understood). What follows is its reply. */
void e2b_memory_request(e2b_memory_script *script);
/* The same, but waits for the head only, and does not count: a request step
 * after it means the same request. */
void e2b_memory_early(e2b_memory_script *script);

/* Order between connections: `pass` says that its connection has come this
 * far (after data: that all of it was taken), `after` waits for it. Points are
 * 0 to E2B_MEMORY_POINTS-1 and count how often they were passed. */
#define E2B_MEMORY_POINTS 64
void e2b_memory_pass(e2b_memory_script *script, uint32_t point);
void e2b_memory_after(e2b_memory_script *script, uint32_t point, uint32_t times);

/* The steps up to repeat_end are gone through `times` times: gigabytes from a
 * few bytes. Two levels at most. May hold whole connections. Left early once
 * two rounds gave or took neither bytes nor time. */
void e2b_memory_repeat(e2b_memory_script *script, uint32_t times);
void e2b_memory_repeat_end(e2b_memory_script *script);

/* ---- The port --------------------------------------------------------------- */

/* What happened on one connection. The caller may give an array of these.
 * Connection n (in the order of opening, from 0) uses element n; those beyond
 * the array reuse, of the elements whose connection is closed, the one with the
 * lowest number; without such an element they leave no trace. */
typedef struct e2b_memory_connection {
    /* The caller's, all optional. */
    void *sent; /* keeps what was sent */
    size_t sent_size;
    void *reply; /* room for the steps of one reply; a responder needs it, and `sent` */
    size_t reply_size;

    /* Results. */
    uint64_t sent_length; /* bytes sent; only the first sent_size of them are kept */
    uint64_t received;    /* bytes that recv gave */
    uint32_t number;      /* of the connection */
    uint32_t requests;    /* whole ones */
    uint32_t closes;      /* calls of close ... */
    uint32_t aborts;      /* ... and how many of them were by reset */
    char host[64];        /* what the target said, cut off to fit */
    char address[64];
    uint16_t tcp_port;
    bool tls;
    bool beside;

    /* The port's. */
    bool open;
    size_t reply_length;
    uint64_t request_at; /* where the latest request and its body begin in what was sent */
    uint64_t body_at;
} e2b_memory_connection;

/* A whole request, as a responder sees it. */
typedef struct e2b_memory_request_seen {
    uint32_t connection;
    uint32_t number; /* of the request on this connection, from 0 */
    e2b_str head;    /* request line and headers with the blank line */
    e2b_str body;    /* as it was sent: chunked bodies with their framing */
    bool cut;        /* it did not fit `sent`: head and body are what was kept */
} e2b_memory_request_seen;

/* Writes the steps of the reply into `reply` (empty: no answer). Nonzero: the
 * connection is reset. Asked by connections that have no step left. */
typedef int (*e2b_memory_respond)(void *context, const e2b_memory_request_seen *request, e2b_memory_script *reply);

/* What a connection without any step left does, if there is no responder. */
#define E2B_MEMORY_SILENT 0 /* new ones are accepted; nothing is ever said */
#define E2B_MEMORY_REFUSE 1 /* new ones are refused; open ones are silent */
#define E2B_MEMORY_END 2    /* new ones are accepted; all end in an orderly way */

typedef struct e2b_memory_cursor {
    uint32_t at;
    uint32_t block_at[2]; /* where the repeated blocks begin; 0: none */
    uint32_t block_left[2];
} e2b_memory_cursor;

typedef struct e2b_memory_port {
    e2b_port port; /* hand this to e2b_client_init */

    /* Settings, after e2b_memory_open; zero is the default. */
    e2b_memory_connection *connections;
    size_t connection_count;
    e2b_memory_respond respond;
    void *respond_context;
    int32_t used_up;      /* E2B_MEMORY_... */
    size_t recv_max;      /* bytes a recv gives at most; 0: no limit */
    size_t send_max;      /* bytes a send takes at most; 0: no limit */
    uint64_t seed;        /* of random */
    uint64_t now_ms;      /* the time */
    int64_t unix_start;   /* unix_time when now_ms was 0; negative: unknown */
    uint64_t fail_call;   /* the call of this number (from 1; see `calls`) fails ... */
    int32_t fail_outcome; /* ... with this answer; on a connection it stays, unless AGAIN */
    uint64_t cancel_wait; /* the wait of this number (from 1) sets *cancel to 1 and returns */
    volatile int *cancel;
    char *trace; /* keeps the lines of trace, each with a newline */
    size_t trace_size;

    /* Counters. */
    uint64_t calls; /* of open, recv, send, wait and random */
    uint64_t waits;
    uint64_t sent, received; /* bytes */
    uint32_t opened;         /* connections */
    uint32_t closes, aborts; /* calls of close; how many of them by reset */
    uint64_t trace_length;   /* of all lines; only the first trace_size bytes are kept */

    /* The port's. */
    const uint8_t *script;
    uint32_t script_length;
    e2b_memory_cursor next; /* where the next connection's steps are looked for */
    uint64_t passes;
    uint32_t passed[E2B_MEMORY_POINTS];
} e2b_memory_port;

/* Sets *port up, whatever it held. The script is borrowed while the port is in
 * use; NULL, 0 is the empty one. A wait that can't ever end (nothing due and
 * no limit) answers FAILED. unix_start is 1,700,000,000. */
void e2b_memory_open(e2b_memory_port *port, const void *script, size_t length);

#ifdef __cplusplus
}
#endif
#endif
