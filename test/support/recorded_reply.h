/* recorded_reply: what a real server answered, and what the call that it
 * answers must give. The build works that out from the recordings in
 * test/recordings (convert.py there says how).
 *
 * Positions count bytes of the reply: "at 211" means once 211 of them came.
 */
#ifndef RECORDED_REPLY_H
#define RECORDED_REPLY_H

#include "e2b.h"

#define RECORDED_NEVER SIZE_MAX

/* Output that has been said in whole messages. */
typedef struct recorded_mark {
    size_t at, out, err, pty;
} recorded_mark;

typedef struct recorded_reply {
    e2b_str name, call, bytes;
    e2b_str then;    /* the reply to a second request of the same call, or empty */
    e2b_str message; /* a part of what a refusal says */
    e2b_err result;
    int32_t status, rpc;
    size_t head;     /* the end of HTTP's head */
    size_t complete; /* where the framing says that it is whole */
    size_t id_at;    /* where the sandboxID is whole */
    bool close;      /* the body ends with the connection */
    bool binary;
    const e2b_str *lines; /* the results of a call that succeeds, as text */
    size_t line_count;

    /* A process stream. */
    bool stream;
    size_t started, ended, finished; /* where the start, the end and the end-of-stream message are whole */
    size_t compressed;               /* where the first message says that it is compressed */
    uint32_t pid;
    int32_t exit_code;
    bool exited;
    e2b_str exit_status, out, err, pty;
    const recorded_mark *marks;
    size_t mark_count;
} recorded_reply;

typedef struct recorded_replies {
    const recorded_reply *at;
    size_t count;
} recorded_replies;

/* The replies of one server, "control-plane" or "envd". They stay until the
 * program ends; fails the running test when they can't be read. */
recorded_replies recorded_open(const char *server);

const recorded_reply *recorded_find(recorded_replies replies, const char *name);
bool recorded_is_call(const recorded_reply *reply, const char *call);

#endif
