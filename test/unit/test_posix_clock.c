/* Clock and randomness. */
#include "loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_clock_and_randomness(void **state)
{
    uint8_t *bytes = calloc(2, 1 << 20);
    (void)state;
    uint64_t before = loopback_port.port.now_ms(&loopback_port);
    assert_true(loopback_port.port.now_ms(&loopback_port) >= before);
    assert_true(loopback_port.port.unix_time(&loopback_port) > 1600000000);
    assert_int_equal(loopback_port.port.random(&loopback_port, bytes, 1 << 20), E2B_IO_OK);
    assert_int_equal(loopback_port.port.random(&loopback_port, bytes + (1 << 20), 1 << 20), E2B_IO_OK);
    assert_memory_not_equal(bytes, bytes + (1 << 20), 1 << 20);
    /* The last bytes are as random as the first. */
    assert_memory_not_equal(bytes + (1 << 20) - 16, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PORT(test_clock_and_randomness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
