/* sandbox_create: a sandbox of our own, and its end. */
#ifndef E2B_CLI_SANDBOX_CREATE_H
#define E2B_CLI_SANDBOX_CREATE_H

#include "session.h"

/* Creates session->sandbox as the options say. with_env: --env is for every
 * command in it; otherwise the caller keeps it for one. */
e2b_err create_sandbox(cli_session *session, bool with_env);

/* Says why it was not created; returns the exit code. */
int report_create(const cli_session *session, e2b_err err);

/* Makes sure that it is gone, also after a creation that went unanswered. If
 * that fails, says on standard error which sandbox may be left. Returns
 * `code`, or EXIT_OURS if a sandbox may be left. */
int kill_created(cli_session *session, int code);

#endif
