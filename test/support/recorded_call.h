/* recorded_call: makes the call that a recorded reply answers and compares
 * what it gives with what it must give.
 */
#ifndef RECORDED_CALL_H
#define RECORDED_CALL_H

#include "recorded_run.h"

/* One run of a call with one result; everything is checked. Not for streams and their input. */
void recorded_call(recorded_run *run, const recorded_reply *reply, const recorded_way *way);

/* The same over a client that is ready: makes the call and checks what it gave. */
void recorded_make_call(recorded_run *run, const recorded_reply *reply, const recorded_way *way);

/* Every way: whole, byte by byte and in every split in two through slots of
 * three sizes; each ending at every byte, and at the first bytes also over a
 * kept link, where only byte 0 differs. Replies over 2 KiB are cut in the
 * smallest slot; when sampling, cuts and splits are all made there. Gives the
 * number of runs. */
size_t recorded_call_every_way(recorded_run *run, const recorded_reply *reply);

/* The next cut or split after `at`: each one, or when sampling replies over 1 KiB every 64th or so, by a fixed seed. */
size_t recorded_next(const recorded_reply *reply, size_t at);

/* Checks that the words of a refusal were kept: status, code, message. */
void recorded_check_refusal(const e2b_error *error, const recorded_reply *reply, const recorded_way *way);

#endif
