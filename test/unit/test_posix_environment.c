/* Options from the environment. */
#include "loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void clear_environment(void)
{
    static const char *const names[] = {"E2B_API_KEY", "E2B_API_URL", "E2B_SANDBOX_URL",
                                        "E2B_DOMAIN",  "E2B_DEBUG",   "E2B_VALIDATE_API_KEY"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

static void test_environment(void **state)
{
    e2b_client_options options = {0};
    (void)state;
    clear_environment();
    assert_int_equal(e2b_posix_environment(&loopback_port, &options), E2B_OK);
    assert_null(options.api_key);
    assert_null(options.api_url);
    assert_int_equal(options.debug, 0);
    assert_int_equal(options.validate_api_key, 0);

    setenv("E2B_API_KEY", "e2b_0a", 1);
    setenv("E2B_API_URL", "http://api.example", 1);
    setenv("E2B_SANDBOX_URL", "http://sandbox.example", 1);
    setenv("E2B_DOMAIN", "example.test", 1);
    setenv("E2B_DEBUG", "tRuE", 1);
    setenv("E2B_VALIDATE_API_KEY", "FALSE", 1);
    e2b_posix_environment(&loopback_port, &options);
    assert_string_equal(options.api_key, "e2b_0a");
    assert_string_equal(options.api_url, "http://api.example");
    assert_string_equal(options.sandbox_url, "http://sandbox.example");
    assert_string_equal(options.domain, "example.test");
    assert_int_equal(options.debug, E2B_YES);
    assert_int_equal(options.validate_api_key, E2B_NO);

    /* What the caller has set wins; an empty string is not set. */
    memset(&options, 0, sizeof options);
    options.api_key = "";
    options.domain = "own.test";
    options.debug = E2B_NO;
    options.validate_api_key = E2B_YES;
    e2b_posix_environment(&loopback_port, &options);
    assert_string_equal(options.api_key, "e2b_0a");
    assert_string_equal(options.domain, "own.test");
    assert_int_equal(options.debug, E2B_NO);
    assert_int_equal(options.validate_api_key, E2B_YES);

    /* No other word counts, and an empty variable is the default, the key excepted. */
    memset(&options, 0, sizeof options);
    setenv("E2B_API_KEY", "", 1);
    setenv("E2B_API_URL", "", 1);
    setenv("E2B_DEBUG", "1", 1);
    setenv("E2B_VALIDATE_API_KEY", "0", 1);
    e2b_posix_environment(&loopback_port, &options);
    assert_string_equal(options.api_key, "");
    assert_null(options.api_url);
    assert_int_equal(options.debug, 0);
    assert_int_equal(options.validate_api_key, 0);
    clear_environment();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PORT(test_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
