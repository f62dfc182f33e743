/* refusal: what an answer that says no means: HTTP status, the API's JSON, a
 * Connect error, a proxy's page. One place, so that every call tells alike.
 */
#ifndef E2B_WIRE_REFUSAL_H
#define E2B_WIRE_REFUSAL_H

#include "e2b.h"

/* The error for a Connect code (1..16), and the code for its name (0: none). */
e2b_err e2b_rpc_error(int32_t code);
int32_t e2b_rpc_code(e2b_str name);

typedef struct e2b_refusal {
    const char *operation;
    int32_t status;         /* HTTP's; 0: the error came inside a stream */
    uint32_t retry_after_s;
    e2b_str body;           /* its beginning, JSON or not */
    bool envd;              /* the answer comes through the way to a sandbox */
} e2b_refusal;

/* Writes the failure down in the client and returns its code. */
e2b_err e2b_refuse(e2b_client *client, const e2b_refusal *refusal);

/* What the payload of a stream's end-of-stream message says: E2B_OK, or its
 * error, written down. A body of E2B_CONN_COLLECT bytes may be cut: an error that
 * stands behind that place is not seen. */
e2b_err e2b_end_of_stream(e2b_client *client, const char *operation, e2b_str body);

/* Whether a 404 (for "method not allowed" also 400 and 405) means that the
 * server has no such route, rather than no such thing. */
bool e2b_refusal_is_missing_route(e2b_client *client, int32_t status, e2b_str body);

#endif
