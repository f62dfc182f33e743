/* sandbox_reply: the answer of create, connect and resume, read into an e2b_sandbox. */
#ifndef E2B_CLOUD_SANDBOX_REPLY_H
#define E2B_CLOUD_SANDBOX_REPLY_H

#include "wire/reply.h"

/* Reads the body of a begun call and ends it. The id is stored before anything
 * else is judged: sandbox->id[0] tells whether it was readable, whatever the
 * result. E2B_TOO_SMALL: the access token does not fit; E2B_PROTOCOL: a
 * required field is missing or malformed. */
e2b_err e2b_sandbox_read(e2b_call *call, e2b_sandbox *sandbox);

/* "0.6.13" into three numbers. False if it is no version. */
bool e2b_version_parse(const char *text, uint16_t version[3]);

/* Negative, zero or positive as with memcmp. */
int e2b_version_compare(const uint16_t version[3], uint16_t major, uint16_t minor, uint16_t patch);

#endif
