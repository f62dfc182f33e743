/* session: one run of the command: its options, its port, its client, its sandbox. */
#ifndef E2B_CLI_SESSION_H
#define E2B_CLI_SESSION_H

#include "e2b.h"
#include "e2b_posix.h"
#include "options.h"

typedef struct cli_session {
    cli_options options;
    e2b_posix_port port;
    e2b_client client;
    e2b_sandbox sandbox;
    e2b_arena arena; /* strings of list items */
} cli_session;

/* Opens port and client: options first, then the environment. False after one line on standard error. */
bool session_open(cli_session *session);
void session_close(cli_session *session);

#endif
