#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check_str.h"
#include "wire/request.h"

static void write_subject(e2b_text *text, const void *subject)
{
    e2b_text_string(text, subject);
}

static void write_query(e2b_text *text, const void *subject)
{
    (void)subject;
    e2b_text_string(text, "?limit=100");
}

/* Writes it at once and through every window, which must give the same. */
static void check(const e2b_request *request, const char *head, const char *body, size_t body_len)
{
    char whole[2048], window[2048], expected[2048];
    e2b_text text = {whole, sizeof whole, 0, 0};
    size_t len = strlen(head);
    memcpy(expected, head, len);
    if (body_len) memcpy(expected + len, body, body_len);
    e2b_request_write(request, &text);
    check_str((e2b_str){whole, (size_t)text.total}, (e2b_str){expected, len + body_len});
    for (size_t size = 1; size <= text.total; size++) {
        e2b_text again = {window, size, 0, 0};
        while (again.skip < text.total) {
            again.total = 0;
            e2b_request_write(request, &again);
            size_t stored = e2b_text_stored(&again);
            assert_memory_equal(window, whole + again.skip, stored);
            assert_int_equal(again.total, text.total);
            assert_true(stored > 0);
            again.skip += stored;
        }
    }
}

#define ACCEPT "Accept: application/json\r\nAccept-Encoding: identity\r\n"

static void the_least(void **state)
{
    (void)state;
    e2b_request request = {.method = "GET", .path = "/health", .host = str_of("example.test")};
    check(&request, "GET /health HTTP/1.1\r\nHost: example.test\r\n" ACCEPT "\r\n", NULL, 0);
}

static void all_there_is(void **state)
{
    (void)state;
    e2b_request request = {
        .method = "POST", .base_path = str_of("/base"), .path = "/sandboxes/", .id = str_of("abc"), .path_end = "/connect",
        .query = write_query, .host = str_of("example.test"), .tcp_port = 3000, .user_agent = str_of("test/1"),
        .api_key = str_of("e2b_00"), .sandbox_id = str_of("abc"), .access_token = str_of("token"), .user = "user",
        .content_type = "application/connect+json", .connect = true, .enveloped = true, .keepalive = true,
        .timeout_ms = 4294967294u, .body = write_subject, .subject = "{\"a\":1}",
    };
    check(&request,
          "POST /base/sandboxes/abc/connect?limit=100 HTTP/1.1\r\nHost: example.test:3000\r\nUser-Agent: test/1\r\n" ACCEPT
          "X-API-Key: e2b_00\r\nE2b-Sandbox-Id: abc\r\nE2b-Sandbox-Port: 49983\r\nX-Access-Token: token\r\n"
          "Authorization: Basic dXNlcjo=\r\nConnect-Protocol-Version: 1\r\nConnect-Timeout-Ms: 4294967294\r\n"
          "Keepalive-Ping-Interval: 50\r\nContent-Type: application/connect+json\r\nContent-Length: 12\r\n\r\n",
          "\0\0\0\0\7{\"a\":1}", 12);
}

static void bodies(void **state)
{
    (void)state;
    e2b_request request = {.method = "POST", .path = "/x", .host = str_of("h"), .content_type = "application/json"};
    check(&request, "POST /x HTTP/1.1\r\nHost: h\r\n" ACCEPT "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n", NULL, 0);
    request.enveloped = true;
    check(&request, "POST /x HTTP/1.1\r\nHost: h\r\n" ACCEPT "Content-Type: application/json\r\nContent-Length: 5\r\n\r\n",
          "\0\0\0\0\0", 5);
    request.enveloped = false;
    request.body = write_subject;
    request.subject = "{}";
    check(&request, "POST /x HTTP/1.1\r\nHost: h\r\n" ACCEPT "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n", "{}", 2);
}

static void long_envelopes(void **state)
{
    (void)state;
    char *body = malloc(70000), *out = malloc(72000);
    memset(body, 'x', 69999);
    body[66051] = '\0'; /* 0x010203 */
    e2b_request request = {.method = "POST", .path = "/x", .host = str_of("h"), .content_type = "t", .enveloped = true,
                           .body = write_subject, .subject = body};
    e2b_text text = {out, 72000, 0, 0};
    e2b_request_write(&request, &text);
    const uint8_t prefix[5] = {0, 0, 1, 2, 3};
    assert_memory_equal(out + text.total - 66056, prefix, 5);
    assert_non_null(strstr(out, "Content-Length: 66056\r\n"));
    free(body);
    free(out);
}

static void hosts(void **state)
{
    (void)state;
    e2b_request request = {.method = "GET", .path = "/", .host = str_of("::1")};
    check(&request, "GET / HTTP/1.1\r\nHost: [::1]\r\n" ACCEPT "\r\n", NULL, 0);
    request.tcp_port = 8080;
    check(&request, "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n" ACCEPT "\r\n", NULL, 0);
    request.host = str_of("127.0.0.1");
    check(&request, "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" ACCEPT "\r\n", NULL, 0);
}

static void the_longest_user(void **state)
{
    (void)state;
    char user[129];
    memset(user, 'u', 128);
    user[128] = '\0';
    e2b_request request = {.method = "GET", .path = "/", .host = str_of("h"), .user = user};
    char out[512] = {0};
    e2b_text text = {out, sizeof out, 0, 0};
    e2b_request_write(&request, &text);
    const char *basic = strstr(out, "Basic ");
    assert_non_null(basic);
    /* 129 bytes: 172 characters, the last group is "uu:". */
    assert_int_equal(strcspn(basic + 6, "\r"), 172);
    assert_memory_equal(basic + 6 + 168, "dXU6", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least), cmocka_unit_test(all_there_is), cmocka_unit_test(bodies),
        cmocka_unit_test(long_envelopes), cmocka_unit_test(hosts), cmocka_unit_test(the_longest_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
