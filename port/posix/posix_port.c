#include "posix_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if !defined(MSG_NOSIGNAL)
#define MSG_NOSIGNAL 0 /* such systems have SO_NOSIGPIPE */
#endif

typedef char state_fits[sizeof(e2b_posix_link) <= sizeof(((e2b_link *)0)->state) ? 1 : -1];

e2b_posix_link e2b_posix_load(const e2b_link *link)
{
    e2b_posix_link l;
    memcpy(&l, link->state, sizeof l);
    return l;
}

void e2b_posix_store(e2b_link *link, const e2b_posix_link *l)
{
    memcpy(link->state, l, sizeof *l);
}

/* ---- Receiving and sending ------------------------------------------------------ */

/* OK: the link is up. */
static int32_t come_on(e2b_link *link, e2b_posix_link *l)
{
    switch (l->phase) {
    case LINK_UP:
        return E2B_IO_OK;
    case LINK_CONNECTING:
        return e2b_posix_connect_on(link, l);
    case LINK_DEAD:
        return l->outcome;
    default:
        link->error = ENOTCONN;
        return E2B_IO_FAILED;
    }
}

static int32_t receive(e2b_link *link, e2b_posix_link *l, void *buffer, size_t size)
{
    int32_t answer = come_on(link, l);
    if (answer != E2B_IO_OK)
        return answer;
    ssize_t got = recv(l->fd, buffer, size < INT32_MAX ? size : INT32_MAX, 0);
    if (got > 0)
        return (int32_t)got;
    if (got == 0)
        return l->was_reset ? e2b_posix_fail(link, l, E2B_IO_RESET, ECONNRESET) : E2B_IO_END;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return E2B_IO_AGAIN;
    return e2b_posix_fail(link, l, errno == ECONNRESET || errno == EPIPE ? E2B_IO_RESET : E2B_IO_FAILED, errno);
}

static int32_t transmit(e2b_link *link, e2b_posix_link *l, const void *data, size_t size)
{
    int32_t answer = come_on(link, l);
    if (answer != E2B_IO_OK)
        return answer;
    ssize_t taken = send(l->fd, data, size < INT32_MAX ? size : INT32_MAX, MSG_NOSIGNAL);
    if (taken > 0)
        return (int32_t)taken;
    if (taken == 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return E2B_IO_AGAIN;
    if (errno != ECONNRESET && errno != EPIPE)
        return e2b_posix_fail(link, l, E2B_IO_FAILED, errno);
    /* An answer may have come before the reset: recv can still read it, so the
     * link is dead only for send. ECONNRESET is told once; EPIPE means that the
     * peer's orderly end was there first. */
    link->error = errno;
    l->was_reset = l->was_reset || errno == ECONNRESET;
    return E2B_IO_RESET;
}

static int32_t recv_bytes(void *context, e2b_link *link, void *buffer, size_t size)
{
    e2b_posix_link l = e2b_posix_load(link);
    (void)context;
    int32_t answer = receive(link, &l, buffer, size);
    e2b_posix_store(link, &l);
    return answer;
}

static int32_t send_bytes(void *context, e2b_link *link, const void *data, size_t size)
{
    e2b_posix_link l = e2b_posix_load(link);
    (void)context;
    int32_t answer = transmit(link, &l, data, size);
    e2b_posix_store(link, &l);
    return answer;
}

static void close_link(void *context, e2b_link *link, bool abort)
{
    e2b_posix_link l = e2b_posix_load(link);
    (void)context;
    if (l.phase != LINK_CLOSED)
        e2b_posix_drop(&l, abort);
    memset(link->state, 0, sizeof link->state);
}

/* ---- Trace ------------------------------------------------------------------------ */

static void write_trace(void *context, const char *line, size_t length)
{
    const e2b_posix_port *port = context;
    char text[512];
    /* One write a line: lines of several processes on one terminal stay whole. */
    if (length > sizeof text - 1)
        length = sizeof text - 1;
    memcpy(text, line, length);
    text[length] = '\n';
    if (write(port->options.trace_fd, text, length + 1) < 0)
        return;
}

/* ---- The port --------------------------------------------------------------------- */

e2b_err e2b_posix_open(e2b_posix_port *port, const e2b_posix_options *options)
{
    int ends[2];
    memset(port, 0, sizeof *port);
    port->wake_read = port->wake_write = -1;
    if (options != NULL)
        port->options = *options;
    port->port.context = port;
    port->port.open = e2b_posix_connect;
    port->port.recv = recv_bytes;
    port->port.send = send_bytes;
    port->port.close = close_link;
    port->port.wait = e2b_posix_wait;
    port->port.now_ms = e2b_posix_now_ms;
    port->port.unix_time = e2b_posix_unix_time;
    port->port.random = e2b_posix_random;
    port->port.trace = port->options.trace_fd > 0 ? write_trace : NULL;
    if (pipe(ends) != 0)
        return E2B_PORT;
    port->wake_read = ends[0];
    port->wake_write = ends[1];
    if (!e2b_posix_prepare(ends[0]) || !e2b_posix_prepare(ends[1])) {
        int error = errno;
        e2b_posix_close(port);
        errno = error;
        return E2B_PORT;
    }
    return E2B_OK;
}

void e2b_posix_close(e2b_posix_port *port)
{
    /* A zeroed port has no context, and its descriptors are not its own. */
    if (port->port.context == NULL)
        return;
    if (port->wake_read >= 0)
        close(port->wake_read);
    if (port->wake_write >= 0)
        close(port->wake_write);
    memset(port, 0, sizeof *port);
    port->wake_read = port->wake_write = -1;
}

void e2b_posix_wake(e2b_posix_port *port)
{
    int error = errno;
    char byte = 0;
    /* A full pipe wakes as well. */
    if (write(port->wake_write, &byte, 1) < 0)
        errno = error;
}

e2b_err e2b_posix_watch(e2b_posix_port *port, int fd, short events)
{
    size_t at = 0;
    if (fd < 0) {
        port->watch_count = 0;
        return E2B_OK;
    }
    while (at < port->watch_count && port->watches[at].fd != fd)
        at++;
    if (events == 0) {
        if (at < port->watch_count)
            port->watches[at] = port->watches[--port->watch_count];
        return E2B_OK;
    }
    if (at == E2B_POSIX_WATCHES)
        return E2B_LIMIT;
    if (at == port->watch_count) {
        port->watch_count++;
        port->watches[at].fd = fd;
        port->watches[at].ready = 0;
    }
    port->watches[at].events = events;
    return E2B_OK;
}

short e2b_posix_ready(const e2b_posix_port *port, int fd)
{
    for (size_t i = 0; i < port->watch_count; i++) {
        if (port->watches[i].fd == fd)
            return port->watches[i].ready;
    }
    return 0;
}
