/* stream: a command elsewhere as if it ran here: its output on ours, our input
 * on its, our signals to it, its exit code as ours. */
#ifndef E2B_CLI_STREAM_H
#define E2B_CLI_STREAM_H

#include "session.h"

/* Whether standard input may hold something: it is not the null device. */
bool stream_has_input(void);

/* Follows a process just started, to its end, until the second signal, or
 * until nobody reads its output any more. `input`: it was started with input.
 * `owned`: its sandbox is killed afterwards, so nothing has to be ended in it.
 * Returns the exit code. */
int stream_process(cli_session *session, e2b_process *process, bool input, bool owned);

#endif
