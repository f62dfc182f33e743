/* e2b_error.h: the errors of libe2b: one list of codes with names, texts and
 * two answers about each, and what is kept of a failure. */
#ifndef E2B_ERROR_H
#define E2B_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t e2b_err;

/* One list: X(name, number, may be retried, may have been executed, text).
 * "May be retried" means that the same call may succeed later; "may have been
 * executed" that the server may have done what was asked although no answer
 * says so: repeating such a call may do it twice. */
#define E2B_ERRORS(X) \
    X(E2B_OK, 0, 0, 0, "success") \
    /* the call itself; nothing was sent, but for CANCELLED, PORT and TOO_SMALL */ \
    X(E2B_INVALID, -1, 0, 0, "an argument was refused") \
    X(E2B_STATE, -2, 0, 0, "not possible in this state") \
    X(E2B_BUSY, -3, 1, 0, "every connection of the client is in use, or the earlier input is still under way") \
    X(E2B_CLOSED, -4, 0, 0, "the handle was closed") \
    X(E2B_TOO_SMALL, -5, 0, 1, "the memory handed over is too small for the result") \
    X(E2B_UNSUPPORTED, -6, 0, 0, "not supported by this port, this build or this sandbox") \
    X(E2B_CANCELLED, -7, 0, 1, "cancelled by the caller's flag") \
    X(E2B_NO_MEMORY, -8, 0, 0, "the client's memory is below the minimum: use E2B_CLIENT_MEMORY") \
    X(E2B_NO_API_KEY, -9, 0, 0, "no API key: set E2B_API_KEY or the api_key option") \
    X(E2B_PORT, -10, 0, 1, "the port failed (clock, randomness or wait)") \
    /* transport, before the request had left: not executed */ \
    X(E2B_RESOLVE, -20, 1, 0, "the host name could not be resolved") \
    X(E2B_CONNECT, -21, 1, 0, "the host could not be reached") \
    X(E2B_CONNECT_TIMEOUT, -22, 1, 0, "no connection within the time limit") \
    X(E2B_SEND, -23, 1, 0, "the connection broke while the request was being sent") \
    X(E2B_SEND_TIMEOUT, -24, 1, 0, "the request could not be sent within the time limit") \
    X(E2B_TLS, -25, 0, 0, "the TLS handshake failed") \
    /* transport, after the request had left: perhaps executed */ \
    X(E2B_NO_REPLY, -30, 1, 1, "the connection ended before the first byte of an answer") \
    X(E2B_REPLY_TIMEOUT, -31, 1, 1, "no complete answer within the time limit") \
    X(E2B_TRUNCATED, -32, 1, 1, "the answer was cut off") \
    X(E2B_IDLE, -33, 1, 1, "the stream went silent; the process may still be running") \
    /* answers that make no sense */ \
    X(E2B_PROTOCOL, -40, 0, 1, "the answer breaks the protocol") \
    X(E2B_LIMIT, -41, 0, 1, "the answer exceeds a limit of this client") \
    X(E2B_COMPRESSED, -42, 0, 1, "the answer is compressed although nothing compressed was accepted") \
    X(E2B_NO_EXIT, -43, 0, 1, "the stream ended properly but never said how the process ended") \
    /* answers that refuse */ \
    X(E2B_UNAUTHENTICATED, -50, 0, 0, "refused: check the API key, or the user name") \
    X(E2B_FORBIDDEN, -51, 0, 0, "not allowed for this account") \
    X(E2B_NOT_FOUND, -52, 0, 0, "no such thing") \
    X(E2B_CONFLICT, -53, 1, 0, "in conflict with the present state; it may pass") \
    X(E2B_RATE_LIMITED, -54, 1, 0, "too many requests, or the account's limit is reached: wait and try again") \
    X(E2B_BAD_REQUEST, -55, 0, 0, "the server refused the request as malformed") \
    X(E2B_NO_CAPACITY, -56, 1, 0, "the service has no machine free at the moment: try again later") \
    X(E2B_SERVER, -57, 1, 1, "the server failed") \
    X(E2B_GATEWAY, -58, 1, 1, "something between here and the service answered for it") \
    X(E2B_REDIRECT, -59, 0, 0, "the server redirects, which is never followed: check the URL") \
    X(E2B_HTTP, -60, 0, 1, "an unexpected HTTP status") \
    X(E2B_NOT_RUNNING, -61, 0, 0, "the sandbox is not running: it was killed, it expired or it is paused") \
    X(E2B_UNIMPLEMENTED, -62, 0, 0, "the server does not know this call") \
    X(E2B_EXISTS, -63, 0, 0, "it exists already") \
    X(E2B_COMMAND_TIMEOUT, -64, 0, 1, "the command's time limit passed and it was killed")

#define E2B_ERROR_CONSTANT(name, number, retry, executed, text) name = (number),
enum { E2B_ERRORS(E2B_ERROR_CONSTANT) };
#undef E2B_ERROR_CONSTANT

/* The constant's name, "E2B_TRUNCATED"; "E2B_?" for a number not on the list. Never NULL. */
const char *e2b_err_name(e2b_err err);
/* The list's general text. Never NULL. */
const char *e2b_err_text(e2b_err err);
bool e2b_err_may_retry(e2b_err err);
bool e2b_err_may_have_run(e2b_err err);

/* What is known about a failure. Valid when zeroed (E2B_OK). The text is
 * bounded, printable, NUL-terminated and free of secrets. */
typedef struct e2b_error {
    e2b_err code;
    int32_t http_status;     /* 0: none */
    int32_t rpc_code;        /* Connect's code, 1 (canceled) to 16 (unauthenticated); 0: none */
    int32_t port_error;      /* the port's number (errno, a TLS code); 0: none */
    uint32_t retry_after_s;  /* what the server asked to wait; 0: nothing */
    size_t needed;           /* with E2B_TOO_SMALL and E2B_NO_MEMORY: bytes that would have been enough; 0: unknown */
    char text[256];
} e2b_error;

#ifdef __cplusplus
}
#endif
#endif
