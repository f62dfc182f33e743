#include "counting_port.h"

#include <string.h>

static int32_t count_open(void *context, e2b_link *link, const e2b_target *target)
{
    counting_port *counting = context;
    counting->opens++;
    return counting->inner->open(counting->inner->context, link, target);
}

static int32_t count_recv(void *context, e2b_link *link, void *buffer, size_t size)
{
    counting_port *counting = context;
    int32_t got = counting->inner->recv(counting->inner->context, link, buffer, size);
    if (got <= 0 || link != counting->first) return got;
    size_t length = (size_t)got, at = counting->received;
    if (at == 0) counting->sent_before = counting->sent;
    if (at < sizeof counting->reply) {
        size_t room = sizeof counting->reply - at;
        memcpy(counting->reply + at, buffer, length < room ? length : room);
    }
    counting->received += length;
    return got;
}

static int32_t count_send(void *context, e2b_link *link, const void *data, size_t size)
{
    counting_port *counting = context;
    int32_t taken = counting->inner->send(counting->inner->context, link, data, size);
    if (!counting->first) counting->first = link;
    if (taken > 0 && link == counting->first) counting->sent += (size_t)taken;
    if (taken > 0 && link != counting->first) counting->sent_elsewhere += (size_t)taken;
    return taken;
}

static void count_close(void *context, e2b_link *link, bool abort)
{
    counting_port *counting = context;
    /* Its place in memory will be another link's. */
    if (link == counting->first) counting->first = &counting->closed;
    counting->inner->close(counting->inner->context, link, abort);
}

static int32_t pass_wait(void *context, e2b_wait_item *items, size_t count, uint64_t *space, uint32_t timeout_ms)
{
    e2b_port *inner = ((counting_port *)context)->inner;
    return inner->wait(inner->context, items, count, space, timeout_ms);
}

static uint64_t pass_now_ms(void *context)
{
    e2b_port *inner = ((counting_port *)context)->inner;
    return inner->now_ms(inner->context);
}

static int64_t pass_unix_time(void *context)
{
    e2b_port *inner = ((counting_port *)context)->inner;
    return inner->unix_time(inner->context);
}

static int32_t pass_random(void *context, void *out, size_t size)
{
    e2b_port *inner = ((counting_port *)context)->inner;
    return inner->random(inner->context, out, size);
}

void counting_port_init(counting_port *counting, e2b_port *inner)
{
    memset(counting, 0, sizeof *counting);
    counting->inner = inner;
    counting->port.context = counting;
    counting->port.open = count_open;
    counting->port.recv = count_recv;
    counting->port.send = count_send;
    counting->port.close = count_close;
    counting->port.wait = pass_wait;
    counting->port.now_ms = pass_now_ms;
    counting->port.unix_time = pass_unix_time;
    counting->port.random = pass_random;
    counting->port.wake_ms = inner->wake_ms;
}

void counting_port_reset(counting_port *counting)
{
    counting->opens = 0;
    counting->first = NULL;
    counting->sent = counting->received = counting->sent_before = counting->sent_elsewhere = 0;
    memset(counting->reply, 0, sizeof counting->reply);
}
