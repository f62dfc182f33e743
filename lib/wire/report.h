/* report: how a failure is written down in the client, once, with words. */
#ifndef E2B_WIRE_REPORT_H
#define E2B_WIRE_REPORT_H

#include "base/text.h"
#include "e2b.h"

/* Starts the record of a failure: clears whichever of client->error and
 * client->cleanup_error is written to now and returns it with `code` set and
 * "<operation>: " as its text, to be gone on with through e2b_report_text. */
e2b_error *e2b_report(e2b_client *client, e2b_err code, const char *operation, e2b_text *text);

/* Ends it: secrets are taken out, what can't be printed is replaced. Returns the code. */
e2b_err e2b_report_end(e2b_client *client, e2b_error *error, e2b_text *text);

/* The whole of it for a failure that needs one detail (may be NULL) after the
 * operation; without one the list's text stands there. */
e2b_err e2b_fail(e2b_client *client, e2b_err code, const char *operation, const char *detail);
/* The same with a subject in quotes: "<operation>: <detail>: '<subject>'". */
e2b_err e2b_fail_on(e2b_client *client, e2b_err code, const char *operation, const char *detail, e2b_str subject);

/* Gives the port's trace hook, if there is one, a line without secrets. */
void e2b_trace(e2b_client *client, e2b_text *line);

#endif
