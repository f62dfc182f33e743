/* envd_call: what every call to the daemon inside a sandbox has in common. */
#ifndef E2B_ENVD_ENVD_CALL_H
#define E2B_ENVD_ENVD_CALL_H

#include "wire/call.h"

typedef struct e2b_envd_call {
    e2b_call call;
    char host[6 + 64 + 1 + 253 + 1]; /* "49983-<id>.<domain>" */
} e2b_envd_call;

/* A request to `path` of the sandbox. */
void e2b_envd_request(e2b_sandbox *sandbox, e2b_envd_call *envd, const char *operation, const char *method,
                      const char *path);

/* The same as a Connect call with a body; binary: in the protobuf codec. */
void e2b_envd_unary(e2b_sandbox *sandbox, e2b_envd_call *envd, const char *operation, const char *path, bool binary,
                    e2b_write *body, const void *subject);
void e2b_envd_stream(e2b_sandbox *sandbox, e2b_envd_call *envd, const char *operation, const char *path, bool binary,
                     e2b_write *body, const void *subject);

/* E2B_OK if the sandbox is one that can be talked to. */
e2b_err e2b_envd_require(const e2b_sandbox *sandbox, const char *operation);

/* Whether the sandbox's envd is at least this version. */
bool e2b_envd_at_least(const e2b_sandbox *sandbox, uint16_t major, uint16_t minor, uint16_t patch);

#endif
