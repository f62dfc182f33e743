/* recorded_stream: reads a recorded process stream, and goes back in it: a
 * state is a copy of port, client and handle between two calls of next.
 */
#ifndef RECORDED_STREAM_H
#define RECORDED_STREAM_H

#include "recorded_run.h"

/* What was given out so far; the bytes themselves are compared as they come. */
typedef struct recorded_log {
    size_t out, err, pty;
    bool ended;
    e2b_err failed;
} recorded_log;

typedef struct recorded_stream {
    recorded_run run;
    e2b_process process;
    recorded_log log;
} recorded_stream;

typedef struct recorded_state {
    e2b_memory_port port;
    e2b_memory_connection connections[sizeof ((recorded_run *)0)->connections / sizeof(e2b_memory_connection)];
    e2b_client client;
    e2b_process process;
    recorded_log log;
    size_t script_length;
    uint8_t memory[E2B_CLIENT_MEMORY(RECORDED_CONNECTIONS, RECORDED_SLOT_MOST)];
} recorded_state;

void recorded_save(const recorded_stream *stream, recorded_state *state, size_t slot);
void recorded_restore(recorded_stream *stream, const recorded_state *state, size_t slot);

/* Starts, or connects to, the process, after recorded_begin or recorded_ready. */
e2b_err recorded_open_stream(recorded_stream *stream, const recorded_reply *reply, const e2b_process_options *options);
/* One event into the log, compared with what the reply says; false: there was none. Not for the events of input. */
bool recorded_log_event(recorded_log *log, const e2b_event *event, const recorded_reply *reply, const recorded_way *way);
/* Reads all there is, without waiting. */
void recorded_read(recorded_stream *stream, const recorded_reply *reply, const recorded_way *way);
/* Reads to the end or to an error, checks that it is the one that must come, and closes everything. */
void recorded_finish(recorded_stream *stream, const recorded_reply *reply, const recorded_way *way);

/* From start to end in one way. */
void recorded_play(recorded_stream *stream, const recorded_reply *reply, const recorded_way *way);
/* The same with e2b_run. */
void recorded_play_run(recorded_stream *stream, const recorded_reply *reply, const recorded_way *way);

/* Every ending at every byte up to where start returns, over fresh and kept links. Gives the number of runs. */
size_t recorded_cut_start(recorded_stream *stream, const recorded_reply *reply, size_t slot);
/* Every ending at every byte after that, from states `stride` bytes apart; at most `most` bytes a receive, 0: no limit. */
size_t recorded_cut_rest(recorded_stream *stream, const recorded_reply *reply, size_t slot, size_t stride, size_t most);
/* Every split in two. */
size_t recorded_split(recorded_stream *stream, const recorded_reply *reply, size_t slot, size_t stride);

#endif
