#include "memory_steps.h"

#include <string.h>

/* The numbers that link->error gives beside the outcomes: those of Linux. */
#define ERROR_RESET 104
#define ERROR_REFUSED 111

#define NO_ELEMENT 0xffffu

typedef char link_fits[sizeof(e2b_memory_link) <= sizeof(((e2b_link *)0)->state) ? 1 : -1];

static e2b_memory_link load(const e2b_link *link)
{
    e2b_memory_link l;
    memcpy(&l, link->state, sizeof l);
    return l;
}

static void store(e2b_link *link, const e2b_memory_link *l)
{
    memcpy(link->state, l, sizeof *l);
}

/* ---- Faults ----------------------------------------------------------------- */

/* Counts the call; nonzero: what it has to answer instead. */
static int32_t count_call(e2b_memory_port *port)
{
    port->calls++;
    return port->calls == port->fail_call ? port->fail_outcome : 0;
}

static int32_t outcome_of(e2b_link *link, const e2b_memory_link *l)
{
    if (l->outcome == E2B_IO_RESET)
        link->error = ERROR_RESET;
    else if (l->outcome == E2B_IO_CONNECT)
        link->error = ERROR_REFUSED;
    return l->outcome;
}

static int32_t fail_link(e2b_link *link, e2b_memory_link *l, int32_t outcome)
{
    if (outcome != E2B_IO_AGAIN) {
        l->outcome = (int8_t)outcome;
        store(link, l);
        outcome_of(link, l);
    }
    return outcome;
}

/* ---- The functions of the port ---------------------------------------------- */

static uint16_t choose_element(const e2b_memory_port *port, uint32_t number)
{
    size_t chosen = NO_ELEMENT;
    if (number < port->connection_count && number < NO_ELEMENT)
        return (uint16_t)number;
    for (size_t i = 0; i < port->connection_count && i < NO_ELEMENT; i++) {
        const e2b_memory_connection *element = &port->connections[i];
        if (!element->open && (chosen == NO_ELEMENT || element->number < port->connections[chosen].number))
            chosen = i;
    }
    return (uint16_t)chosen;
}

static void copy_text(char *out, size_t size, e2b_str text)
{
    size_t length = text.len < size ? text.len : size - 1;
    if (length > 0)
        memcpy(out, text.ptr, length);
    out[length] = 0;
}

static void begin_element(e2b_memory_connection *element, uint32_t number, const e2b_target *target)
{
    e2b_memory_connection fresh = {0};
    fresh.sent = element->sent;
    fresh.sent_size = element->sent_size;
    fresh.reply = element->reply;
    fresh.reply_size = element->reply_size;
    fresh.number = number;
    fresh.open = true;
    fresh.tcp_port = target->tcp_port;
    fresh.tls = target->tls;
    fresh.beside = target->beside != NULL;
    copy_text(fresh.host, sizeof fresh.host, target->host);
    copy_text(fresh.address, sizeof fresh.address, target->address);
    *element = fresh;
}

static int32_t memory_open(void *context, e2b_link *link, const e2b_target *target)
{
    e2b_memory_port *port = context;
    e2b_memory_step step;
    e2b_memory_link l = {0};
    int32_t failed = count_call(port);
    if (failed != 0)
        return failed;
    l.number = port->opened++;
    l.element = choose_element(port, l.number);
    if (e2b_memory_cursor_begin(&port->next, port->script, port->script_length, &step)) {
        if (step.kind == STEP_REFUSE)
            l.outcome = E2B_IO_CONNECT;
        if (step.kind == STEP_HANG)
            l.flags |= LINK_HANGS;
    } else if (port->used_up == E2B_MEMORY_REFUSE && port->respond == NULL) {
        l.outcome = E2B_IO_CONNECT;
    }
    l.cursor = port->next;
    e2b_memory_connection *element = e2b_memory_element(port, &l);
    if (element != NULL)
        begin_element(element, l.number, target);
    e2b_memory_settle(port, &l);
    store(link, &l);
    return E2B_IO_OK;
}

static int32_t memory_recv(void *context, e2b_link *link, void *buffer, size_t size)
{
    e2b_memory_port *port = context;
    e2b_memory_link l = load(link);
    e2b_memory_step step;
    int32_t failed = count_call(port);
    if (failed != 0)
        return fail_link(link, &l, failed);
    e2b_memory_settle(port, &l);
    int32_t answer = E2B_IO_AGAIN;
    if (l.outcome != 0) {
        answer = outcome_of(link, &l);
    } else if (e2b_memory_current(port, &l, &step)) {
        if (step.kind == STEP_WOULD_BLOCK) {
            e2b_memory_pass_block(port, &l, &step);
        } else if (step.kind == STEP_DATA) {
            size_t part = size < l.rest ? size : (size_t)l.rest;
            if (port->recv_max > 0 && part > port->recv_max)
                part = port->recv_max;
            if (part > INT32_MAX)
                part = INT32_MAX;
            memcpy(buffer, e2b_memory_rest(port, &l, &step), part);
            l.rest -= part;
            port->received += part;
            e2b_memory_connection *element = e2b_memory_element(port, &l);
            if (element != NULL)
                element->received += part;
            answer = (int32_t)part;
        }
        e2b_memory_settle(port, &l);
    }
    store(link, &l);
    return answer;
}

/* Counts and keeps what was sent, and finds the requests in it. With a
 * responder it takes no more than one request, so that each is seen alone. */
static size_t keep_sent(e2b_memory_port *port, e2b_memory_link *l, const uint8_t *data, size_t size)
{
    e2b_memory_connection *element = e2b_memory_element(port, l);
    size_t used = 0;
    while (used < size) {
        unsigned event;
        size_t part = e2b_memory_framing_feed(&l->framing, data + used, size - used, &event);
        if (element != NULL) {
            if (element->sent != NULL && element->sent_length < element->sent_size) {
                size_t room = element->sent_size - (size_t)element->sent_length;
                memcpy((uint8_t *)element->sent + element->sent_length, data + used, part < room ? part : room);
            }
            element->sent_length += part;
            if (event & E2B_MEMORY_HEAD)
                element->body_at = element->sent_length;
            if (event & E2B_MEMORY_REQUEST)
                element->requests++;
        }
        used += part;
        if ((event & E2B_MEMORY_REQUEST) && port->respond != NULL)
            break;
    }
    port->sent += used;
    return used;
}

/* Whether send would block at the step the connection is at. */
static bool window_closed(const e2b_memory_port *port, const e2b_memory_link *l)
{
    return (l->flags & (LINK_HANGS | LINK_CLOSED_WINDOW)) || (port->respond != NULL && l->framing.requests > 0);
}

static int32_t memory_send(void *context, e2b_link *link, const void *data, size_t size)
{
    e2b_memory_port *port = context;
    e2b_memory_link l = load(link);
    e2b_memory_step step = {0};
    int32_t failed = count_call(port);
    if (failed != 0)
        return fail_link(link, &l, failed);
    e2b_memory_settle(port, &l);
    int32_t answer = E2B_IO_AGAIN;
    bool at_step = e2b_memory_current(port, &l, &step);
    if (l.outcome != 0 && l.outcome != E2B_IO_END && l.outcome != E2B_IO_END_UNCLEAN) {
        answer = outcome_of(link, &l);
    } else if (l.flags & LINK_DEAF) {
        link->error = ERROR_RESET;
        answer = E2B_IO_RESET;
    } else if (at_step && step.kind == STEP_WOULD_BLOCK) {
        e2b_memory_pass_block(port, &l, &step);
    } else if (!window_closed(port, &l)) {
        size_t part = size < INT32_MAX ? size : INT32_MAX;
        bool takes = at_step && step.kind == STEP_TAKE;
        if (takes && part > l.rest)
            part = (size_t)l.rest;
        if (port->send_max > 0 && part > port->send_max)
            part = port->send_max;
        part = keep_sent(port, &l, data, part);
        if (takes)
            l.rest -= part;
        answer = (int32_t)part;
    }
    e2b_memory_settle(port, &l);
    store(link, &l);
    return answer;
}

static void memory_close(void *context, e2b_link *link, bool abort)
{
    e2b_memory_port *port = context;
    e2b_memory_link l = load(link);
    e2b_memory_connection *element = e2b_memory_element(port, &l);
    port->closes++;
    port->aborts += abort ? 1u : 0u;
    if (element != NULL && element->number == l.number) {
        element->closes++;
        element->aborts += abort ? 1u : 0u;
        element->open = false;
    }
    memset(link->state, 0, sizeof link->state);
}

/* Sets what is ready, and lowers *due to the time when the connection's step is over. */
static void look(e2b_memory_port *port, e2b_wait_item *item, uint64_t *due)
{
    e2b_memory_link l = load(item->link);
    e2b_memory_step step = {0};
    e2b_memory_settle(port, &l);
    bool at_step = e2b_memory_current(port, &l, &step);
    while (at_step && step.kind == STEP_WOULD_BLOCK) {
        e2b_memory_pass_block(port, &l, &step);
        at_step = e2b_memory_current(port, &l, &step);
    }
    item->ready = 0;
    if (l.outcome != 0 || (at_step && step.kind == STEP_DATA))
        item->ready |= E2B_WANT_RECV;
    if (l.outcome != 0 || (l.flags & LINK_DEAF) || !window_closed(port, &l))
        item->ready |= E2B_WANT_SEND;
    item->ready &= item->wanted;
    if (at_step && step.kind == STEP_ADVANCE && l.rest < *due)
        *due = l.rest;
    store(item->link, &l);
}

static int32_t memory_wait(void *context, e2b_wait_item *items, size_t count, uint64_t *space, uint32_t timeout_ms)
{
    e2b_memory_port *port = context;
    int32_t failed = count_call(port);
    (void)space;
    port->waits++;
    for (size_t i = 0; i < count; i++)
        items[i].ready = 0;
    if (failed != 0)
        return failed;
    if (port->waits == port->cancel_wait && port->cancel != NULL) {
        *port->cancel = 1;
        return E2B_IO_OK;
    }
    if (port->port.wake_ms > 0 && timeout_ms > port->port.wake_ms)
        timeout_ms = port->port.wake_ms;
    uint64_t deadline = timeout_ms == UINT32_MAX ? UINT64_MAX : port->now_ms + timeout_ms;
    for (;;) {
        uint64_t due = UINT64_MAX;
        uint64_t passes = port->passes;
        bool ready = false;
        for (size_t i = 0; i < count; i++) {
            look(port, &items[i], &due);
            ready = ready || items[i].ready != 0;
        }
        if (ready)
            return E2B_IO_OK;
        /* A point passed by one connection may be what an earlier one waits for. */
        if (port->passes != passes)
            continue;
        if (due == UINT64_MAX && deadline == UINT64_MAX)
            return E2B_IO_FAILED;
        if (due >= deadline) {
            port->now_ms = deadline;
            return E2B_IO_OK;
        }
        port->now_ms = due;
    }
}

static uint64_t memory_now(void *context)
{
    const e2b_memory_port *port = context;
    return port->now_ms;
}

static int64_t memory_unix_time(void *context)
{
    const e2b_memory_port *port = context;
    return port->unix_start < 0 ? -1 : port->unix_start + (int64_t)(port->now_ms / 1000);
}

static int32_t memory_random(void *context, void *out, size_t size)
{
    e2b_memory_port *port = context;
    uint8_t *bytes = out;
    int32_t failed = count_call(port);
    if (failed != 0)
        return failed;
    /* A linear congruential generator: only its high bits are worth using. */
    for (size_t i = 0; i < size; i++) {
        port->seed = port->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (uint8_t)(port->seed >> 56);
    }
    return E2B_IO_OK;
}

static void keep_trace(e2b_memory_port *port, const char *text, size_t length)
{
    if (port->trace != NULL && port->trace_length < port->trace_size) {
        size_t room = port->trace_size - (size_t)port->trace_length;
        memcpy(port->trace + port->trace_length, text, length < room ? length : room);
    }
    port->trace_length += length;
}

static void memory_trace(void *context, const char *line, size_t length)
{
    e2b_memory_port *port = context;
    if (length > 0)
        keep_trace(port, line, length);
    keep_trace(port, "\n", 1);
}

void e2b_memory_open(e2b_memory_port *port, const void *script, size_t length)
{
    memset(port, 0, sizeof *port);
    port->port.context = port;
    port->port.open = memory_open;
    port->port.recv = memory_recv;
    port->port.send = memory_send;
    port->port.close = memory_close;
    port->port.wait = memory_wait;
    port->port.now_ms = memory_now;
    port->port.unix_time = memory_unix_time;
    port->port.random = memory_random;
    port->port.trace = memory_trace;
    port->script = script;
    port->script_length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
    port->unix_start = 1700000000;
}
