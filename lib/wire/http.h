/* http: the answer of an HTTP/1.1 server, as an engine: fed bytes, asked what
 * they were. llhttp parses; the policy around it is here: what is refused
 * though llhttp accepts it, and a limit on everything that has none.
 *
 * Refused with E2B_PROTOCOL: versions other than 1.0 and 1.1, a status outside
 * 100..599, lines that end in LF alone, folded lines, names that are not
 * tokens, control bytes, a transfer coding other than one "chunked", blanks in
 * a chunk-size line. With E2B_COMPRESSED: any content coding. With E2B_LIMIT:
 * see the constants.
 */
#ifndef E2B_WIRE_HTTP_H
#define E2B_WIRE_HTTP_H

#include <llhttp.h>

#include "e2b.h"

#define E2B_HTTP_HEAD_BYTES 16384u   /* status line and fields; trailers too */
#define E2B_HTTP_FIELDS 64u
#define E2B_HTTP_INFORMATIONAL 8u    /* 1xx answers before the real one */
#define E2B_HTTP_CHUNK_LINE 64u      /* a chunk-size line, extensions included */
#define E2B_HTTP_FRAMING_BYTES 16384u /* chunk framing, beyond 8 bytes for each byte of body */

#define E2B_HTTP_MORE 0 /* all input used */
#define E2B_HTTP_HEAD 1 /* the final status and fields are known */
#define E2B_HTTP_BODY 2 /* a piece of the body */
#define E2B_HTTP_DONE 3 /* the message is complete; what follows belongs to no message */
#define E2B_HTTP_BAD 4  /* final; http->err says which error */

typedef struct e2b_http {
    llhttp_t parser;
    char *next_token; /* where X-Next-Token goes; NULL: nowhere */
    uint64_t body_bytes;
    uint64_t framing_bytes;
    uint32_t head_bytes; /* of the head or the trailers under way */
    uint32_t retry_after_s;
    e2b_err err;
    uint16_t next_token_size, next_token_len;
    uint16_t status;
    uint8_t fields, informational;
    uint8_t stage, line, field;
    uint8_t word_len;
    bool head_request, complete, keep_alive, has_encoding, chunked, reading_until_end;
    bool chunk_holds_data; /* the size line under way has a digit that is not 0 */
    char word[24]; /* the field name, then its value, lower-cased */
} e2b_http;

/* Ready for the answer to a new request. next_token (may be NULL) gets the
 * field X-Next-Token, NUL-terminated; too long for it: E2B_LIMIT. */
void e2b_http_start(e2b_http *http, bool head_request, char *next_token, size_t next_token_size);

/* Takes in up to `len` bytes, says in *used how many, and what it found. BODY
 * points into `in`. After DONE nothing more is taken. An end that needs no
 * further byte is found with len 0. */
int32_t e2b_http_read(e2b_http *http, const char *in, size_t len, size_t *used, e2b_str *body);

/* The link has ended in an orderly way. DONE if the body was to last until
 * then, else BAD: E2B_NO_REPLY before the first byte, E2B_TRUNCATED after it. */
int32_t e2b_http_end(e2b_http *http);

/* Whether any byte of an answer has come. */
bool e2b_http_started(const e2b_http *http);

#endif
