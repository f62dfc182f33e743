/* api_peer: a client on the memory port, and a peer that answers its requests
 * one after another with what the test has laid down. Time is virtual.
 */
#ifndef API_PEER_H
#define API_PEER_H

#include "e2b.h"
#include "e2b_memory.h"

#define API_PEER_KEY "e2b_0123456789abcdef"
#define API_PEER_CONNECTIONS 4
#define API_PEER_REQUESTS 256

typedef struct api_peer {
    e2b_memory_port port;
    e2b_client client;
    e2b_sandbox sandbox;
    e2b_memory_connection connections[API_PEER_CONNECTIONS];
    uint8_t memory[E2B_CLIENT_MEMORY(3, 1024)];

    /* What was asked: whole requests, NUL-terminated, and when each arrived. */
    char *requests[API_PEER_REQUESTS];
    size_t request_size[API_PEER_REQUESTS];
    uint64_t arrived_ms[API_PEER_REQUESTS];
    uint32_t connection[API_PEER_REQUESTS];
    size_t request_count;

    /* What is answered: the steps of one answer after another; the last one
     * laid down with api_peer_always for every request beyond them. */
    uint8_t steps[1u << 17];
    size_t step_length;
    size_t answer_start[API_PEER_REQUESTS], answer_end[API_PEER_REQUESTS];
    size_t answer_count, answer_next;
    e2b_memory_script script; /* being written */
    size_t always_start, always_end;
} api_peer;

/* For cmocka: makes *state an api_peer with a client of one connection to
 * http://api.example.test. The teardown closes the client and checks that
 * every answer was asked for and every link closed. */
int api_peer_setup(void **state);
int api_peer_teardown(void **state);

/* Begins anew, as the setup does, with these options (NULL: the setup's own);
 * key and URL are filled in where they are missing. */
void api_peer_restart(api_peer *peer, const e2b_client_options *options);

/* The next answer: a JSON body (with status 204 none) on a link that stays. */
void api_peer_answer(api_peer *peer, int status, const char *json);
/* The same with header fields of the test's, each with CR LF at its end. */
void api_peer_answer_with(api_peer *peer, int status, const char *fields, const char *body);
/* The next answer as steps: write them between the two calls. */
e2b_memory_script *api_peer_begin(api_peer *peer);
void api_peer_end(api_peer *peer);
void api_peer_answer_nothing(api_peer *peer); /* the request is taken, and silence */
void api_peer_answer_reset(api_peer *peer);
void api_peer_answer_after(api_peer *peer, uint32_t ms, int status, const char *json);
/* Makes the answer laid down last the one to all further requests. */
void api_peer_always(api_peer *peer);

/* Request `number` (from 0) is there and its line reads "METHOD PATH". */
void api_peer_check_line(const api_peer *peer, size_t number, const char *line);
/* Its body, after the blank line. */
const char *api_peer_body(const api_peer *peer, size_t number);
e2b_str api_peer_body_bytes(const api_peer *peer, size_t number);
/* The value of a header field, {NULL, 0} if it is not there. `name` in lower case. */
e2b_str api_peer_header(const api_peer *peer, size_t number, const char *name);
void api_peer_check_body(const api_peer *peer, size_t number, const char *body);
bool api_peer_contains(const api_peer *peer, size_t number, const char *text);

/* Fails unless `found` is `expected`; shows names and reason. */
void api_peer_check(const api_peer *peer, e2b_err found, e2b_err expected);
/* The text of client.error (or of cleanup_error) contains this. */
void api_peer_check_words(const e2b_error *error, e2b_err code, const char *words);

/* A sandbox as create answers it. */
#define API_PEER_SANDBOX \
    "{\"templateID\":\"base\",\"sandboxID\":\"isandbox1\",\"clientID\":\"6532622b\",\"envdVersion\":\"0.6.13\"," \
    "\"envdAccessToken\":\"token-of-envd\"}"
#define API_PEER_INFO \
    "{\"templateID\":\"base\",\"sandboxID\":\"isandbox1\",\"clientID\":\"6532622b\",\"envdVersion\":\"0.6.13\"," \
    "\"envdAccessToken\":\"token-of-envd\",\"state\":\"running\",\"startedAt\":\"2026-03-04T05:06:07.123456789Z\"," \
    "\"endAt\":\"2026-03-04T05:11:07Z\",\"cpuCount\":2,\"memoryMB\":1024,\"diskSizeMB\":5120}"
#define API_PEER_NO_ROUTE "{\"code\":404,\"message\":\"validation error: no matching operation was found\"}"

#endif
