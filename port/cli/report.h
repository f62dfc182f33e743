/* report: failures, one line each on standard error, and the exit code for them. */
#ifndef E2B_CLI_REPORT_H
#define E2B_CLI_REPORT_H

#include "e2b.h"

/* What went wrong is ours and not the command's. */
#define EXIT_OURS 125

/* "e2b: DOING SUBJECT: why: what to do". client and subject may be NULL.
 * Returns the exit code: EXIT_OURS, or what a shell gives for the signal that
 * cancelled the call. */
int report(const e2b_client *client, const char *doing, const char *subject, e2b_err err);

/* The same with other advice than the code's own. */
int report_with(const e2b_client *client, const char *doing, const char *subject, e2b_err err, const char *instead);

/* "e2b: WHAT: DO", for failures that never reached the library. EXIT_OURS. */
int report_text(const char *what, const char *instead);

/* After a result could not be written: a line unless the reader has simply gone, and the exit code. */
int report_output(const char *where, int error);

#endif
