/* recorded_run: a client on a memory port that plays a recorded reply, in a
 * given way: in pieces, cut off, ended like this or like that.
 */
#ifndef RECORDED_RUN_H
#define RECORDED_RUN_H

#include "e2b_memory.h"
#include "recorded_reply.h"

/* What follows the last byte that comes. The stall is the last of them. */
enum { RECORDED_CLEAN, RECORDED_UNCLEAN, RECORDED_RESET, RECORDED_STALL, RECORDED_ENDINGS };

#define RECORDED_CONNECTIONS 2u
#define RECORDED_SLOT_MOST 16384u
#define RECORDED_STEPS 300000u

typedef struct recorded_way {
    size_t cut;   /* bytes that come */
    size_t split; /* of these, as many in a first piece; 0: not split */
    size_t most;  /* bytes of one receive at most; 0: no limit */
    int ending;
    size_t slot;  /* the size of a connection's buffer */
    bool kept;    /* over a link that has carried an exchange before */
} recorded_way;

typedef struct recorded_run {
    e2b_memory_port port;
    e2b_memory_connection connections[4];
    e2b_memory_script script;
    e2b_client client;
    e2b_sandbox sandbox;
    uint8_t memory[E2B_CLIENT_MEMORY(RECORDED_CONNECTIONS, RECORDED_SLOT_MOST)];
    uint8_t steps[RECORDED_STEPS];
} recorded_run;

/* The whole reply at once, its link left open. */
recorded_way recorded_whole(const recorded_reply *reply, size_t slot);

/* A script of the reply as one connection gives it, and of what comes after it. */
void recorded_script(recorded_run *run, const recorded_reply *reply, const recorded_way *way);
void recorded_add_pieces(e2b_memory_script *script, const recorded_reply *reply, const recorded_way *way);
void recorded_add_ending(e2b_memory_script *script, int ending);

/* Opens port and client on the script, with a sandbox whose id is known.
 * With way->kept one exchange is carried first. */
void recorded_begin(recorded_run *run, const recorded_reply *reply, const recorded_way *way);
/* Opens them on the script as it is. */
void recorded_ready(recorded_run *run, size_t slot, bool binary);
void recorded_keep_link(recorded_run *run, bool envd);
/* Closes the client; every link must be closed once, in a bounded number of port calls. */
void recorded_end(recorded_run *run, const recorded_reply *reply, const recorded_way *way);

uint32_t recorded_requests(const recorded_run *run);

/* Whether bulk tests take a sample (E2B_TEST_SAMPLED). */
bool recorded_sampled(void);

/* Fails the running test, naming reply and way. */
void recorded_complain(const recorded_reply *reply, const recorded_way *way, const char *what, int line);
#define RECORDED_CHECK(condition) \
    do { \
        if (!(condition)) recorded_complain(reply, way, #condition, __LINE__); \
    } while (0)

#endif
