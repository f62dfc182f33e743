/* envd_peer: a client on the memory port, a live sandbox, and a daemon that
 * answers each request by its path with the next answer laid down for that
 * path. Time is virtual; a wait too many fails the test instead of hanging it.
 */
#ifndef ENVD_PEER_H
#define ENVD_PEER_H

#include "e2b.h"
#include "e2b_memory.h"

#define ENVD_PEER_CONNECTIONS 8
#define ENVD_PEER_REQUESTS 512
#define ENVD_PEER_ANSWERS 256
#define ENVD_PEER_TOKEN "token-of-envd"

/* Zero is the default. */
typedef struct envd_peer_options {
    uint16_t connections; /* 3 */
    size_t buffer;        /* 1,024 */
    int32_t codec;
    const char *version;  /* "0.6.13" */
    volatile int *cancel;
    const e2b_memory_script *links; /* how connections begin: accept, refuse, hang; those beyond it are accepted */
} envd_peer_options;

typedef struct envd_peer {
    e2b_memory_port port; /* first: the port's wait is guarded by waits_allowed */
    e2b_client client;
    e2b_sandbox sandbox;
    e2b_memory_connection connections[ENVD_PEER_CONNECTIONS];
    uint8_t *memory;
    int32_t codec;
    int32_t (*wait)(void *context, e2b_wait_item *items, size_t count, uint64_t *space, uint32_t timeout_ms);
    uint64_t waits_allowed; /* 20,000 */

    /* What was asked: whole requests, NUL-terminated, the length of their
     * bodies, when each arrived and on which connection. */
    char *requests[ENVD_PEER_REQUESTS];
    size_t body_length[ENVD_PEER_REQUESTS];
    uint64_t arrived_ms[ENVD_PEER_REQUESTS];
    uint32_t connection[ENVD_PEER_REQUESTS];
    size_t request_count;
    uint64_t requests_seen; /* also those beyond the array */

    /* What is answered. */
    uint8_t *steps;
    size_t step_length;
    struct {
        const char *path;
        size_t start, end;
        bool always, used;
    } answers[ENVD_PEER_ANSWERS];
    size_t answer_count;
    e2b_memory_script script;
    bool tolerant; /* answers may be left over, and requests without one are reset */
} envd_peer;

/* For cmocka. The teardown closes the client, and checks that every answer was
 * asked for and every link closed. */
int envd_peer_setup(void **state);
int envd_peer_teardown(void **state);
/* Begins anew with these options (NULL: all of them 0). */
void envd_peer_restart(envd_peer *peer, const envd_peer_options *options);
/* Another live sandbox of the same client. */
void envd_peer_sandbox(envd_peer *peer, e2b_sandbox *sandbox, const char *id, const char *version);

/* ---- Answers: steps between envd_peer_answer and envd_peer_done ---------------- */

/* The next answer to requests whose path ends so: "/Start", "/health". */
e2b_memory_script *envd_peer_answer(envd_peer *peer, const char *path);
/* The answer to every further one. */
e2b_memory_script *envd_peer_always(envd_peer *peer, const char *path);
void envd_peer_done(envd_peer *peer);
/* A whole answer with this body. */
void envd_peer_reply(envd_peer *peer, const char *path, int status, const char *json);
void envd_peer_reply_always(envd_peer *peer, const char *path, int status, const char *json);
void envd_peer_silence(envd_peer *peer, const char *path);

/* Steps of a unary answer. */
void envd_write_reply(e2b_memory_script *script, int status, const char *json);
/* Steps of a stream, each message a chunk and a step of its own. */
void envd_write_head(e2b_memory_script *script);
void envd_write_message(e2b_memory_script *script, uint8_t flags, const void *payload, size_t length);
void envd_write_started(envd_peer *peer, uint32_t pid);
void envd_write_data(envd_peer *peer, int32_t kind, const void *bytes, size_t length);
void envd_write_text(envd_peer *peer, int32_t kind, const char *text);
void envd_write_keepalive(envd_peer *peer);
void envd_write_ended(envd_peer *peer, int32_t exit_code, bool exited, const char *status);
void envd_write_last(envd_peer *peer, const char *json); /* the end-of-stream message */
void envd_write_close(envd_peer *peer);                  /* the last chunk */
/* ended with `exit_code`, the proper end and the last chunk. */
void envd_write_finish(envd_peer *peer, int32_t exit_code);

/* A stream that starts as pid 7, says nothing and stays. */
void envd_peer_quiet_stream(envd_peer *peer);
/* The same, started: /bin/true, with input. */
void envd_peer_start(envd_peer *peer, e2b_process *process, bool input);

/* ---- Checks --------------------------------------------------------------------- */

void envd_peer_check(const envd_peer *peer, e2b_err found, e2b_err expected);
/* client.error holds this code and these words. */
void envd_peer_words(const envd_peer *peer, e2b_err code, const char *words);
bool envd_peer_contains(const envd_peer *peer, size_t number, const char *text);
/* The number of the request with this path, the `nth` (from 0) of them; fails if there is none. */
size_t envd_peer_find(const envd_peer *peer, const char *path, size_t nth);
size_t envd_peer_count(const envd_peer *peer, const char *path);
const char *envd_peer_body(const envd_peer *peer, size_t number);

/* The next event, without a limit, is of this kind. */
e2b_event envd_peer_next(envd_peer *peer, e2b_process *process, int32_t kind);
/* ... and holds this output. */
void envd_peer_text(envd_peer *peer, e2b_process *process, int32_t kind, const char *text);
/* Nothing comes within wait_ms. */
void envd_peer_nothing(envd_peer *peer, e2b_process *process, uint32_t wait_ms);
/* next fails so, and so it does when it is called again. */
void envd_peer_fails(envd_peer *peer, e2b_process *process, e2b_err expected);
/* Every slot can be used: no call is BUSY. */
void envd_peer_slots_free(const envd_peer *peer);

#endif
