#include "loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

e2b_posix_port loopback_port;
const char *const *loopback_list;
size_t loopback_count;
int loopback_calls;

static size_t hook(void *context, e2b_str host, const char *const **addresses)
{
    assert_ptr_equal(context, &loopback_calls);
    assert_true(host.len > 0);
    loopback_calls++;
    *addresses = loopback_list;
    return loopback_count;
}

int loopback_open(void **state)
{
    e2b_posix_options options = {0};
    (void)state;
    options.resolve = hook;
    options.resolve_context = &loopback_calls;
    loopback_calls = 0;
    loopback_list = NULL;
    loopback_count = 0;
    /* A wait that does not end would hang the program. */
    alarm(120);
    return e2b_posix_open(&loopback_port, &options);
}

int loopback_close(void **state)
{
    (void)state;
    e2b_posix_close(&loopback_port);
    e2b_posix_close(&loopback_port);
    return 0;
}

/* ---- The other side -------------------------------------------------------------- */

int loopback_reserve(const char *address, uint16_t *tcp_port)
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

int loopback_serve(uint16_t *tcp_port)
{
    *tcp_port = 0;
    int fd = loopback_reserve("127.0.0.1", tcp_port);
    assert_int_equal(listen(fd, 16), 0);
    return fd;
}

void loopback_reset(int peer)
{
    struct linger now = {1, 0};
    assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
    close(peer);
}

/* ---- This side --------------------------------------------------------------------- */

e2b_target loopback_target(const char *host, uint16_t tcp_port)
{
    e2b_target target = {0};
    target.host.ptr = host;
    target.host.len = strlen(host);
    target.tcp_port = tcp_port;
    target.connect_ms = 60000;
    return target;
}

int32_t loopback_dial_target(e2b_link *link, const e2b_target *target)
{
    memset(link, 0, sizeof *link);
    return loopback_port.port.open(loopback_port.port.context, link, target);
}

int32_t loopback_dial(e2b_link *link, const char *host, uint16_t tcp_port)
{
    e2b_target target = loopback_target(host, tcp_port);
    return loopback_dial_target(link, &target);
}

uint8_t loopback_wait(e2b_link *link, uint8_t wanted, uint32_t ms)
{
    uint64_t space[1 + E2B_WAIT_SPARE];
    e2b_wait_item item = {link, wanted, E2B_WANT_RECV | E2B_WANT_SEND};
    assert_int_equal(loopback_port.port.wait(loopback_port.port.context, &item, 1, space, ms), E2B_IO_OK);
    return item.ready;
}

int32_t loopback_take(e2b_link *link, void *buffer, size_t size)
{
    for (;;) {
        int32_t n = loopback_port.port.recv(loopback_port.port.context, link, buffer, size);
        if (n != E2B_IO_AGAIN)
            return n;
        loopback_wait(link, E2B_WANT_RECV, UINT32_MAX);
    }
}

int32_t loopback_give(e2b_link *link, const void *data, size_t size)
{
    for (;;) {
        int32_t n = loopback_port.port.send(loopback_port.port.context, link, data, size);
        if (n != E2B_IO_AGAIN)
            return n;
        loopback_wait(link, E2B_WANT_SEND, UINT32_MAX);
    }
}

void loopback_hang_up(e2b_link *link, bool abort)
{
    loopback_port.port.close(loopback_port.port.context, link, abort);
}

int loopback_connected(e2b_link *link)
{
    uint16_t tcp_port;
    int server = loopback_serve(&tcp_port);
    assert_int_equal(loopback_dial(link, "127.0.0.1", tcp_port), E2B_IO_OK);
    int peer = accept(server, NULL, NULL);
    assert_true(peer >= 0);
    close(server);
    assert_int_equal(loopback_give(link, "!", 1), 1);
    char mark;
    assert_int_equal(read(peer, &mark, 1), 1);
    return peer;
}

int loopback_lowest_free(void)
{
    int fd = dup(STDIN_FILENO);
    assert_true(fd >= 0);
    close(fd);
    return fd;
}
