/* The POSIX port over loopback: every outcome of every function. A wait that
 * fails to end hangs the program, which the alarm in main ends. */
#include "posix_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

static e2b_posix_port port;
static const char *const *hook_list;
static size_t hook_count;
static int hook_calls;

static size_t hook(void *context, e2b_str host, const char *const **addresses)
{
    assert_ptr_equal(context, &hook_calls);
    assert_true(host.len > 0);
    hook_calls++;
    *addresses = hook_list;
    return hook_count;
}

static int open_port(void **state)
{
    e2b_posix_options options = {0};
    (void)state;
    options.resolve = hook;
    options.resolve_context = &hook_calls;
    hook_calls = 0;
    hook_list = NULL;
    hook_count = 0;
    return e2b_posix_open(&port, &options);
}

static int close_port(void **state)
{
    (void)state;
    e2b_posix_close(&port);
    e2b_posix_close(&port);
    return 0;
}

/* ---- The other side -------------------------------------------------------------- */

/* Bound without listening: the number can't be taken by anybody else, and connecting is refused. */
static int reserve(const char *address, uint16_t *tcp_port)
{
    struct sockaddr_in name;
    socklen_t size = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&name, 0, sizeof name);
    name.sin_family = AF_INET;
    name.sin_port = htons(*tcp_port);
    inet_pton(AF_INET, address, &name.sin_addr);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    *tcp_port = ntohs(name.sin_port);
    return fd;
}

static int serve(uint16_t *tcp_port)
{
    *tcp_port = 0;
    int fd = reserve("127.0.0.1", tcp_port);
    assert_int_equal(listen(fd, 16), 0);
    return fd;
}

static void reset(int peer)
{
    struct linger now = {1, 0};
    assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
    close(peer);
}

/* ---- This side --------------------------------------------------------------------- */

static e2b_target target_of(const char *host, uint16_t tcp_port)
{
    e2b_target target = {0};
    target.host.ptr = host;
    target.host.len = strlen(host);
    target.tcp_port = tcp_port;
    target.connect_ms = 60000;
    return target;
}

static int32_t dial_target(e2b_link *link, const e2b_target *target)
{
    memset(link, 0, sizeof *link);
    return port.port.open(port.port.context, link, target);
}

static int32_t dial(e2b_link *link, const char *host, uint16_t tcp_port)
{
    e2b_target target = target_of(host, tcp_port);
    return dial_target(link, &target);
}

static uint8_t wait_one(e2b_link *link, uint8_t wanted, uint32_t ms)
{
    uint64_t space[1 + E2B_WAIT_SPARE];
    e2b_wait_item item = {link, wanted, 0};
    assert_int_equal(port.port.wait(port.port.context, &item, 1, space, ms), E2B_IO_OK);
    return item.ready;
}

static int32_t take(e2b_link *link, void *buffer, size_t size)
{
    for (;;) {
        int32_t n = port.port.recv(port.port.context, link, buffer, size);
        if (n != E2B_IO_AGAIN)
            return n;
        wait_one(link, E2B_WANT_RECV, UINT32_MAX);
    }
}

static int32_t give(e2b_link *link, const void *data, size_t size)
{
    for (;;) {
        int32_t n = port.port.send(port.port.context, link, data, size);
        if (n != E2B_IO_AGAIN)
            return n;
        wait_one(link, E2B_WANT_SEND, UINT32_MAX);
    }
}

static void hang_up(e2b_link *link, bool abort)
{
    port.port.close(port.port.context, link, abort);
}

/* A link that is up, and the peer's end of it. */
static int connected(e2b_link *link)
{
    uint16_t tcp_port;
    int server = serve(&tcp_port);
    assert_int_equal(dial(link, "127.0.0.1", tcp_port), E2B_IO_OK);
    int peer = accept(server, NULL, NULL);
    assert_true(peer >= 0);
    close(server);
    assert_int_equal(give(link, "!", 1), 1);
    char mark;
    assert_int_equal(read(peer, &mark, 1), 1);
    return peer;
}

/* The lowest descriptor that is free: the same again means that none leaked. */
static int lowest_free(void)
{
    int fd = dup(STDIN_FILENO);
    assert_true(fd >= 0);
    close(fd);
    return fd;
}

/* ---- Bytes and ends ------------------------------------------------------------------ */

static void test_bytes_and_orderly_end(void **state)
{
    e2b_link link;
    char buffer[8];
    (void)state;
    int peer = connected(&link);
    assert_int_equal(port.port.recv(port.port.context, &link, buffer, 8), E2B_IO_AGAIN);
    assert_int_equal(wait_one(&link, E2B_WANT_RECV, 0), 0);
    assert_int_equal(wait_one(&link, E2B_WANT_SEND | E2B_WANT_RECV, UINT32_MAX), E2B_WANT_SEND);
    assert_int_equal(write(peer, "abc", 3), 3);
    assert_int_equal(wait_one(&link, E2B_WANT_RECV, UINT32_MAX), E2B_WANT_RECV);
    assert_int_equal(take(&link, buffer, 2), 2);
    assert_int_equal(take(&link, buffer, 2), 1);
    close(peer);
    assert_int_equal(wait_one(&link, E2B_WANT_RECV, UINT32_MAX), E2B_WANT_RECV);
    assert_int_equal(take(&link, buffer, 8), E2B_IO_END);
    assert_int_equal(take(&link, buffer, 8), E2B_IO_END);
    hang_up(&link, false);
    /* A closed link is refused, and closing it again does nothing. */
    assert_int_equal(port.port.recv(port.port.context, &link, buffer, 8), E2B_IO_FAILED);
    hang_up(&link, false);
}

static void test_reset_by_the_peer(void **state)
{
    e2b_link link;
    char buffer[8];
    (void)state;
    int peer = connected(&link);
    reset(peer);
    assert_int_equal(wait_one(&link, E2B_WANT_RECV, UINT32_MAX), E2B_WANT_RECV);
    assert_int_equal(take(&link, buffer, 8), E2B_IO_RESET);
    assert_int_equal(link.error, ECONNRESET);
    assert_int_equal(take(&link, buffer, 8), E2B_IO_RESET);
    assert_int_equal(give(&link, "x", 1), E2B_IO_RESET);
    assert_int_equal(wait_one(&link, E2B_WANT_SEND, UINT32_MAX), E2B_WANT_SEND);
    hang_up(&link, false);
}

static void test_an_answer_before_the_reset_is_read(void **state)
{
    e2b_link link;
    char buffer[8];
    (void)state;
    int peer = connected(&link);
    assert_int_equal(write(peer, "413", 3), 3);
    reset(peer);
    while (port.port.send(port.port.context, &link, "x", 1) != E2B_IO_RESET)
        wait_one(&link, E2B_WANT_RECV, UINT32_MAX);
    assert_int_equal(give(&link, "x", 1), E2B_IO_RESET);
    int32_t n = take(&link, buffer, 8);
    /* Some kernels drop what a reset follows; none may call it an orderly end. */
    if (n == 3)
        n = take(&link, buffer, 8);
    assert_int_equal(n, E2B_IO_RESET);
    hang_up(&link, false);
}

static void test_sending_to_a_peer_that_ended(void **state)
{
    e2b_link link;
    char buffer[8];
    int32_t n;
    (void)state;
    int peer = connected(&link);
    close(peer);
    /* SIGPIPE has its default action here, which would end this program. */
    do
        n = give(&link, "x", 1);
    while (n > 0);
    assert_int_equal(n, E2B_IO_RESET);
    n = take(&link, buffer, 8);
    assert_true(n == E2B_IO_END || n == E2B_IO_RESET);
    hang_up(&link, false);
}

static void test_close_and_abort(void **state)
{
    e2b_link link;
    char byte;
    (void)state;
    int peer = connected(&link);
    hang_up(&link, false);
    assert_int_equal(read(peer, &byte, 1), 0);
    close(peer);
    peer = connected(&link);
    hang_up(&link, true);
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
    int peer = connected(&link);
    size_t sent = 0, got = 0;
    bool blocked = false;
    for (size_t i = 0; i < SIZE; i++)
        out[i] = (uint8_t)(i * 7 + i / 251);
    assert_true(e2b_posix_prepare(peer));
    while (got < SIZE) {
        while (sent < SIZE) {
            int32_t n = port.port.send(port.port.context, &link, out + sent, SIZE - sent);
            if (n == E2B_IO_AGAIN) {
                blocked = true;
                assert_int_equal(wait_one(&link, E2B_WANT_SEND, 0), 0);
                break;
            }
            assert_true(n > 0);
            sent += (size_t)n;
        }
        ssize_t n = read(peer, in + got, SIZE - got);
        if (n > 0)
            got += (size_t)n;
        else if (sent < SIZE)
            assert_int_equal(wait_one(&link, E2B_WANT_SEND, UINT32_MAX), E2B_WANT_SEND);
    }
    assert_true(blocked);
    assert_memory_equal(in, out, SIZE);
    hang_up(&link, false);
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
    int peer = connected(&link);
    int fd = e2b_posix_load(&link).fd;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
    assert_int_not_equal(on, 0);
    int ours[] = {fd, port.wake_read, port.wake_write};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        assert_true(fcntl(ours[i], F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(ours[i], F_GETFD) & FD_CLOEXEC);
    }
    hang_up(&link, false);
    close(peer);
}

/* ---- Where to ------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    e2b_link link;
    char byte;
    uint16_t tcp_port = 0;
    (void)state;
    int fd = reserve("127.0.0.1", &tcp_port);
    int before = lowest_free();
    for (int i = 0; i < 2000; i++) {
        int32_t answer = dial(&link, "127.0.0.1", tcp_port);
        if (answer == E2B_IO_OK) {
            answer = i % 2 ? take(&link, &byte, 1) : give(&link, "x", 1);
            assert_int_equal(take(&link, &byte, 1), answer);
            hang_up(&link, i % 3 == 0);
        }
        assert_int_equal(answer, E2B_IO_CONNECT);
        assert_int_equal(link.error, ECONNREFUSED);
    }
    assert_int_equal(lowest_free(), before);
    close(fd);
}

static void test_lists_of_addresses(void **state)
{
    /* The server is on 127.0.0.1 only. */
    static const char *const lists[][4] = {
        {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"},
        {"127.0.0.2", "127.0.0.1", "127.0.0.3", "127.0.0.4"},
        {"127.0.0.2", "not an address", "127.0.0.1", "127.0.0.4"},
        {"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1"},
    };
    uint16_t tcp_port;
    (void)state;
    int server = serve(&tcp_port);
    int before = lowest_free();
    for (size_t place = 0; place < 4; place++) {
        for (size_t count = 0; count <= 4; count++) {
            e2b_link link;
            hook_list = lists[place];
            hook_count = count;
            int32_t answer = dial(&link, "sandbox.example", tcp_port);
            if (count == 0) {
                assert_int_equal(answer, E2B_IO_RESOLVE);
                continue;
            }
            if (answer == E2B_IO_OK)
                answer = give(&link, "x", 1);
            assert_int_equal(answer, count > place ? 1 : E2B_IO_CONNECT);
            if (count > place)
                close(accept(server, NULL, NULL));
            hang_up(&link, false);
        }
    }
    assert_int_equal(hook_calls, 20);
    assert_int_equal(lowest_free(), before);
    close(server);
}

/* A listener that takes nobody any more: connecting to it neither succeeds nor fails. */
static int serve_nobody(const char *address, uint16_t tcp_port, int filler[4])
{
    struct sockaddr_in name;
    int fd = reserve(address, &tcp_port);
    assert_int_equal(listen(fd, 0), 0);
    memset(&name, 0, sizeof name);
    name.sin_family = AF_INET;
    name.sin_port = htons(tcp_port);
    inet_pton(AF_INET, address, &name.sin_addr);
    for (int i = 0; i < 4; i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM, 0);
        assert_true(e2b_posix_prepare(filler[i]));
        (void)connect(filler[i], (struct sockaddr *)&name, sizeof name);
    }
    return fd;
}

static void test_an_address_that_never_answers(void **state)
{
    static const char *const list[] = {"127.0.0.2", "127.0.0.1"};
    e2b_link link;
    int filler[4];
    uint16_t tcp_port;
    (void)state;
    int server = serve(&tcp_port);
    int nobody = serve_nobody("127.0.0.2", tcp_port, filler);
    hook_list = list;
    hook_count = 2;
    e2b_target target = target_of("sandbox.example", tcp_port);
    target.connect_ms = 200;
    assert_int_equal(dial_target(&link, &target), E2B_IO_OK);
    assert_int_equal(port.port.send(port.port.context, &link, "x", 1), E2B_IO_AGAIN);
    /* The wait ends when the first address has had its share. */
    assert_int_equal(wait_one(&link, E2B_WANT_SEND, UINT32_MAX), E2B_WANT_SEND);
    assert_int_equal(give(&link, "x", 1), 1);
    int peer = accept(server, NULL, NULL);
    assert_true(peer >= 0);
    hang_up(&link, false);

    /* The last address is left to the library's own limit. */
    target = target_of("127.0.0.2", tcp_port);
    target.connect_ms = 1;
    assert_int_equal(dial_target(&link, &target), E2B_IO_OK);
    assert_int_equal(wait_one(&link, E2B_WANT_SEND, 20), 0);
    assert_int_equal(port.port.send(port.port.context, &link, "x", 1), E2B_IO_AGAIN);
    hang_up(&link, true);
    for (int i = 0; i < 4; i++)
        close(filler[i]);
    close(peer);
    close(nobody);
    close(server);
}

static void test_numbers_are_not_resolved(void **state)
{
    e2b_link link, beside;
    uint16_t tcp_port;
    (void)state;
    int server = serve(&tcp_port);
    e2b_target target = target_of("sandbox.example", tcp_port);
    target.address.ptr = "127.0.0.1";
    target.address.len = 9;
    assert_int_equal(dial_target(&link, &target), E2B_IO_OK);
    assert_int_equal(give(&link, "x", 1), 1);

    target = target_of("sandbox.example", tcp_port);
    target.beside = &link;
    assert_int_equal(dial_target(&beside, &target), E2B_IO_OK);
    assert_int_equal(give(&beside, "x", 1), 1);
    hang_up(&link, false);
    assert_int_equal(dial_target(&link, &(e2b_target){.host = {"x", 1}, .beside = &link}), E2B_IO_CONNECT);
    hang_up(&beside, false);

    target = target_of("sandbox.example", tcp_port);
    target.address.ptr = "elsewhere.example";
    target.address.len = 17;
    assert_int_equal(dial_target(&link, &target), E2B_IO_RESOLVE);
    target = target_of("127.0.0.1", tcp_port);
    target.tls = true;
    assert_int_equal(dial_target(&link, &target), E2B_IO_UNSUPPORTED);
    assert_int_equal(hook_calls, 0);
    close(server);
}

static void test_system_resolver(void **state)
{
    e2b_link link;
    char name[300];
    uint16_t tcp_port;
    (void)state;
    e2b_posix_close(&port);
    assert_int_equal(e2b_posix_open(&port, NULL), E2B_OK);
    int server = serve(&tcp_port);
    int before = lowest_free();
    assert_int_equal(dial(&link, "localhost", tcp_port), E2B_IO_OK);
    assert_int_equal(give(&link, "x", 1), 1);
    assert_int_equal(e2b_posix_load(&link).addresses, ADDRESSES_NONE);
    hang_up(&link, false);
    /* Given back also where the link was never asked for anything. */
    assert_int_equal(dial(&link, "localhost", tcp_port), E2B_IO_OK);
    hang_up(&link, true);
    assert_int_equal(dial(&link, "a..b", tcp_port), E2B_IO_RESOLVE);
    assert_int_not_equal(link.error, 0);
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = 0;
    assert_int_equal(dial(&link, name, tcp_port), E2B_IO_RESOLVE);
    assert_int_equal(dial(&link, "", tcp_port), E2B_IO_RESOLVE);
    assert_int_equal(lowest_free(), before);
    close(server);
}

static void test_ipv6(void **state)
{
    struct sockaddr_in6 name;
    socklen_t size = sizeof name;
    e2b_link link;
    (void)state;
    int server = socket(AF_INET6, SOCK_STREAM, 0);
    memset(&name, 0, sizeof name);
    name.sin6_family = AF_INET6;
    name.sin6_addr = in6addr_loopback;
    if (server < 0 || bind(server, (struct sockaddr *)&name, sizeof name) != 0) {
        if (server >= 0)
            close(server);
        print_message("skipped: this machine has no IPv6 loopback\n");
        skip();
    }
    assert_int_equal(listen(server, 4), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&name, &size), 0);
    assert_int_equal(dial(&link, "::1", ntohs(name.sin6_port)), E2B_IO_OK);
    assert_int_equal(give(&link, "x", 1), 1);
    assert_int_equal(hook_calls, 0);
    hang_up(&link, false);
    close(server);
}

/* ---- Waiting ---------------------------------------------------------------------------- */

static volatile sig_atomic_t alarms;
static volatile sig_atomic_t wakes;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
    if (wakes)
        e2b_posix_wake(&port);
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
    (void)state;
    int peer = connected(&link);
    wakes = 0;
    start_timer(0);
    assert_int_equal(wait_one(&link, E2B_WANT_RECV, UINT32_MAX), 0);
    assert_true(alarms > 0);
    wakes = 1;
    assert_int_equal(wait_one(&link, E2B_WANT_RECV, UINT32_MAX), 0);
    stop_timer();
    hang_up(&link, false);
    close(peer);
}

static void test_wake(void **state)
{
    uint64_t space[E2B_WAIT_SPARE];
    (void)state;
    /* Woken before the wait, and more often than a pipe can hold. */
    for (int i = 0; i < 100000; i++)
        e2b_posix_wake(&port);
    assert_int_equal(port.port.wait(&port, NULL, 0, space, UINT32_MAX), E2B_IO_OK);
    uint64_t before = port.port.now_ms(&port);
    while (port.port.now_ms(&port) < before + 5)
        assert_int_equal(port.port.wait(&port, NULL, 0, space, 5), E2B_IO_OK);
    port.port.wake_ms = 1;
    assert_int_equal(port.port.wait(&port, NULL, 0, space, UINT32_MAX), E2B_IO_OK);
}

static void test_wait_on_several(void **state)
{
    uint64_t space[4 + E2B_WAIT_SPARE];
    e2b_link links[4];
    e2b_wait_item items[4];
    int peers[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        peers[i] = connected(&links[i]);
        items[i].link = &links[i];
        items[i].wanted = E2B_WANT_RECV;
        items[i].ready = 3;
    }
    items[0].wanted = 0;
    assert_int_equal(write(peers[0], "x", 1), 1);
    assert_int_equal(write(peers[2], "x", 1), 1);
    assert_int_equal(port.port.wait(&port, items, 4, space, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(items[0].ready, 0);
    assert_int_equal(items[1].ready, 0);
    assert_int_equal(items[2].ready, E2B_WANT_RECV);
    assert_int_equal(items[3].ready, 0);
    for (int i = 0; i < 4; i++) {
        hang_up(&links[i], false);
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
    assert_int_equal(e2b_posix_watch(&port, ends[0], POLLIN), E2B_OK);
    assert_int_equal(e2b_posix_watch(&port, others[0], POLLIN), E2B_OK);
    assert_int_equal(port.port.wait(&port, NULL, 0, space, 0), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&port, ends[0]), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(port.port.wait(&port, NULL, 0, space, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&port, ends[0]), POLLIN);
    assert_int_equal(e2b_posix_ready(&port, others[0]), 0);
    assert_int_equal(e2b_posix_watch(&port, ends[0], 0), E2B_OK);
    assert_int_equal(e2b_posix_watch(&port, ends[0], 0), E2B_OK);
    assert_int_equal(e2b_posix_watch(&port, others[0], POLLIN), E2B_OK);
    assert_int_equal(port.watch_count, 1);
    assert_int_equal(port.port.wait(&port, NULL, 0, space, 0), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&port, ends[0]), 0);

    assert_int_equal(e2b_posix_watch(&port, ends[1], POLLOUT), E2B_OK);
    assert_int_equal(port.port.wait(&port, NULL, 0, space, UINT32_MAX), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&port, ends[1]), POLLOUT);
    assert_int_equal(e2b_posix_watch(&port, ends[0], POLLIN), E2B_OK);
    assert_int_equal(e2b_posix_watch(&port, others[1], POLLOUT), E2B_OK);
    assert_int_equal(e2b_posix_watch(&port, 0, POLLIN), E2B_LIMIT);
    assert_int_equal(e2b_posix_watch(&port, -1, 0), E2B_OK);
    assert_int_equal(port.port.wait(&port, NULL, 0, space, 0), E2B_IO_OK);
    assert_int_equal(e2b_posix_ready(&port, ends[1]), 0);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(others[i]);
    }
}

/* ---- Clock, randomness, trace, environment ------------------------------------------------ */

static void test_clock_and_randomness(void **state)
{
    uint8_t *bytes = calloc(2, 1 << 20);
    (void)state;
    uint64_t before = port.port.now_ms(&port);
    assert_true(port.port.now_ms(&port) >= before);
    assert_true(port.port.unix_time(&port) > 1600000000);
    assert_int_equal(port.port.random(&port, bytes, 1 << 20), E2B_IO_OK);
    assert_int_equal(port.port.random(&port, bytes + (1 << 20), 1 << 20), E2B_IO_OK);
    assert_memory_not_equal(bytes, bytes + (1 << 20), 1 << 20);
    /* The last bytes are as random as the first. */
    assert_memory_not_equal(bytes + (1 << 20) - 16, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    free(bytes);
}

static void test_trace(void **state)
{
    e2b_posix_port traced;
    e2b_posix_options options = {0};
    char long_line[2000], got[2048];
    int ends[2];
    (void)state;
    assert_null(port.port.trace);
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
    int before = lowest_free();
    e2b_posix_close(&other);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(e2b_posix_open(&other, NULL), E2B_OK);
        e2b_posix_close(&other);
    }
    assert_int_equal(lowest_free(), before);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD) == -1, 0);
}

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
    assert_int_equal(e2b_posix_environment(&port, &options), E2B_OK);
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
    e2b_posix_environment(&port, &options);
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
    e2b_posix_environment(&port, &options);
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
    e2b_posix_environment(&port, &options);
    assert_string_equal(options.api_key, "");
    assert_null(options.api_url);
    assert_int_equal(options.debug, 0);
    assert_int_equal(options.validate_api_key, 0);
    clear_environment();
}

#define WITH_PORT(test) cmocka_unit_test_setup_teardown(test, open_port, close_port)

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
        WITH_PORT(test_refused),
        WITH_PORT(test_lists_of_addresses),
        WITH_PORT(test_an_address_that_never_answers),
        WITH_PORT(test_numbers_are_not_resolved),
        WITH_PORT(test_system_resolver),
        WITH_PORT(test_ipv6),
        WITH_PORT(test_a_signal_ends_a_wait),
        WITH_PORT(test_wake),
        WITH_PORT(test_wait_on_several),
        WITH_PORT(test_watch),
        WITH_PORT(test_clock_and_randomness),
        WITH_PORT(test_trace),
        WITH_PORT(test_open_and_close),
        WITH_PORT(test_environment),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
