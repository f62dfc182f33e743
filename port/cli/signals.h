/* signals: what ctrl-C, SIGTERM and SIGHUP do.
 *
 * The first asks: a call under way is cancelled, or, while a command's output
 * streams, the command is sent SIGTERM. The second leaves the stream. The
 * third gives up at once, even a cleanup, and says what was left behind. */
#ifndef E2B_CLI_SIGNALS_H
#define E2B_CLI_SIGNALS_H

#include "e2b.h"
#include "e2b_posix.h"

/* Installs the handlers; a signal that is ignored, as under nohup, stays so. */
void signals_install(e2b_posix_port *port);

/* For the client: set when what is under way has to end. */
volatile int *signals_cancel(void);

/* Signals so far, and the latest one's number. */
int signals_count(void);
int signals_last(void);
/* What a shell would report for a command ended by that signal. */
int signals_exit_code(void);

/* From here on it takes the second signal to cancel. */
void signals_streaming(void);

/* As if the second signal had come. */
void signals_leave(void);

/* The sandbox that must not be left behind unnamed, or NULL. */
void signals_guard(const e2b_sandbox *sandbox);

#endif
