/* Where the POSIX port connects to: refusals, lists of addresses, names. */
#include "loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Where to ------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    e2b_link link;
    char byte;
    uint16_t tcp_port = 0;
    (void)state;
    int fd = loopback_reserve("127.0.0.1", &tcp_port);
    int before = loopback_lowest_free();
    for (int i = 0; i < 2000; i++) {
        int32_t answer = loopback_dial(&link, "127.0.0.1", tcp_port);
        if (answer == E2B_IO_OK) {
            answer = i % 2 ? loopback_take(&link, &byte, 1) : loopback_give(&link, "x", 1);
            assert_int_equal(loopback_wait(&link, E2B_WANT_RECV, UINT32_MAX), E2B_WANT_RECV);
            assert_int_equal(loopback_take(&link, &byte, 1), answer);
            loopback_hang_up(&link, i % 3 == 0);
        }
        assert_int_equal(answer, E2B_IO_CONNECT);
        assert_int_equal(link.error, ECONNREFUSED);
    }
    assert_int_equal(loopback_lowest_free(), before);
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
    int server = loopback_serve(&tcp_port);
    int before = loopback_lowest_free();
    for (size_t place = 0; place < 4; place++) {
        for (size_t count = 0; count <= 4; count++) {
            e2b_link link;
            loopback_list = lists[place];
            loopback_count = count;
            int32_t answer = loopback_dial(&link, "sandbox.example", tcp_port);
            if (count == 0) {
                assert_int_equal(answer, E2B_IO_RESOLVE);
                continue;
            }
            if (answer == E2B_IO_OK)
                answer = loopback_give(&link, "x", 1);
            assert_int_equal(answer, count > place ? 1 : E2B_IO_CONNECT);
            if (count > place)
                close(accept(server, NULL, NULL));
            loopback_hang_up(&link, false);
        }
    }
    assert_int_equal(loopback_calls, 20);
    assert_int_equal(loopback_lowest_free(), before);
    close(server);
}

/* A listener that takes nobody any more: connecting to it neither succeeds nor fails. */
static int serve_nobody(const char *address, uint16_t tcp_port, int filler[4])
{
    struct sockaddr_in name;
    int fd = loopback_reserve(address, &tcp_port);
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
    int server = loopback_serve(&tcp_port);
    int nobody = serve_nobody("127.0.0.2", tcp_port, filler);
    loopback_list = list;
    loopback_count = 2;
    e2b_target target = loopback_target("sandbox.example", tcp_port);
    target.connect_ms = 200;
    assert_int_equal(loopback_dial_target(&link, &target), E2B_IO_OK);
    assert_int_equal(loopback_port.port.send(loopback_port.port.context, &link, "x", 1), E2B_IO_AGAIN);
    /* The wait ends when the first address has had its share. */
    assert_int_equal(loopback_wait(&link, E2B_WANT_SEND, UINT32_MAX), E2B_WANT_SEND);
    assert_int_equal(loopback_give(&link, "x", 1), 1);
    int peer = accept(server, NULL, NULL);
    assert_true(peer >= 0);
    loopback_hang_up(&link, false);

    /* Not before. */
    target.connect_ms = 3600000;
    assert_int_equal(loopback_dial_target(&link, &target), E2B_IO_OK);
    assert_int_equal(loopback_wait(&link, E2B_WANT_SEND, 20), 0);
    loopback_hang_up(&link, false);

    /* The last address is left to the library's own limit. */
    loopback_count = 1;
    target.connect_ms = 1;
    assert_int_equal(loopback_dial_target(&link, &target), E2B_IO_OK);
    assert_int_equal(loopback_wait(&link, E2B_WANT_SEND, 20), 0);
    assert_int_equal(loopback_port.port.send(loopback_port.port.context, &link, "x", 1), E2B_IO_AGAIN);
    loopback_hang_up(&link, true);
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
    int server = loopback_serve(&tcp_port);
    e2b_target target = loopback_target("sandbox.example", tcp_port);
    target.address.ptr = "127.0.0.1";
    target.address.len = 9;
    assert_int_equal(loopback_dial_target(&link, &target), E2B_IO_OK);
    assert_int_equal(loopback_give(&link, "x", 1), 1);

    target = loopback_target("sandbox.example", tcp_port);
    target.beside = &link;
    assert_int_equal(loopback_dial_target(&beside, &target), E2B_IO_OK);
    assert_int_equal(loopback_give(&beside, "x", 1), 1);
    loopback_hang_up(&link, false);
    assert_int_equal(loopback_dial_target(&link, &(e2b_target){.host = {"x", 1}, .beside = &link}), E2B_IO_CONNECT);
    loopback_hang_up(&beside, false);

    target = loopback_target("sandbox.example", tcp_port);
    target.address.ptr = "elsewhere.example";
    target.address.len = 17;
    assert_int_equal(loopback_dial_target(&link, &target), E2B_IO_RESOLVE);
    target = loopback_target("127.0.0.1", tcp_port);
    target.tls = true;
    assert_int_equal(loopback_dial_target(&link, &target), E2B_IO_UNSUPPORTED);
    assert_int_equal(loopback_calls, 0);
    close(server);
}

static void test_system_resolver(void **state)
{
    e2b_link link;
    char name[300];
    uint16_t tcp_port;
    (void)state;
    e2b_posix_close(&loopback_port);
    assert_int_equal(e2b_posix_open(&loopback_port, NULL), E2B_OK);
    int server = loopback_serve(&tcp_port);
    int before = loopback_lowest_free();
    assert_int_equal(loopback_dial(&link, "localhost", tcp_port), E2B_IO_OK);
    assert_int_equal(loopback_give(&link, "x", 1), 1);
    assert_int_equal(e2b_posix_load(&link).addresses, ADDRESSES_NONE);
    loopback_hang_up(&link, false);
    /* Given back also where the link was never asked for anything. */
    assert_int_equal(loopback_dial(&link, "localhost", tcp_port), E2B_IO_OK);
    loopback_hang_up(&link, true);
    assert_int_equal(loopback_dial(&link, "a..b", tcp_port), E2B_IO_RESOLVE);
    assert_int_not_equal(link.error, 0);
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = 0;
    assert_int_equal(loopback_dial(&link, name, tcp_port), E2B_IO_RESOLVE);
    assert_int_equal(loopback_dial(&link, "", tcp_port), E2B_IO_RESOLVE);
    assert_int_equal(loopback_lowest_free(), before);
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
    assert_int_equal(loopback_dial(&link, "::1", ntohs(name.sin6_port)), E2B_IO_OK);
    assert_int_equal(loopback_give(&link, "x", 1), 1);
    assert_int_equal(loopback_calls, 0);
    loopback_hang_up(&link, false);
    close(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PORT(test_refused),
        WITH_PORT(test_lists_of_addresses),
        WITH_PORT(test_an_address_that_never_answers),
        WITH_PORT(test_numbers_are_not_resolved),
        WITH_PORT(test_system_resolver),
        WITH_PORT(test_ipv6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
