#include "http_answers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "incremental.h"

typedef struct http_state {
    e2b_http http;
    const answer_plan *plan;
    char token[64], token_at_head[64];
    bool bad;
} http_state;

static void reset(void *state, const void *context)
{
    http_state *s = state;
    s->plan = context;
    e2b_http_start(&s->http, s->plan->head_request, s->plan->token_size ? s->token : NULL, s->plan->token_size);
}

static int feed(void *state, char *in, size_t len, size_t *used, incremental_log *log)
{
    http_state *s = state;
    *used = 0;
    for (;;) {
        size_t part;
        e2b_str body;
        int32_t kind = e2b_http_read(&s->http, in + *used, len - *used, &part, &body);
        assert_true(part <= len - *used);
        *used += part;
        switch (kind) {
        case E2B_HTTP_MORE: assert_int_equal(*used, len); return INCREMENTAL_MORE;
        case E2B_HTTP_HEAD:
            log_event(log, "head %u retry %u token %s", s->http.status, (unsigned)s->http.retry_after_s, s->token);
            memcpy(s->token_at_head, s->token, sizeof s->token);
            break;
        case E2B_HTTP_BODY:
            assert_true(body.len > 0 && body.ptr >= in && body.ptr + body.len <= in + len);
            log_data(log, "body", body.ptr, body.len);
            break;
        case E2B_HTTP_DONE:
            log_event(log, "complete %s", s->http.keep_alive ? "keep" : "close");
            assert_int_equal(e2b_http_read(&s->http, in, len, &part, &body), E2B_HTTP_DONE);
            assert_int_equal(part, 0);
            assert_string_equal(s->token, s->token_at_head);
            return INCREMENTAL_DONE;
        default:
            assert_int_equal(kind, E2B_HTTP_BAD);
            if (!s->bad) log_event(log, "%s", e2b_err_name(s->http.err));
            s->bad = true;
            return INCREMENTAL_BAD;
        }
    }
}

static bool end(void *state, incremental_log *log)
{
    http_state *s = state;
    bool started = e2b_http_started(&s->http);
    if (e2b_http_end(&s->http) == E2B_HTTP_DONE) {
        assert_int_equal(e2b_http_end(&s->http), E2B_HTTP_DONE);
        log_event(log, "complete %s", s->http.keep_alive ? "keep" : "close");
        return true;
    }
    if (!s->bad) assert_int_equal(s->http.err, started ? E2B_TRUNCATED : E2B_NO_REPLY);
    assert_int_equal(e2b_http_end(&s->http), E2B_HTTP_BAD);
    return false;
}

static bool is_whole(const void *context, const char *in, size_t len)
{
    const answer_plan *p = context;
    (void)in;
    return p->whole_from && len >= p->whole_from;
}

const char *check_answer(const answer_plan *plan, const char *in, size_t len)
{
    incremental_parser parser = {sizeof(http_state), reset, feed, end, is_whole, plan};
    return incremental_check(&parser, in, len);
}

const char *read_answer(const answer_plan *plan, const char *in, size_t len)
{
    incremental_parser parser = {sizeof(http_state), reset, feed, end, is_whole, plan};
    return incremental_run(&parser, in, len);
}
