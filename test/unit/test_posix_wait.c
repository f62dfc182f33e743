/* What ends a wait of the POSIX port. */
#include "loopback.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Waiting ---------------------------------------------------------------------------- */

static volatile sig_atomic_t alarms;
static volatile sig_atomic_t wakes;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
    if (wakes)
        e2b_posix_wake(&loopback_port);
}

static void start_timer(int flags)
{
    struct sigaction action;
    struct itimerval interval = {{0, 5000}, {0, 5000}};
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = flags;
    alarms = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &interval, NULL);
}

static void stop_timer(void)
{
    struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &none, NULL);
    signal(SIGALRM, SIG_DFL);
    alarm(120);
}

static void test_a_signal_ends_a_wait(void **state)
{
    e2b_link link;
    char byte;
    int ends[2];
    (void)state;
    int peer = loopback_connected(&link);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    e2b_posix_watch(&loopback_port, ends[0], POLLIN);
    assert_int_equal(loopback_wait(&link, E2B_WANT_RECV, UINT32_MAX), 0);
    assert_int_equal(e2b_posix_ready(&loopback_port, ends[0]), POLLIN);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    wakes = 0;
    start_timer(0);
    assert_int_equal(loopback_wait(&link, E2B_WANT_RECV, UINT32_MAX), 0);
    assert_true(alarms > 0);
    assert_int_equal(e2b_posix_ready(&loopback_port, ends[0]), 0);
    wakes = 1;
    assert_int_equal(loopback_wait(&link, E2B_WANT_RECV, UINT32_MAX), 0);
    stop_timer();
    close(ends[0]);
    close(ends[1]);
    loopback_hang_up(&link, false);
    close(peer);
}

static void test_wake(void **state)
{
    uint64_t space[E2B_WAIT_SPARE];
    (void)state;
    /* Woken before the wait, and more often than a pipe can hold. */
    for (int i = 0; i < 100000; i++)
        e2b_posix_wake(&loopback_port);
    assert_int_equal(loopback_port.port.wait(&loopback_port, NULL, 0, space, UINT32_MAX), E2B_IO_OK);
    uint64_t before = loopback_port.port.now_ms(&loopback_port);
    while (loopback_port.port.now_ms(&loopback_port) < before + 5)
        assert_int_equal(loopback_port.port.wait(&loopback_port, NULL, 0, space, 5), E2B_IO_OK);
    loopback_port.port.wake_ms = 1;
    assert_int_equal(loopback_port.port.wait(&loopback_port, NULL, 0, space, UINT32_MAX), E2B_IO_OK);
}

static void test_wait_on_several(void **state)
{
    uint64_t space[4 + E2B_WAIT_SPARE];
    e2b_link links[4];
    e2b_wait_item items[4];
    int peers[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        peers[i] = loopback_connected(&links[i]);
        items[i].link = &links[i];
        items[i].wanted = E2B_WANT_RECV;
        items[i].ready = 3;
    }
    items[0].wanted = 0;
    assert_int_equal(write(peers[0], "x", 1), 1);
    assert_int_equal(write(peers[2], "x", 1), 1);
    assert_int_equal(loopback_port.port.wait(&loopback_port, items, 4, space, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(items[0].ready, 0);
    assert_int_equal(items[1].ready, 0);
    assert_int_equal(items[2].ready, E2B_WANT_RECV);
    assert_int_equal(items[3].ready, 0);
    for (int i = 0; i < 4; i++) {
        loopback_hang_up(&links[i], false);
        close(peers[i]);
    }
}

static void test_watch(void **state)
{
    uint64_t space[E2B_WAIT_SPARE];
    int ends[2], others[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(others), 0);
    assert_int_equal(e2b_posix_watch(&loopback_port, ends[0], POLLIN), E2B_OK);
    assert_int_equal(e2b_posix_watch(&loopback_port, others[0], POLLIN), E2B_OK);
    assert_int_equal(loopback_port.port.wait(&loopback_port, NULL, 0, space, 0), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&loopback_port, ends[0]), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(loopback_port.port.wait(&loopback_port, NULL, 0, space, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&loopback_port, ends[0]), POLLIN);
    assert_int_equal(e2b_posix_ready(&loopback_port, others[0]), 0);
    assert_int_equal(e2b_posix_watch(&loopback_port, ends[0], 0), E2B_OK);
    assert_int_equal(e2b_posix_watch(&loopback_port, ends[0], 0), E2B_OK);
    assert_int_equal(e2b_posix_watch(&loopback_port, others[0], POLLIN), E2B_OK);
    assert_int_equal(loopback_port.watch_count, 1);
    assert_int_equal(loopback_port.port.wait(&loopback_port, NULL, 0, space, 0), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&loopback_port, ends[0]), 0);

    assert_int_equal(e2b_posix_watch(&loopback_port, ends[1], POLLOUT), E2B_OK);
    assert_int_equal(loopback_port.port.wait(&loopback_port, NULL, 0, space, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&loopback_port, ends[1]), POLLOUT);
    assert_int_equal(e2b_posix_watch(&loopback_port, ends[0], POLLIN), E2B_OK);
    assert_int_equal(e2b_posix_watch(&loopback_port, others[1], POLLOUT), E2B_OK);
    assert_int_equal(e2b_posix_watch(&loopback_port, 0, POLLIN), E2B_LIMIT);
    assert_int_equal(e2b_posix_watch(&loopback_port, -1, 0), E2B_OK);
    assert_int_equal(loopback_port.port.wait(&loopback_port, NULL, 0, space, 0), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&loopback_port, ends[1]), 0);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PORT(test_a_signal_ends_a_wait),
        WITH_PORT(test_wake),
        WITH_PORT(test_wait_on_several),
        WITH_PORT(test_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
