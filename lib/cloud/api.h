/* api: what every call of the control plane has in common: where it goes, its
 * headers, its limit, and the two generations of routes.
 */
#ifndef E2B_CLOUD_API_H
#define E2B_CLOUD_API_H

#include "wire/call.h"

enum { E2B_ROUTES_UNKNOWN, E2B_ROUTES_NEWER, E2B_ROUTES_OLDER };

/* A call of the API; the caller sets path, body and what else differs. */
void e2b_api_call(e2b_client *client, e2b_call *call, const char *operation, const char *method);

/* `path` + id + `end`, the usual form of a sandbox's route. */
void e2b_api_path(e2b_call *call, const char *path, e2b_str id, const char *end);

/* A JSON body. */
void e2b_api_body(e2b_call *call, e2b_write *body, const void *subject);

/* After e2b_call_begin on one of the newer routes: true if the server has no
 * such route. Then the slot is given back and the client remembers; the caller
 * takes the older route. False: the answer stands, its body unread, or for a
 * refusal read and kept for e2b_api_refused. */
bool e2b_api_lacks_route(e2b_call *call, e2b_err *err);

/* Whether `id` can stand in a path: 1 to 64 letters, digits, '-' and '_'. */
bool e2b_sandbox_id_valid(e2b_str id);

e2b_str e2b_sandbox_id(const e2b_sandbox *sandbox);

/* E2B_STATE unless the struct names a sandbox; `operation` for the text. */
e2b_err e2b_sandbox_require(const e2b_sandbox *sandbox, const char *operation);

#endif
