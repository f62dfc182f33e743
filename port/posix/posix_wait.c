#include "posix_link.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* The scratch has one word for each descriptor. */
typedef char descriptor_fits[sizeof(struct pollfd) <= sizeof(uint64_t) ? 1 : -1];
typedef char spare_suffices[1 + E2B_POSIX_WATCHES <= E2B_WAIT_SPARE ? 1 : -1];

/* What to poll for one link. Returns how long at most: 0 if it is ready already. */
static uint64_t prepare(const e2b_wait_item *item, struct pollfd *descriptor, uint64_t now)
{
    e2b_posix_link l = e2b_posix_load(item->link);
    descriptor->fd = -1;
    descriptor->events = 0;
    descriptor->revents = 0;
    if (item->wanted == 0)
        return UINT64_MAX;
    if (l.phase == LINK_CLOSED || l.phase == LINK_DEAD)
        return 0;
    descriptor->fd = l.fd;
    if (l.phase == LINK_CONNECTING) {
        descriptor->events = POLLOUT;
        return l.attempt_ms == UINT64_MAX ? UINT64_MAX : l.attempt_ms > now ? l.attempt_ms - now : 0;
    }
    if (item->wanted & E2B_WANT_RECV)
        descriptor->events |= POLLIN;
    if (item->wanted & E2B_WANT_SEND)
        descriptor->events |= POLLOUT;
    return UINT64_MAX;
}

static uint8_t readiness(const e2b_wait_item *item, const struct pollfd *descriptor, uint64_t now)
{
    e2b_posix_link l = e2b_posix_load(item->link);
    uint8_t ready = 0;
    if (l.phase == LINK_CLOSED || l.phase == LINK_DEAD)
        return item->wanted;
    if (l.phase == LINK_CONNECTING)
        return descriptor->revents != 0 || now >= l.attempt_ms ? item->wanted : 0;
    if (descriptor->revents & (POLLERR | POLLHUP | POLLNVAL))
        return item->wanted;
    if (descriptor->revents & POLLIN)
        ready |= E2B_WANT_RECV;
    if (descriptor->revents & POLLOUT)
        ready |= E2B_WANT_SEND;
    return ready & item->wanted;
}

static void drain(int fd)
{
    char bytes[64];
    while (read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        continue;
}

static size_t add_own(e2b_posix_port *port, struct pollfd *own)
{
    own[0].fd = port->wake_read;
    own[0].events = POLLIN;
    own[0].revents = 0;
    for (size_t i = 0; i < port->watch_count; i++) {
        own[i + 1].fd = port->watches[i].fd;
        own[i + 1].events = port->watches[i].events;
        own[i + 1].revents = 0;
        port->watches[i].ready = 0;
    }
    return port->watch_count + 1;
}

int32_t e2b_posix_wait(void *context, e2b_wait_item *items, size_t count, uint64_t *space, uint32_t timeout_ms)
{
    e2b_posix_port *port = context;
    struct pollfd *descriptors = (struct pollfd *)(void *)space;
    uint64_t now = e2b_posix_now_ms(NULL);
    uint64_t longest = timeout_ms == UINT32_MAX ? UINT64_MAX : timeout_ms;
    if (port->port.wake_ms > 0 && longest > port->port.wake_ms)
        longest = port->port.wake_ms;
    for (size_t i = 0; i < count; i++) {
        uint64_t own = prepare(&items[i], &descriptors[i], now);
        items[i].ready = 0;
        if (own < longest)
            longest = own;
    }
    size_t total = count + add_own(port, descriptors + count);
    /* Longer than poll can wait: it ends early, as after a wake. */
    int timeout = longest == UINT64_MAX ? -1 : longest > INT_MAX ? INT_MAX : (int)longest;
    int answer = poll(descriptors, (nfds_t)total, timeout);
    if (answer < 0)
        return errno == EINTR || errno == EAGAIN ? E2B_IO_OK : E2B_IO_FAILED;
    now = e2b_posix_now_ms(NULL);
    for (size_t i = 0; i < count; i++)
        items[i].ready = readiness(&items[i], &descriptors[i], now);
    if (descriptors[count].revents != 0)
        drain(port->wake_read);
    for (size_t i = 0; i < port->watch_count; i++)
        port->watches[i].ready = descriptors[count + 1 + i].revents;
    return E2B_IO_OK;
}
