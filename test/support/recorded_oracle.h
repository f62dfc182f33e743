/* recorded_oracle: what must come of a reply that is cut off, by the rules of
 * the protocol alone: HTTP/1.1's framing and the end-of-stream message.
 */
#ifndef RECORDED_ORACLE_H
#define RECORDED_ORACLE_H

#include "recorded_run.h"

/* Whether a call may be sent again when a kept link died before a reply. */
bool recorded_repeatable(const recorded_reply *reply);
/* Whether the reply of this way never begins, and the call is sent again. */
bool recorded_repeated(const recorded_reply *reply, const recorded_way *way);

typedef struct recorded_verdict {
    e2b_err err;
    e2b_err or_err;   /* as good: where the protocol leaves open which is seen first */
    bool refused;     /* err is what the reply says, with its words */
} recorded_verdict;

/* Of a call that gives one result. */
recorded_verdict recorded_judge(const recorded_reply *reply, const recorded_way *way);

/* Of a process stream. */
typedef struct recorded_stream_verdict {
    recorded_verdict start; /* of start or connect */
    recorded_verdict final; /* if that succeeded: of the last next */
    uint8_t exit_known;
    recorded_mark least, most; /* output that must and may have been given out */
} recorded_stream_verdict;

recorded_stream_verdict recorded_judge_stream(const recorded_reply *reply, const recorded_way *way);

/* The state of the struct after create. */
int32_t recorded_judge_state(const recorded_reply *reply, const recorded_way *way);

#endif
