/* request: one HTTP request as a value that can be written any number of
 * times. Because writing is repeatable, a request of any length goes out
 * through a small buffer, can be counted first, and can be resumed.
 */
#ifndef E2B_WIRE_REQUEST_H
#define E2B_WIRE_REQUEST_H

#include "base/text.h"
#include "e2b.h"

typedef void e2b_write(e2b_text *text, const void *subject);

typedef struct e2b_request {
    /* POST <path><id><path_end>?<query> */
    const char *method;
    e2b_str base_path; /* of the configured URL, without a trailing slash */
    const char *path;
    e2b_str id;
    const char *path_end;
    e2b_write *query; /* NULL: none; writes "?..." or nothing */

    e2b_str host;      /* a name or numeric address, no brackets */
    uint16_t tcp_port; /* 0: the scheme's default, left out */

    e2b_str user_agent;
    e2b_str api_key;      /* X-API-Key if not empty */
    e2b_str sandbox_id;   /* E2b-Sandbox-Id and -Port if not empty */
    e2b_str access_token; /* X-Access-Token if not empty */
    const char *user;     /* Authorization: Basic if not NULL */
    const char *content_type; /* NULL: no body */
    bool connect;         /* Connect-Protocol-Version: 1 */
    bool enveloped;       /* the body is one Connect envelope */
    bool keepalive;       /* Keepalive-Ping-Interval */
    uint32_t timeout_ms;  /* Connect-Timeout-Ms; 0: left out */

    e2b_write *body; /* NULL: empty */
    const void *subject; /* for query and body */
} e2b_request;

/* Appends head and body. */
void e2b_request_write(const e2b_request *request, e2b_text *text);

#endif
