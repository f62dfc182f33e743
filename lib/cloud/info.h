/* info: what the API tells about a sandbox, one or many. */
#ifndef E2B_CLOUD_INFO_H
#define E2B_CLOUD_INFO_H

#include "wire/reply.h"

/* Asks about the sandbox and takes from the answer what is needed to reach it:
 * token, domain, envd's version. E2B_NOT_RUNNING if it is paused. */
e2b_err e2b_sandbox_learn(e2b_sandbox *sandbox, const char *operation);

/* Reads one sandbox's object whose OBJECT item was just given, up to and with
 * its END. `sandbox` (may be NULL) gets token, domain and version. What does
 * not fit the arena: E2B_TOO_SMALL, written down, with the rest read. */
e2b_err e2b_info_read(e2b_reply *reply, const e2b_json_item *begin, e2b_sandbox_info *info, e2b_arena *arena,
                      e2b_sandbox *sandbox);

#endif
