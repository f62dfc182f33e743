/* The POSIX port over loopback: bytes, ends, the trace, what it holds. */
#include "loopback.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Bytes and ends ------------------------------------------------------------------ */

static void test_bytes_and_orderly_end(void **state)
{
    e2b_link link;
    char buffer[8];
    (void)state;
    int peer = loopback_connected(&link);
    assert_int_equal(loopback_port.port.recv(loopback_port.port.context, &link, buffer, 8), E2B_IO_AGAIN);
    assert_int_equal(loopback_wait(&link, E2B_WANT_RECV, 0), 0);
    assert_int_equal(loopback_wait(&link, E2B_WANT_SEND | E2B_WANT_RECV, UINT32_MAX), E2B_WANT_SEND);
    assert_int_equal(write(peer, "abc", 3), 3);
    assert_int_equal(loopback_wait(&link, E2B_WANT_RECV, UINT32_MAX), E2B_WANT_RECV);
    assert_int_equal(loopback_take(&link, buffer, 2), 2);
    assert_int_equal(loopback_take(&link, buffer, 2), 1);
    close(peer);
    assert_int_equal(loopback_wait(&link, E2B_WANT_RECV, UINT32_MAX), E2B_WANT_RECV);
    assert_int_equal(loopback_take(&link, buffer, 8), E2B_IO_END);
    assert_int_equal(loopback_take(&link, buffer, 8), E2B_IO_END);
    loopback_hang_up(&link, false);
    /* A closed link is refused, and closing it again does nothing. */
    assert_int_equal(loopback_port.port.recv(loopback_port.port.context, &link, buffer, 8), E2B_IO_FAILED);
    loopback_hang_up(&link, false);
}

static void test_reset_by_the_peer(void **state)
{
    e2b_link link;
    char buffer[8];
    (void)state;
    int peer = loopback_connected(&link);
    loopback_reset(peer);
    assert_int_equal(loopback_wait(&link, E2B_WANT_RECV, UINT32_MAX), E2B_WANT_RECV);
    assert_int_equal(loopback_take(&link, buffer, 8), E2B_IO_RESET);
    assert_int_equal(link.error, ECONNRESET);
    assert_int_equal(loopback_take(&link, buffer, 8), E2B_IO_RESET);
    assert_int_equal(loopback_give(&link, "x", 1), E2B_IO_RESET);
    assert_int_equal(loopback_wait(&link, E2B_WANT_SEND, UINT32_MAX), E2B_WANT_SEND);
    loopback_hang_up(&link, false);
}

static void test_an_answer_before_the_reset_is_read(void **state)
{
    e2b_link link;
    char buffer[8];
    (void)state;
    int peer = loopback_connected(&link);
    assert_int_equal(write(peer, "413", 3), 3);
    loopback_reset(peer);
    while (loopback_port.port.send(loopback_port.port.context, &link, "x", 1) != E2B_IO_RESET)
        loopback_wait(&link, E2B_WANT_RECV, UINT32_MAX);
    assert_int_equal(loopback_give(&link, "x", 1), E2B_IO_RESET);
    int32_t n = loopback_take(&link, buffer, 8);
    /* Some kernels drop what a reset follows; none may call it an orderly end. */
    if (n == 3)
        n = loopback_take(&link, buffer, 8);
    assert_int_equal(n, E2B_IO_RESET);
    loopback_hang_up(&link, false);
}

static void test_sending_to_a_peer_that_ended(void **state)
{
    e2b_link link;
    char buffer[8];
    int32_t n;
    (void)state;
    int peer = loopback_connected(&link);
    close(peer);
    /* SIGPIPE has its default action here, which would end this program. */
    do
        n = loopback_give(&link, "x", 1);
    while (n > 0);
    assert_int_equal(n, E2B_IO_RESET);
    n = loopback_take(&link, buffer, 8);
    assert_true(n == E2B_IO_END || n == E2B_IO_RESET);
    loopback_hang_up(&link, false);
}

static void test_close_and_abort(void **state)
{
    e2b_link link;
    char byte;
    (void)state;
    int peer = loopback_connected(&link);
    loopback_hang_up(&link, false);
    assert_int_equal(read(peer, &byte, 1), 0);
    close(peer);
    peer = loopback_connected(&link);
    loopback_hang_up(&link, true);
    assert_int_equal(read(peer, &byte, 1), -1);
    assert_int_equal(errno, ECONNRESET);
    close(peer);
}

static void test_more_than_the_buffers_hold(void **state)
{
    enum { SIZE = 8 * 1024 * 1024 };
    e2b_link link;
    (void)state;
    uint8_t *out = malloc(SIZE), *in = malloc(SIZE);
    int peer = loopback_connected(&link);
    size_t sent = 0, got = 0;
    bool blocked = false;
    for (size_t i = 0; i < SIZE; i++)
        out[i] = (uint8_t)(i * 7 + i / 251);
    assert_true(e2b_posix_prepare(peer));
    while (got < SIZE) {
        while (sent < SIZE) {
            int32_t n = loopback_port.port.send(loopback_port.port.context, &link, out + sent, SIZE - sent);
            if (n == E2B_IO_AGAIN) {
                blocked = true;
                assert_int_equal(loopback_wait(&link, E2B_WANT_SEND, 0), 0);
                break;
            }
            assert_true(n > 0);
            sent += (size_t)n;
        }
        ssize_t n = read(peer, in + got, SIZE - got);
        if (n > 0)
            got += (size_t)n;
        else if (sent < SIZE)
            assert_int_equal(loopback_wait(&link, E2B_WANT_SEND, UINT32_MAX), E2B_WANT_SEND);
    }
    assert_true(blocked);
    assert_memory_equal(in, out, SIZE);
    loopback_hang_up(&link, false);
    close(peer);
    free(in);
    free(out);
}

static void test_options_of_the_socket(void **state)
{
    e2b_link link;
    int on = 0;
    socklen_t size = sizeof on;
    (void)state;
    int peer = loopback_connected(&link);
    int fd = e2b_posix_load(&link).fd;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
    assert_int_not_equal(on, 0);
    int ours[] = {fd, loopback_port.wake_read, loopback_port.wake_write};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        assert_true(fcntl(ours[i], F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(ours[i], F_GETFD) & FD_CLOEXEC);
    }
    loopback_hang_up(&link, false);
    close(peer);
}

static void test_trace(void **state)
{
    e2b_posix_port traced;
    e2b_posix_options options = {0};
    char long_line[2000], got[2048];
    int ends[2];
    (void)state;
    assert_null(loopback_port.port.trace);
    assert_int_equal(pipe(ends), 0);
    options.trace_fd = ends[1];
    assert_int_equal(e2b_posix_open(&traced, &options), E2B_OK);
    traced.port.trace(traced.port.context, "GET /", 5);
    assert_int_equal(read(ends[0], got, sizeof got), 6);
    assert_memory_equal(got, "GET /\n", 6);
    memset(long_line, 'x', sizeof long_line);
    traced.port.trace(traced.port.context, long_line, sizeof long_line);
    assert_int_equal(read(ends[0], got, sizeof got), 512);
    assert_int_equal(got[511], '\n');
    e2b_posix_close(&traced);
    close(ends[0]);
    close(ends[1]);
}

static void test_open_and_close(void **state)
{
    e2b_posix_port other = {0};
    (void)state;
    int before = loopback_lowest_free();
    e2b_posix_close(&other);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(e2b_posix_open(&other, NULL), E2B_OK);
        e2b_posix_close(&other);
    }
    assert_int_equal(loopback_lowest_free(), before);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD) == -1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PORT(test_bytes_and_orderly_end),
        WITH_PORT(test_reset_by_the_peer),
        WITH_PORT(test_an_answer_before_the_reset_is_read),
        WITH_PORT(test_sending_to_a_peer_that_ended),
        WITH_PORT(test_close_and_abort),
        WITH_PORT(test_more_than_the_buffers_hold),
        WITH_PORT(test_options_of_the_socket),
        WITH_PORT(test_trace),
        WITH_PORT(test_open_and_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
