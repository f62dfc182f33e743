#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "http_answers.h"

static const answer_plan ordinary = {false, 0, 0};

static void expect(const char *log, unsigned status, const char *body, const char *last)
{
    char wanted[4096];
    size_t at = 0;
    if (status) at += (size_t)snprintf(wanted, sizeof wanted, "head %u retry 0 token \n", status);
    if (body && *body) {
        at += (size_t)snprintf(wanted + at, sizeof wanted - at, "body ");
        for (; *body; body++) at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%02x", (unsigned char)*body);
        at += (size_t)snprintf(wanted + at, sizeof wanted - at, "\n");
    }
    snprintf(wanted + at, sizeof wanted - at, "%s\n", last);
    assert_string_equal(log, wanted);
}

/* An answer, its status and body, and whether the link is kept; all of it belongs to the answer. */
static void good(const answer_plan *p, const char *in, unsigned status, const char *body, const char *kept)
{
    char last[64];
    snprintf(last, sizeof last, "complete %s\ndone %zu", kept, strlen(in));
    expect(check_answer(p, in, strlen(in)), status, body, last);
}

static void bad(const char *in, const char *error)
{
    const char *log = check_answer(&ordinary, in, strlen(in));
    const char *last = strstr(log, error);
    if (!last || strcmp(last + strlen(error), "\nbad\n") != 0) fail_msg("%s gave, not %s:\n%s", in, error, log);
}

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"

/* ---- Framing that is legal -------------------------------------------------- */

static void bodies_by_length(void **state)
{
    (void)state;
    good(&ordinary, OK_HEAD "Content-Length: 5\r\n\r\nhello", 200, "hello", "keep");
    good(&ordinary, OK_HEAD "content-length:5\r\n\r\nhello", 200, "hello", "keep");
    good(&ordinary, OK_HEAD "Content-Length:\t 005  \r\n\r\nhello", 200, "hello", "keep");
    good(&ordinary, OK_HEAD "Content-Length: 0\r\n\r\n", 200, "", "keep");
    good(&ordinary, "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n\r\n", 404, "\r\n", "keep");
}

static void bodies_in_chunks(void **state)
{
    (void)state;
    good(&ordinary, CHUNKED "5\r\nhello\r\n0\r\n\r\n", 200, "hello", "keep");
    good(&ordinary, CHUNKED "1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n", 200, "abcdef", "keep");
    good(&ordinary, CHUNKED "0\r\n\r\n", 200, "", "keep");
    good(&ordinary, CHUNKED "00000\r\n\r\n", 200, "", "keep");
    good(&ordinary, CHUNKED "00A\r\n0123456789\r\n000\r\n\r\n", 200, "0123456789", "keep");
    good(&ordinary, CHUNKED "a\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", 200, "0\r\n\r\n0\r\n\r\n", "keep");
    good(&ordinary, CHUNKED "1;name=\"value; more\"\r\na\r\n0;last\r\n\r\n", 200, "a", "keep");
    good(&ordinary, OK_HEAD "TRANSFER-ENCODING:  CHUNKED  \r\n\r\n1\r\na\r\n0\r\n\r\n", 200, "a", "keep");
    good(&ordinary, CHUNKED "1\r\na\r\n0\r\nExpires: never\r\nX-Empty:\r\n\r\n", 200, "a", "keep");
    char many[600];
    size_t at = (size_t)snprintf(many, sizeof many, "%s", CHUNKED);
    char body[51] = {0};
    for (int i = 0; i < 50; i++) {
        body[i] = (char)('a' + i % 26);
        at += (size_t)snprintf(many + at, sizeof many - at, "1\r\n%c\r\n", body[i]);
    }
    snprintf(many + at, sizeof many - at, "0\r\n\r\n");
    good(&ordinary, many, 200, body, "keep");
}

static void bodies_until_the_end(void **state)
{
    (void)state;
    const char head[] = OK_HEAD "Content-Type: text/html\r\n\r\n";
    answer_plan p = {false, 0, sizeof head - 1};
    const char page[] = OK_HEAD "Content-Type: text/html\r\n\r\nhello";
    expect(check_answer(&p, page, sizeof page - 1), 200, "hello", "complete close\nwhole");
    expect(check_answer(&p, head, sizeof head - 1), 200, "", "complete close\nwhole");
    const char old[] = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nold";
    answer_plan q = {false, 0, sizeof old - 4};
    expect(check_answer(&q, old, sizeof old - 1), 200, "old", "complete close\nwhole");
}

static void answers_without_a_body(void **state)
{
    (void)state;
    answer_plan head = {true, 0, 0};
    good(&ordinary, "HTTP/1.1 204 No Content\r\n\r\n", 204, "", "keep");
    good(&ordinary, "HTTP/1.1 204 No Content\r\nContent-Length: 99\r\n\r\n", 204, "", "keep");
    good(&ordinary, "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", 204, "", "keep");
    good(&ordinary, "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", 304, "", "keep");
    good(&ordinary, "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", 304, "", "keep");
    good(&head, OK_HEAD "Content-Length: 123\r\n\r\n", 200, "", "keep");
    good(&head, CHUNKED, 200, "", "keep");
    good(&head, "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n", 404, "", "keep");
}

static void informational_answers(void **state)
{
    (void)state;
    answer_plan token = {false, 16, 0};
    good(&ordinary, "HTTP/1.1 100 Continue\r\n\r\n" OK_HEAD "Content-Length: 1\r\n\r\na", 200, "a", "keep");
    good(&ordinary, "HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\nRetry-After: 9\r\n\r\n" CHUNKED "0\r\n\r\n", 200, "", "keep");
    good(&ordinary, "HTTP/1.1 100 Continue\r\nContent-Encoding: gzip\r\n\r\n" OK_HEAD "Content-Length: 1\r\n\r\na", 200, "a", "keep");
    good(&ordinary, "HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n" OK_HEAD "Content-Length: 0\r\n\r\n", 200, "", "keep");
    good(&token, "HTTP/1.1 102 Processing\r\nX-Next-Token: early\r\n\r\n" OK_HEAD "Content-Length: 0\r\n\r\n", 200, "", "keep");
    bad("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n" OK_HEAD "\r\n", "E2B_PROTOCOL");
    bad("HTTP/1.1 101 Switching Protocols\r\n\r\n" OK_HEAD "\r\n", "E2B_PROTOCOL");
}

/* The status is not known before the final answer. */
static void no_status_between(void **state)
{
    (void)state;
    e2b_http http;
    size_t used;
    e2b_str body;
    const char in[] = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2";
    e2b_http_start(&http, false, NULL, 0);
    assert_int_equal(e2b_http_read(&http, in, sizeof in - 1, &used, &body), E2B_HTTP_MORE);
    assert_int_equal(http.status, 0);
    assert_true(e2b_http_started(&http));
}

static void keeping_the_link(void **state)
{
    (void)state;
    good(&ordinary, OK_HEAD "Connection: close\r\nContent-Length: 1\r\n\r\na", 200, "a", "close");
    good(&ordinary, OK_HEAD "Content-Length: 1\r\nconnection: CLOSE\r\n\r\na", 200, "a", "close");
    good(&ordinary, OK_HEAD "Connection: keep-alive\r\nContent-Length: 1\r\n\r\na", 200, "a", "keep");
    good(&ordinary, "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", 200, "a", "close");
    good(&ordinary, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na", 200, "a", "keep");
    good(&ordinary, OK_HEAD "Connection: x, close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 200, "a", "close");
    good(&ordinary, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", 204, "", "close");
    good(&ordinary, OK_HEAD "Upgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 1\r\n\r\na", 200, "a", "keep");
}

/* What follows the message is neither used nor mixed into the body. */
static void two_answers_in_one_read(void **state)
{
    (void)state;
    static const char *const first[] = {
        OK_HEAD "Content-Length: 3\r\n\r\none", CHUNKED "3\r\none\r\n0\r\n\r\n",
        OK_HEAD "Connection: close\r\nContent-Length: 3\r\n\r\none", "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n",
    };
    for (size_t i = 0; i < 4; i++) {
        char both[300], last[64];
        size_t len = (size_t)snprintf(both, sizeof both, "%s%s", first[i], OK_HEAD "Content-Length: 3\r\n\r\ntwo");
        snprintf(last, sizeof last, "complete %s\ndone %zu", i == 2 ? "close" : "keep", strlen(first[i]));
        expect(check_answer(&ordinary, both, len), i == 3 ? 204 : 200, i == 3 ? "" : "one", last);
    }
}

/* An earlier answer's length does not count for the next. */
static void started_again(void **state)
{
    (void)state;
    e2b_http http;
    size_t used;
    e2b_str body;
    const char first[] = OK_HEAD "Content-Length: 123\r\n\r\n", second[] = OK_HEAD "Content-Length: 3\r\n\r\nabc456";
    e2b_http_start(&http, true, NULL, 0);
    assert_int_equal(e2b_http_read(&http, first, sizeof first - 1, &used, &body), E2B_HTTP_HEAD);
    assert_int_equal(e2b_http_read(&http, NULL, 0, &used, &body), E2B_HTTP_DONE);
    e2b_http_start(&http, false, NULL, 0);
    assert_false(e2b_http_started(&http));
    assert_int_equal(e2b_http_read(&http, second, sizeof second - 1, &used, &body), E2B_HTTP_HEAD);
    size_t at = used;
    assert_int_equal(e2b_http_read(&http, second + at, sizeof second - 1 - at, &used, &body), E2B_HTTP_BODY);
    assert_int_equal(body.len, 3);
    at += used;
    assert_int_equal(e2b_http_read(&http, second + at, sizeof second - 1 - at, &used, &body), E2B_HTTP_DONE);
    assert_int_equal(used, 0);
}

/* What needs no further byte is complete without one: nothing may come after it. */
static void the_end_is_found_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        bool at_end;
    } rows[] = {
        {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", true},
        {OK_HEAD "Content-Length: 0\r\n\r\n", true},
        {OK_HEAD "\r\n", false},
        {CHUNKED, false},
    };
    for (size_t i = 0; i < 4; i++) {
        e2b_http http;
        size_t used;
        e2b_str body;
        e2b_http_start(&http, false, NULL, 0);
        assert_int_equal(e2b_http_read(&http, rows[i].in, strlen(rows[i].in), &used, &body), E2B_HTTP_HEAD);
        assert_int_equal(e2b_http_read(&http, "", 0, &used, &body), rows[i].at_end ? E2B_HTTP_DONE : E2B_HTTP_MORE);
    }
}

/* ---- What is refused ---------------------------------------------------------- */

static void status_lines(void **state)
{
    (void)state;
    good(&ordinary, "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, "", "keep");
    good(&ordinary, "HTTP/1.1 400 \r\nContent-Length: 0\r\n\r\n", 400, "", "keep");
    good(&ordinary, "HTTP/1.1 599 \xc3\xa9 whatever\tit is\r\nContent-Length: 0\r\n\r\n", 599, "", "keep");
    static const char *const lines[] = {
        "HTTP/1.1 000 OK", "HTTP/1.1 099 OK", "HTTP/1.1 600 OK", "HTTP/1.1 999 OK", "HTTP/1.1 1000 OK", "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK", "HTTP/1.1 -200 OK", "HTTP/1.1 2x0 OK", "HTTP/1.1 99999999999999999999 OK", "HTTP/0.9 200 OK",
        "HTTP/2.0 200 OK", "HTTP/1.2 200 OK", "HTTP/11 200 OK", "HTTP/1.1200 OK", "HTTP/1.1", "HTTP/ 200 OK", "http/1.1 200 OK",
        "ICY 200 OK", "\r\nHTTP/1.1 200 OK", " HTTP/1.1 200 OK", "\x15\x03\x01", "<html>", "{\"code\":404}", "HTTP/1.1 200 O\x01K",
        "HTTP/1.1 200 O\x7fK", "HTTP/1.1\t200 OK", "SSH-2.0-OpenSSH", "220 ready", "GET / HTTP/1.1",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char in[200];
        snprintf(in, sizeof in, "%s\r\nContent-Length: 0\r\n\r\n", lines[i]);
        bad(in, "E2B_PROTOCOL");
    }
    bad("HTTP/1.1 200 OK\nContent-Length: 0\n\n", "E2B_PROTOCOL");
    bad("HTTP/1.1 200 OK\rContent-Length: 0\r\r", "E2B_PROTOCOL");
    bad("HTTP/1.1 200 OK\r\r\n", "E2B_PROTOCOL");
}

static void field_lines(void **state)
{
    (void)state;
    good(&ordinary, OK_HEAD "A:\r\nB: \r\nC:\t\r\nContent-Length: 0\r\nD:\r\n\r\n", 200, "", "keep");
    good(&ordinary, OK_HEAD "!#$%&'*+-.^_`|~09Az: \xff\xfe x\t:y\r\nContent-Length: 0\r\n\r\n", 200, "", "keep");
    static const char *const lines[] = {
        ": x", "A B: x", "A : x", " folded", "\tfolded", "A", "A\r: x", "A\t: x", "\"A\": x", "A(: x", "\xc3\xa9: x", "A: x\x01y",
        "A: x\x7fy", "A: x\ny", "A: x\ry", "A: x\r\r", "A\x7f: x",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char in[200];
        snprintf(in, sizeof in, OK_HEAD "%s\r\nContent-Length: 0\r\n\r\n", lines[i]);
        bad(in, "E2B_PROTOCOL");
        snprintf(in, sizeof in, OK_HEAD "Content-Length: 0\r\n%s\r\n\r\n", lines[i]);
        bad(in, "E2B_PROTOCOL");
        snprintf(in, sizeof in, CHUNKED "1\r\na\r\n0\r\n%s\r\n\r\n", lines[i]);
        bad(in, "E2B_PROTOCOL");
    }
    const char nul[] = OK_HEAD "A: x\0y\r\n\r\n";
    assert_non_null(strstr(check_answer(&ordinary, nul, sizeof nul - 1), "E2B_PROTOCOL\nbad"));
}

static void lengths(void **state)
{
    (void)state;
    static const char *const fields[] = {
        "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5, 5",
        "Content-Length: +5", "Content-Length: -5", "Content-Length: 0x5", "Content-Length:", "Content-Length: 5 5",
        "Content-Length: 18446744073709551616", "Content-Length: 5.0", "Content-Length: five",
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Transfer-Encoding: gzip", "Transfer-Encoding: xchunked", "Transfer-Encoding: identity", "Transfer-Encoding:",
        "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked;q=1", "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: chunked                                                  x",
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char in[300];
        snprintf(in, sizeof in, OK_HEAD "%s\r\n\r\n5\r\nhello\r\n0\r\n\r\n", fields[i]);
        bad(in, "E2B_PROTOCOL");
    }
    bad(OK_HEAD "Content-Length: 18446744073709551615\r\n\r\n", "E2B_LIMIT");
    bad(OK_HEAD "Content-Length: 9007199254740993\r\n\r\n", "E2B_LIMIT");
    const char longest[] = OK_HEAD "Content-Length: 9007199254740992\r\n\r\na";
    expect(check_answer(&ordinary, longest, sizeof longest - 1), 200, "a", "cut off");
}

static void chunk_lines(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "\r\n\r\n", " 0\r\n\r\n", "0x0\r\n\r\n", "-0\r\n\r\n", "+0\r\n\r\n", "5\nhello\n0\n\n", "5\r5\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n", "5\t\r\nhello\r\n0\r\n\r\n", "5;a=\x01\r\nhello\r\n0\r\n\r\n", "5;a=\x7f\r\nhello\r\n0\r\n\r\n",
        "5;a\nhello\r\n0\r\n\r\n", "5\r\nhello0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r0\r\n\r\n",
        "5\r\nhello\r\n0\n\n", "5\r\nhello\r\n0\r\n\n", "5\r\nhello\r\n0\r\nX: y\n\n", "g\r\nhello\r\n0\r\n\r\n", ";\r\nhello\r\n0\r\n\r\n",
        "5\r\n\r\nhello\r\n0\r\n\r\n", "4\r\nhello\r\n0\r\n\r\n", "6\r\nhello\r\n0\r\n\r\n", "fffffffffffffffff\r\nhello",
        "5,\r\nhello\r\n0\r\n\r\n", "\xc2\xb2\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n folded\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char in[300];
        snprintf(in, sizeof in, CHUNKED "%s", bodies[i]);
        bad(in, "E2B_PROTOCOL");
    }
    const char nul[] = CHUNKED "5;a=\0\r\nhello\r\n0\r\n\r\n";
    assert_non_null(strstr(check_answer(&ordinary, nul, sizeof nul - 1), "E2B_PROTOCOL\nbad"));
}

static void compressed(void **state)
{
    (void)state;
    good(&ordinary, OK_HEAD "Content-Encoding: identity\r\nContent-Length: 1\r\n\r\na", 200, "a", "keep");
    good(&ordinary, OK_HEAD "Content-Encoding:\r\nContent-Length: 1\r\n\r\na", 200, "a", "keep");
    static const char *const codings[] = {"gzip", "x-gzip", "br", "deflate", "zstd", "gzip, identity",
                                          "something longer than any that is known"};
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        char in[200];
        snprintf(in, sizeof in, OK_HEAD "Content-Encoding: %s\r\nContent-Length: 1\r\n\r\na", codings[i]);
        bad(in, "E2B_COMPRESSED");
        snprintf(in, sizeof in, OK_HEAD "connect-content-encoding: %s\r\nContent-Length: 1\r\n\r\na", codings[i]);
        bad(in, "E2B_COMPRESSED");
    }
    bad("HTTP/1.1 502 Bad Gateway\r\nContent-Encoding: gzip\r\n\r\n", "E2B_COMPRESSED");
}

/* ---- Fields that are kept ------------------------------------------------------ */

static void retry_after(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        unsigned seconds;
    } rows[] = {
        {"0", 0}, {"1", 1}, {" 17 \t", 17}, {"007", 7}, {"86400", 86400}, {"86401", 86400}, {"99999999999999999999999", 86400},
        {"000000000000000000000005", 5}, {"0000000000000000000000005", 0}, {"", 0}, {"-1", 0}, {"1.5", 0}, {"1 2", 0}, {"soon", 0},
        {"Wed, 21 Oct 2026 07:28:00 GMT", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char in[200], wanted[100];
        snprintf(in, sizeof in, "HTTP/1.1 429 Too Many\r\nretry-AFTER:%s\r\nContent-Length: 0\r\n\r\n", rows[i].value);
        snprintf(wanted, sizeof wanted, "head 429 retry %u token \ncomplete keep\ndone %zu\n", rows[i].seconds, strlen(in));
        assert_string_equal(check_answer(&ordinary, in, strlen(in)), wanted);
    }
}

static void next_token(void **state)
{
    (void)state;
    answer_plan p = {false, 8, 0};
    static const struct {
        const char *fields, *token;
    } rows[] = {
        {"X-Next-Token: abcdefg\r\n", "abcdefg"}, {"x-next-token:  abc \t \r\n", "abc"}, {"X-Next-Token:\r\n", ""}, {"", ""},
        {"X-Next-Token: a\r\nX-Next-Token: b\r\n", "b"}, {"X-Next-Tokens: abc\r\n", ""}, {"X-Next-Toke: abc\r\n", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char in[200], wanted[100];
        snprintf(in, sizeof in, OK_HEAD "%sContent-Length: 0\r\n\r\n", rows[i].fields);
        snprintf(wanted, sizeof wanted, "head 200 retry 0 token %s\ncomplete keep\ndone %zu\n", rows[i].token, strlen(in));
        assert_string_equal(check_answer(&p, in, strlen(in)), wanted);
    }
    const char too_long[] = OK_HEAD "X-Next-Token: abcdefgh\r\n\r\n";
    const char trailer[] = CHUNKED "0\r\nX-Next-Token: late\r\nRetry-After: 9\r\nContent-Encoding: gzip\r\n\r\n";
    const char *log = check_answer(&p, too_long, sizeof too_long - 1);
    assert_string_equal(log, "E2B_LIMIT\nbad\n");
    /* Nobody asked for it: any length. */
    good(&ordinary, OK_HEAD "X-Next-Token: abcdefgh\r\nContent-Length: 0\r\n\r\n", 200, "", "keep");
    /* In a trailer it means nothing; its place may be gone by then. */
    log = check_answer(&p, trailer, sizeof trailer - 1);
    assert_non_null(strstr(log, "complete keep\ndone"));
}

/* ---- Limits, at one below, at and one above ------------------------------------- */

typedef struct bytes {
    char *at;
    size_t len, size;
} bytes;

static void add(bytes *b, const char *text)
{
    size_t len = strlen(text);
    assert_true(b->len + len < b->size);
    memcpy(b->at + b->len, text, len);
    b->len += len;
}

static void add_many(bytes *b, const char *text, size_t times)
{
    while (times--) add(b, text);
}

static bytes new_bytes(void)
{
    bytes b = {malloc(1 << 20), 0, 1 << 20};
    assert_non_null(b.at);
    return b;
}

/* Ends with a line that only the answer's acceptance or the error can give. */
static void check_limit(const bytes *b, bool accepted)
{
    const char *log = (b->len < 2000 ? check_answer : read_answer)(&ordinary, b->at, b->len);
    if ((strstr(log, "E2B_LIMIT\nbad\n") != NULL) == accepted) fail_msg("%s", accepted ? "refused" : "accepted");
    if (accepted) assert_non_null(strstr(log, "\ndone "));
}

static void limit_of_the_head(void **state)
{
    (void)state;
    const char front[] = OK_HEAD "A: ", back[] = "\r\nContent-Length: 0\r\n\r\n";
    for (int more = -1; more <= 1; more++) {
        bytes b = new_bytes();
        add(&b, front);
        add_many(&b, "x", (size_t)((int)E2B_HTTP_HEAD_BYTES + more) - strlen(front) - strlen(back));
        add(&b, back);
        check_limit(&b, more <= 0);
        /* The same as reason, and as trailers. */
        b.len = 0;
        add(&b, "HTTP/1.1 200 ");
        add_many(&b, "x", (size_t)((int)E2B_HTTP_HEAD_BYTES + more) - 13 - strlen(back));
        add(&b, back);
        check_limit(&b, more <= 0);
        b.len = 0;
        add(&b, CHUNKED "0\r\nA: ");
        add_many(&b, "x", (size_t)((int)E2B_HTTP_HEAD_BYTES + more) - 7);
        add(&b, "\r\n\r\n");
        check_limit(&b, more <= 0);
        free(b.at);
    }
}

static void limit_of_fields(void **state)
{
    (void)state;
    for (int more = -1; more <= 1; more++) {
        bytes b = new_bytes();
        add(&b, OK_HEAD "Content-Length: 0\r\n");
        add_many(&b, "A: b\r\n", (size_t)((int)E2B_HTTP_FIELDS + more - 1));
        add(&b, "\r\n");
        check_limit(&b, more <= 0);
        b.len = 0;
        add(&b, CHUNKED "0\r\n");
        add_many(&b, "A: b\r\n", (size_t)((int)E2B_HTTP_FIELDS + more));
        add(&b, "\r\n");
        check_limit(&b, more <= 0);
        free(b.at);
    }
}

static void limit_of_informational(void **state)
{
    (void)state;
    for (int more = -1; more <= 1; more++) {
        bytes b = new_bytes();
        add_many(&b, "HTTP/1.1 100 Continue\r\nA: b\r\n\r\n", (size_t)((int)E2B_HTTP_INFORMATIONAL + more));
        add(&b, OK_HEAD "Content-Length: 0\r\n\r\n");
        check_limit(&b, more <= 0);
        free(b.at);
    }
}

static void limit_of_a_chunk_line(void **state)
{
    (void)state;
    for (int more = -1; more <= 1; more++) {
        bytes b = new_bytes();
        size_t line = (size_t)((int)E2B_HTTP_CHUNK_LINE + more) - 1; /* the CR counts */
        add(&b, CHUNKED);
        add_many(&b, "0", line - 1);
        add(&b, "1\r\na\r\n0\r\n\r\n");
        check_limit(&b, more <= 0);
        b.len = 0;
        add(&b, CHUNKED "1;");
        add_many(&b, "x", line - 2);
        add(&b, "\r\na\r\n0\r\n\r\n");
        check_limit(&b, more <= 0);
        b.len = 0;
        add(&b, CHUNKED "1\r\na\r\n0;");
        add_many(&b, "x", line - 2);
        add(&b, "\r\n\r\n");
        check_limit(&b, more <= 0);
        free(b.at);
    }
}

/* One chunk of a byte costs the line, its data's CR LF and the line's own; the
 * budget at its data is what the body before allows. */
static void limit_of_framing(void **state)
{
    (void)state;
    enum { LINE = 60 };
    for (int more = -1; more <= 1; more++) {
        bytes b = new_bytes();
        add(&b, CHUNKED);
        /* n chunks cost 64 n - 2 and allow 16384 + 8 (n - 1): n = 292 costs 18686 of 18712. */
        for (int i = 0; i < 292; i++) {
            add(&b, "1;");
            add_many(&b, "x", LINE - 2);
            add(&b, "\r\na\r\n");
        }
        /* 18688 so far; 8 * 292 + 16384 = 18720 are allowed: 32 more. */
        add(&b, "1;");
        add_many(&b, "x", (size_t)(32 + more) - 4);
        add(&b, "\r\na\r\n0\r\n\r\n");
        check_limit(&b, more <= 0);
        free(b.at);
    }
}

/* Bytes for ever, of every kind that has no natural end. */
static void endless(void **state)
{
    (void)state;
    static const struct {
        const char *front, *again;
    } rows[] = {
        {"HTTP/1.1 200 ", "x"}, {"\r\n", "\r\n"}, {OK_HEAD "A: ", "x"}, {OK_HEAD, "A: b\r\n"}, {OK_HEAD "A", "a"},
        {"", "HTTP/1.1 100 Continue\r\n\r\n"}, {CHUNKED, "0"}, {CHUNKED "1;", "x"}, {CHUNKED, "1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\na\r\n"},
        {CHUNKED "0\r\nA: ", "x"}, {CHUNKED "0\r\n", "A: b\r\n"}, {OK_HEAD "Content-Length: ", "0"}, {OK_HEAD "Retry-After: ", "1"},
        {"HTTP/1.1 2", "0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        e2b_http http;
        e2b_str body;
        size_t used, total = 0, piece = strlen(rows[i].again);
        e2b_http_start(&http, false, NULL, 0);
        int32_t kind = E2B_HTTP_MORE;
        for (size_t at = 0; at < strlen(rows[i].front) && kind != E2B_HTTP_BAD; at += used)
            kind = e2b_http_read(&http, rows[i].front + at, strlen(rows[i].front) - at, &used, &body);
        while (kind != E2B_HTTP_BAD) {
            for (size_t at = 0; at < piece && kind != E2B_HTTP_BAD; at += used)
                kind = e2b_http_read(&http, rows[i].again + at, piece - at, &used, &body);
            total += piece;
            assert_true(total < 100000);
        }
        if (http.err != E2B_LIMIT && i != 1 && i != 13) fail_msg("row %zu: %s", i, e2b_err_name(http.err));
    }
}

/* Every body that one-byte chunks carry passes, however long. */
static void small_chunks_pass(void **state)
{
    (void)state;
    e2b_http http;
    e2b_str body;
    size_t used;
    e2b_http_start(&http, false, NULL, 0);
    assert_int_equal(e2b_http_read(&http, CHUNKED, strlen(CHUNKED), &used, &body), E2B_HTTP_HEAD);
    for (size_t i = 0; i < 200000; i++) {
        assert_int_equal(e2b_http_read(&http, "1\r\na", 4, &used, &body), E2B_HTTP_BODY);
        assert_int_equal(e2b_http_read(&http, "\r\n", 2, &used, &body), E2B_HTTP_MORE);
    }
    assert_int_equal(http.body_bytes, 200000);
    assert_int_equal(e2b_http_read(&http, "0\r\n\r\n", 5, &used, &body), E2B_HTTP_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_by_length), cmocka_unit_test(bodies_in_chunks), cmocka_unit_test(bodies_until_the_end),
        cmocka_unit_test(answers_without_a_body), cmocka_unit_test(informational_answers), cmocka_unit_test(no_status_between),
        cmocka_unit_test(keeping_the_link), cmocka_unit_test(two_answers_in_one_read), cmocka_unit_test(started_again),
        cmocka_unit_test(the_end_is_found_at_once), cmocka_unit_test(status_lines), cmocka_unit_test(field_lines),
        cmocka_unit_test(lengths), cmocka_unit_test(chunk_lines), cmocka_unit_test(compressed), cmocka_unit_test(retry_after),
        cmocka_unit_test(next_token), cmocka_unit_test(limit_of_the_head), cmocka_unit_test(limit_of_fields),
        cmocka_unit_test(limit_of_informational), cmocka_unit_test(limit_of_a_chunk_line), cmocka_unit_test(limit_of_framing),
        cmocka_unit_test(endless), cmocka_unit_test(small_chunks_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
