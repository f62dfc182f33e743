#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check_str.h"
#include "wire/url.h"

static void good_urls(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *path;
        uint16_t port;
        bool tls;
    } rows[] = {
        {"https://api.e2b.app", "api.e2b.app", "", 0, true},
        {"http://localhost", "localhost", "", 0, false},
        {"http://localhost:3000", "localhost", "", 3000, false},
        {"http://localhost:80", "localhost", "", 0, false},
        {"https://localhost:443", "localhost", "", 0, true},
        {"http://localhost:443", "localhost", "", 443, false},
        {"https://localhost:80/", "localhost", "", 80, true},
        {"https://localhost:65535/a/b", "localhost", "/a/b", 65535, true},
        {"http://example.test/", "example.test", "", 0, false},
        {"http://example.test///", "example.test", "", 0, false},
        {"http://example.test/base//", "example.test", "/base", 0, false},
        {"http://example.test./x", "example.test.", "/x", 0, false},
        {"http://127.0.0.1:8080/x", "127.0.0.1", "/x", 8080, false},
        {"http://[::1]", "::1", "", 0, false},
        {"https://[fe80::1%eth0]:8443/x", "fe80::1%eth0", "/x", 8443, true},
        {"http://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1", "", 0, false},
        {"http://a_b-c.test/~x/%20:@", "a_b-c.test", "/~x/%20:@", 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        e2b_url url;
        assert_true(e2b_url_parse(str_of(rows[i].text), &url));
        check_str(url.host, str_of(rows[i].host));
        check_str(url.path, str_of(rows[i].path));
        assert_int_equal(url.port, rows[i].port);
        assert_int_equal(url.tls, rows[i].tls);
    }
}

static void bad_urls(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "", "http", "http:", "http:/", "http://", "https://", "ftp://x", "HTTP://x", "//x", "x", "http://:80", "http:///x",
        "http://x:", "http://x:0", "http://x:65536", "http://x:99999999999999999999", "http://x:-1", "http://x:+1", "http://x:8o",
        "http://x: 80", "http://x:80:80", "http://x?y", "http://x/?y", "http://x/#y", "http://x#y", "http://user@x",
        "http://user:secret@x", "http://a b", "http://x/a b", "http://x\r\nHost: y", "http://x/\n", "http://x/\x7f", "http://x/\x80",
        "http://.x", "http://x..y", "http://[]", "http://[::1", "http://::1", "http://[::1]x", "http://[x]", "http://[1.2.3.4]",
        "http://[::g]", "http://[fe80::1%]x", "http://[fe80::1%a%b]", "http://x\ty", " http://x", "http://x\\y", "http://x,y",
        "http://\xc3\xa9",
    };
    e2b_url url;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (e2b_url_parse(str_of(rows[i]), &url)) fail_msg("accepted: %s", rows[i]);
    assert_false(e2b_url_parse((e2b_str){NULL, 0}, &url));
    assert_false(e2b_url_parse((e2b_str){"http://x\0y", 10}, &url));
    assert_false(e2b_url_parse((e2b_str){"http://[::1\0]", 13}, &url));
}

static void host_names(void **state)
{
    (void)state;
    char name[300];
    static const char *const bad[] = {"", ".", "..", ".a", "a..b", "a b", "a\n", "a:1", "a/b", "a@b", "[::1]", "a%b", "\xc3\xa9", "a\\"};
    static const char *const good[] = {"a", "a.b", "a.", "A-1_b", "0", "1.2.3.4", "xn--e1aybc"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(e2b_host_name_valid(str_of(bad[i])));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(e2b_host_name_valid(str_of(good[i])));
    assert_false(e2b_host_name_valid((e2b_str){"a\0b", 3}));
    memset(name, 'a', sizeof name);
    assert_true(e2b_host_name_valid((e2b_str){name, 63}));
    assert_false(e2b_host_name_valid((e2b_str){name, 64}));
    for (size_t i = 50; i < sizeof name; i += 51) name[i] = '.';
    assert_true(e2b_host_name_valid((e2b_str){name, 252}));
    assert_true(e2b_host_name_valid((e2b_str){name, 253}));
    assert_false(e2b_host_name_valid((e2b_str){name, 254}));
}

static void addresses(void **state)
{
    (void)state;
    static const char *const good[] = {"127.0.0.1", "::1", "::", "2001:db8::1", "::ffff:1.2.3.4", "FE80::A%eth0"};
    static const char *const bad[] = {"", "localhost", "1.2.3.4a", "a", "1.2.3.4%eth0", "::1%a%b", "::1%-", "[::1]", "::g", "1 2", "1.2\n",
                                      "1.2.3.4:80x", "::1/64", "e2b"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(e2b_address_valid(str_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (e2b_address_valid(str_of(bad[i]))) fail_msg("accepted: %s", bad[i]);
}

static void words(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text[3] = {'a', (char)c, 'b'};
        assert_int_equal(e2b_word_valid((e2b_str){text, 3}), c > 0x20 && c < 0x7f);
        assert_int_equal(e2b_word_valid((e2b_str){text + 1, 1}), c > 0x20 && c < 0x7f);
    }
    assert_false(e2b_word_valid((e2b_str){NULL, 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_urls), cmocka_unit_test(bad_urls), cmocka_unit_test(host_names),
        cmocka_unit_test(addresses), cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
