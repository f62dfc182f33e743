#include "recorded_oracle.h"

#include <string.h>

bool recorded_repeatable(const recorded_reply *reply)
{
    static const char *const calls[] = {"info", "list", "kill", "connect", "resume", "timeout", "health", "processes"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (recorded_is_call(reply, calls[i])) return true;
    return false;
}

bool recorded_repeated(const recorded_reply *reply, const recorded_way *way)
{
    return recorded_repeatable(reply) && way->kept && way->cut == 0 && way->ending != RECORDED_STALL;
}

static recorded_verdict cut_off(e2b_err err)
{
    return (recorded_verdict){err, err, false};
}

static recorded_verdict as_recorded(const recorded_reply *reply)
{
    return (recorded_verdict){reply->result, reply->result, reply->result != E2B_OK};
}

recorded_verdict recorded_judge(const recorded_reply *reply, const recorded_way *way)
{
    bool stalls = way->ending == RECORDED_STALL;
    if (way->cut >= reply->complete || recorded_repeated(reply, way)) return as_recorded(reply);
    if (stalls) return cut_off(E2B_REPLY_TIMEOUT);
    if (way->cut == 0) return cut_off(E2B_NO_REPLY);
    if (reply->close && way->ending == RECORDED_CLEAN && way->cut >= reply->head) {
        recorded_verdict verdict = as_recorded(reply);
        verdict.refused = way->cut == reply->bytes.len; /* of its words perhaps only some came */
        return verdict;
    }
    return cut_off(E2B_TRUNCATED);
}

static recorded_stream_verdict both(recorded_verdict verdict)
{
    recorded_stream_verdict judged;
    memset(&judged, 0, sizeof judged);
    judged.start = judged.final = verdict;
    return judged;
}

/* The head announces it, the first message's flags say it, and the length that
 * makes it a message ends four bytes on: from there on it must have been seen. */
static recorded_stream_verdict judge_compressed(const recorded_reply *reply, const recorded_way *way)
{
    recorded_verdict lost = cut_off(way->ending == RECORDED_STALL ? E2B_REPLY_TIMEOUT : E2B_TRUNCATED);
    lost.or_err = E2B_COMPRESSED;
    return both(way->cut >= reply->compressed + 4 ? cut_off(E2B_COMPRESSED) : lost);
}

static void judge_output(const recorded_reply *reply, size_t cut, recorded_stream_verdict *judged)
{
    for (size_t i = 0; i < reply->mark_count; i++) {
        judged->most = reply->marks[i];
        if (reply->marks[i].at > cut) return;
        judged->least = reply->marks[i];
    }
}

recorded_stream_verdict recorded_judge_stream(const recorded_reply *reply, const recorded_way *way)
{
    bool stalls = way->ending == RECORDED_STALL;
    if (!reply->stream) return both(recorded_judge(reply, way));
    if (reply->result == E2B_COMPRESSED && way->cut >= reply->head) return judge_compressed(reply, way);
    bool over = way->cut >= reply->finished;
    if (!over && (way->cut < reply->started || reply->started == RECORDED_NEVER))
        return both(cut_off(stalls ? E2B_REPLY_TIMEOUT : way->cut == 0 ? E2B_NO_REPLY : E2B_TRUNCATED));
    if (reply->started == RECORDED_NEVER) return both(as_recorded(reply));
    recorded_stream_verdict judged = both(over ? as_recorded(reply) : cut_off(stalls ? E2B_IDLE : E2B_TRUNCATED));
    judged.start = cut_off(E2B_OK);
    if (way->cut >= reply->ended) judged.exit_known = over ? E2B_EXIT_CONFIRMED : E2B_EXIT_UNCONFIRMED;
    judge_output(reply, way->cut, &judged);
    return judged;
}

int32_t recorded_judge_state(const recorded_reply *reply, const recorded_way *way)
{
    recorded_verdict verdict = recorded_judge(reply, way);
    if (verdict.err == E2B_OK) return E2B_SANDBOX_LIVE;
    if (verdict.refused) return E2B_SANDBOX_NONE;
    /* An answer is known once its head is: a 4xx says no whatever its words are. */
    if (way->cut >= reply->head && reply->status >= 300 && reply->status < 500) return E2B_SANDBOX_NONE;
    return way->cut >= reply->id_at ? E2B_SANDBOX_LIVE : E2B_SANDBOX_MAYBE;
}
