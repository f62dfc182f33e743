#include "memory_steps.h"

#include <string.h>

e2b_memory_connection *e2b_memory_element(e2b_memory_port *port, const e2b_memory_link *link)
{
    return link->element < port->connection_count ? &port->connections[link->element] : NULL;
}

bool e2b_memory_current(e2b_memory_port *port, const e2b_memory_link *link, e2b_memory_step *step)
{
    const uint8_t *script = port->script;
    uint32_t length = port->script_length;
    if (link->outcome != 0 || (link->flags & LINK_HANGS))
        return false;
    if (link->flags & LINK_REPLYING) {
        const e2b_memory_connection *element = e2b_memory_element(port, link);
        script = element != NULL ? element->reply : NULL;
        length = element != NULL ? (uint32_t)element->reply_length : 0;
    }
    if (!e2b_memory_step_read(script, length, link->cursor.at, step))
        return false;
    return step->kind != STEP_ACCEPT && step->kind != STEP_REFUSE && step->kind != STEP_HANG;
}

const uint8_t *e2b_memory_rest(e2b_memory_port *port, const e2b_memory_link *link, const e2b_memory_step *step)
{
    const uint8_t *script = port->script;
    if (link->flags & LINK_REPLYING)
        script = e2b_memory_element(port, link)->reply;
    return script + step->next - link->rest;
}

/* Begins a step with a duration or an amount, once. */
static void start(e2b_memory_link *link, uint64_t rest)
{
    if (link->flags & LINK_STARTED)
        return;
    link->flags |= LINK_STARTED;
    link->rest = rest;
}

static bool count_pass(e2b_memory_port *port, uint32_t point)
{
    uint32_t *passed = &port->passed[point % E2B_MEMORY_POINTS];
    if (*passed < UINT32_MAX)
        ++*passed;
    port->passes++;
    return true;
}

static bool take_request(e2b_memory_link *link)
{
    if (link->framing.requests == 0)
        return false;
    link->framing.requests--;
    link->framing.heads--;
    return true;
}

static bool finish(e2b_memory_link *link, int32_t outcome)
{
    link->outcome = (int8_t)outcome;
    return false;
}

/* Whether the step is over. */
static bool is_over(e2b_memory_port *port, e2b_memory_link *link, const e2b_memory_step *step)
{
    switch (step->kind) {
    case STEP_DATA:
        start(link, step->first);
        return link->rest == 0;
    case STEP_WOULD_BLOCK:
        return false;
    case STEP_TAKE:
        start(link, step->first);
        link->flags &= (uint8_t)~LINK_CLOSED_WINDOW;
        if (link->rest == 0)
            link->flags |= LINK_CLOSED_WINDOW;
        return link->rest == 0;
    case STEP_SEND_FAILS:
        link->flags |= LINK_DEAF;
        return true;
    case STEP_ADVANCE:
        start(link, port->now_ms + step->first);
        return link->rest <= port->now_ms;
    case STEP_END:
        return finish(link, E2B_IO_END);
    case STEP_END_UNCLEAN:
        return finish(link, E2B_IO_END_UNCLEAN);
    case STEP_RESET:
        return finish(link, E2B_IO_RESET);
    case STEP_REQUEST:
        link->flags &= (uint8_t)~LINK_CLOSED_WINDOW;
        return take_request(link);
    case STEP_EARLY:
        link->flags &= (uint8_t)~LINK_CLOSED_WINDOW;
        return link->framing.heads > 0;
    case STEP_PASS:
        return count_pass(port, step->first);
    case STEP_AFTER:
        return port->passed[step->first % E2B_MEMORY_POINTS] >= (step->second > 0 ? step->second : 1);
    default:
        return true;
    }
}

/* Asks the responder for the reply to the request that has arrived. */
static bool respond(e2b_memory_port *port, e2b_memory_link *link)
{
    e2b_memory_connection *element = e2b_memory_element(port, link);
    e2b_memory_request_seen seen = {0};
    e2b_memory_script reply;
    if (!take_request(link))
        return false;
    if (element == NULL || element->reply == NULL)
        return finish(link, E2B_IO_FAILED);

    uint64_t kept = element->sent_length < element->sent_size ? element->sent_length : element->sent_size;
    uint64_t head = element->request_at < kept ? element->request_at : kept;
    uint64_t body = element->body_at < kept ? element->body_at : kept;
    const char *sent = element->sent;
    seen.connection = link->number;
    seen.number = element->requests - 1;
    if (sent != NULL) {
        seen.head.ptr = sent + head;
        seen.head.len = (size_t)(body - head);
        seen.body.ptr = sent + body;
        seen.body.len = (size_t)(kept - body);
    }
    seen.cut = kept < element->sent_length;

    e2b_memory_script_init(&reply, element->reply, element->reply_size);
    int refused = port->respond(port->respond_context, &seen, &reply);
    element->reply_length = reply.length;
    element->request_at = element->sent_length;
    if (refused != 0)
        return finish(link, E2B_IO_RESET);
    /* Half a reply would look like a fault of the client. */
    if (reply.full)
        return finish(link, E2B_IO_FAILED);
    memset(&link->cursor, 0, sizeof link->cursor);
    link->flags |= LINK_REPLYING;
    link->flags &= (uint8_t)~LINK_CLOSED_WINDOW;
    return true;
}

/* Whether a step that is over gave or took bytes or time. */
static bool is_an_event(const e2b_memory_step *step)
{
    if (step->kind == STEP_DATA || step->kind == STEP_TAKE || step->kind == STEP_ADVANCE)
        return step->first > 0;
    return step->kind == STEP_REQUEST;
}

static void pass(e2b_memory_link *link, const e2b_memory_step *step)
{
    /* Twice back without an event in between: such rounds would spin for their whole count. */
    if (e2b_memory_cursor_pass(&link->cursor, step, (link->flags & LINK_WENT_BACK) != 0))
        link->flags |= LINK_WENT_BACK;
}

void e2b_memory_settle(e2b_memory_port *port, e2b_memory_link *link)
{
    e2b_memory_step step;
    while (link->outcome == 0 && !(link->flags & LINK_HANGS)) {
        if (!e2b_memory_current(port, link, &step)) {
            if (port->respond != NULL) {
                if (!respond(port, link))
                    return;
            } else if (port->used_up == E2B_MEMORY_END) {
                link->outcome = E2B_IO_END;
            } else {
                return;
            }
            continue;
        }
        if (!is_over(port, link, &step))
            return;
        link->flags &= (uint8_t)~LINK_STARTED;
        if (is_an_event(&step))
            link->flags &= (uint8_t)~LINK_WENT_BACK;
        pass(link, &step);
    }
}

void e2b_memory_pass_block(e2b_memory_port *port, e2b_memory_link *link, const e2b_memory_step *step)
{
    pass(link, step);
    e2b_memory_settle(port, link);
}
