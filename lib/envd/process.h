/* process: what the files of a live process share: its stages, its stream, and
 * the two calls that run beside the stream (input and look).
 */
#ifndef E2B_ENVD_PROCESS_H
#define E2B_ENVD_PROCESS_H

#include "wire/conn.h"

enum { E2B_STAGE_NONE, E2B_STAGE_LIVE, E2B_STAGE_ENDED, E2B_STAGE_FAILED, E2B_STAGE_CLOSED };

/* The connection of the stream, or NULL if it was taken away. */
e2b_conn *e2b_process_conn(const e2b_process *process);

/* Fails the handle for good: gives its connections back and writes the failure
 * down, unless `reported` says that was done. Returns err. */
e2b_err e2b_process_fail(e2b_process *process, e2b_err err, const char *detail, bool reported);

/* ---- input.c: pieces of input on a second connection ------------------------------- */

enum { E2B_INPUT_NONE, E2B_INPUT_OPEN, E2B_INPUT_PIECE, E2B_INPUT_ENDING, E2B_INPUT_ENDED, E2B_INPUT_FAILED };

/* Drives the input as far as it goes without waiting. What came of it stands in process->input_event. */
void e2b_input_step(e2b_process *process);
/* Gives out that event, if there is one. */
bool e2b_input_take_event(e2b_process *process, e2b_event *event);
/* The connection the input waits for; NULL: none. */
e2b_conn *e2b_input_conn(const e2b_process *process);
/* When e2b_input_step must be called next, whatever else happens: its connect limit. */
uint64_t e2b_input_due(const e2b_process *process);
/* Ends the loan and gives the connection back. */
void e2b_input_stop(e2b_process *process);

/* ---- look.c: is the process of a silent stream still there? ------------------------- */

/* Asks once the stream has been silent for too long, and reads the answer as far
 * as it has come. E2B_PENDING: go on. Anything else ends the stream. */
e2b_err e2b_look_step(e2b_process *process);
e2b_conn *e2b_look_conn(const e2b_process *process);
/* When e2b_look_step must be called next, whatever else happens. */
uint64_t e2b_look_due(const e2b_process *process);
void e2b_look_stop(e2b_process *process);

#endif
