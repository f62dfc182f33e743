/* Any bytes are a script. */
#include "scripted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_any_bytes_are_a_script(void **state)
{
    uint8_t bytes[64];
    uint64_t seed = 1;
    char out[64];
    (void)state;
    for (int round = 0; round < 20000; round++) {
        scripted f;
        scripted_setup(&f);
        size_t length = (size_t)round % sizeof bytes;
        for (size_t i = 0; i < length; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            bytes[i] = (uint8_t)(seed >> 56);
            /* Large counts in the places where numbers stand. */
            if (i > 0 && (seed >> 40) % 4 == 0)
                bytes[i] |= 128;
        }
        scripted_ready(&f);
        /* A block of its own exact size, so that a sanitizer sees a read beyond it. */
        uint8_t *exact = malloc(length + 1);
        memcpy(exact, bytes, length);
        f.port.script = exact;
        f.port.script_length = (uint32_t)length;
        for (int dials = 0; dials < 6; dials++) {
            e2b_link link = scripted_dial(&f);
            for (int i = 0; i < 20; i++) {
                if (i % 3 == 0)
                    scripted_give(&f, &link, "GET / HTTP/1.1\r\n\r\n");
                int32_t n = scripted_take(&f, &link, out, sizeof out);
                assert_true(n != 0 && n <= (int32_t)sizeof out);
                if (n == E2B_IO_AGAIN)
                    scripted_wait(&f, &link, E2B_WANT_RECV, 50);
            }
            scripted_hang_up(&f, &link, false);
        }
        free(exact);
    }
}

static void test_a_script_that_does_not_fit(void **state)
{
    uint8_t memory[4];
    e2b_memory_script script;
    (void)state;
    e2b_memory_script_init(&script, memory, sizeof memory);
    e2b_memory_accept(&script);
    e2b_memory_text(&script, "12");
    assert_true(script.full);
    assert_int_equal(script.length, 1);
    e2b_memory_end(&script);
    assert_int_equal(script.length, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_bytes_are_a_script),
        cmocka_unit_test(test_a_script_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
