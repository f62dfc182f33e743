/* The HTTP engine: any bytes, cut in any way, give the same message or the same error. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "wire/http.h"

typedef struct run {
    e2b_http http;
    fuzz_log log, body;
    char token[32];
    bool over;
} run;

static void note(run *r, int32_t found, const uint8_t *piece, size_t length, e2b_str body)
{
    switch (found) {
    case E2B_HTTP_HEAD:
        fuzz_log_number(&r->log, r->http.status);
        fuzz_log_number(&r->log, r->http.retry_after_s);
        fuzz_log_add(&r->log, r->token, strlen(r->token));
        break;
    case E2B_HTTP_BODY:
        FUZZ_CHECK(body.len > 0 && body.len <= length);
        FUZZ_CHECK(body.ptr >= (const char *)piece && body.ptr + body.len <= (const char *)piece + length);
        fuzz_log_add(&r->body, body.ptr, body.len);
        break;
    case E2B_HTTP_DONE:
        fuzz_log_number(&r->log, -1);
        fuzz_log_number(&r->log, r->http.keep_alive);
        r->over = true;
        break;
    case E2B_HTTP_BAD:
        fuzz_log_number(&r->log, r->http.err);
        FUZZ_CHECK(r->http.err < 0);
        r->over = true;
        break;
    default: break;
    }
}

/* Feeds a piece and gives how much of it was used. */
static size_t feed(run *r, const uint8_t *data, size_t length)
{
    uint8_t *piece = fuzz_copy(data, length);
    size_t at = 0;
    int32_t found;
    do {
        e2b_str body = {NULL, 0};
        size_t used;
        found = e2b_http_read(&r->http, (const char *)piece + at, length - at, &used, &body);
        FUZZ_CHECK(used <= length - at);
        FUZZ_CHECK(found != E2B_HTTP_MORE || at + used == length);
        note(r, found, piece, length, body);
        at += used;
    } while (found != E2B_HTTP_MORE && !r->over);
    free(piece);
    return at;
}

static void run_all(run *r, fuzz_bytes input, uint32_t cut, bool head_request)
{
    memset(r, 0, sizeof *r);
    e2b_http_start(&r->http, head_request, r->token, sizeof r->token);
    size_t used = 0;
    while (input.left > 0 && !r->over) {
        size_t length = fuzz_piece(&cut, input.left), part = feed(r, input.at, length);
        used += part;
        input.at += length;
        input.left -= length;
    }
    if (!r->over) {
        e2b_str none = {NULL, 0};
        note(r, e2b_http_end(&r->http), NULL, 0, none);
    }
    FUZZ_CHECK(r->over);
    FUZZ_CHECK(r->token[sizeof r->token - 1] == '\0');
    /* Where the message ends is found at the same byte; where it turns bad may be seen later. */
    if (r->http.err == E2B_OK) fuzz_log_number(&r->log, (int64_t)used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static run whole, cut;
    fuzz_bytes input = {data, size};
    uint8_t how = fuzz_byte(&input);
    run_all(&whole, input, 0, (how & 1) != 0);
    run_all(&cut, input, 1u + how, (how & 1) != 0);
    FUZZ_CHECK(fuzz_log_equal(&whole.log, &cut.log));
    FUZZ_CHECK(fuzz_log_equal(&whole.body, &cut.body));
    return 0;
}
