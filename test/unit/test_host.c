/* The public name of a port of a sandbox. */
#include "envd_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_name(void **state)
{
    envd_peer *peer = *state;
    char out[400];
    envd_peer_check(peer, e2b_sandbox_host(&peer->sandbox, 3000, out, sizeof out), E2B_OK);
    assert_string_equal(out, "3000-isandbox1.example.test");
    envd_peer_check(peer, e2b_sandbox_host(&peer->sandbox, 65535, out, sizeof out), E2B_OK);
    assert_string_equal(out, "65535-isandbox1.example.test");
    /* The service said nothing: the client's domain. */
    peer->sandbox.domain[0] = '\0';
    envd_peer_check(peer, e2b_sandbox_host(&peer->sandbox, 80, out, sizeof out), E2B_OK);
    assert_string_equal(out, "80-isandbox1.e2b.app");
    assert_int_equal(peer->port.calls, 0);
}

static void test_debug(void **state)
{
    envd_peer *peer = *state;
    char out[32];
    peer->client.debug = 1;
    envd_peer_check(peer, e2b_sandbox_host(&peer->sandbox, 8080, out, sizeof out), E2B_OK);
    assert_string_equal(out, "localhost:8080");
}

static void test_too_small(void **state)
{
    envd_peer *peer = *state;
    static const char name[] = "3000-isandbox1.example.test";
    for (size_t size = 0; size <= sizeof name + 1; size++) {
        char out[64];
        memset(out, '#', sizeof out);
        e2b_err err = e2b_sandbox_host(&peer->sandbox, 3000, out, size);
        envd_peer_check(peer, err, size < sizeof name ? E2B_TOO_SMALL : E2B_OK);
        if (err) assert_int_equal(peer->client.error.needed, sizeof name);
        if (err && size) assert_memory_equal(out, name, size - 1);
        if (size) assert_int_equal(out[size < sizeof name ? size - 1 : sizeof name - 1], '\0');
        for (size_t i = size; i < sizeof out; i++) assert_int_equal(out[i], '#');
    }
}

static void test_zeroed(void **state)
{
    (void)state;
    e2b_sandbox none;
    char out[8];
    memset(&none, 0, sizeof none);
    assert_int_equal(e2b_sandbox_host(&none, 80, out, sizeof out), E2B_STATE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, envd_peer_setup, envd_peer_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {TEST(test_name), TEST(test_debug), TEST(test_too_small), TEST(test_zeroed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
