#include "scripted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void scripted_setup(scripted *f)
{
    memset(f, 0, sizeof *f);
    e2b_memory_script_init(&f->script, f->steps, sizeof f->steps);
}

void scripted_ready(scripted *f)
{
    assert_false(f->script.full);
    e2b_memory_open(&f->port, f->script.memory, f->script.length);
    f->port.connections = f->connections;
    f->port.connection_count = 2;
    for (int i = 0; i < 2; i++) {
        f->connections[i].sent = f->sent[i];
        f->connections[i].sent_size = sizeof f->sent[i];
        f->connections[i].reply = f->reply[i];
        f->connections[i].reply_size = sizeof f->reply[i];
    }
}

e2b_link scripted_dial(scripted *f)
{
    e2b_link link = {0};
    e2b_target target = {0};
    target.host.ptr = "example.test";
    target.host.len = 12;
    target.tcp_port = 80;
    assert_int_equal(f->port.port.open(f->port.port.context, &link, &target), E2B_IO_OK);
    return link;
}

int32_t scripted_take(scripted *f, e2b_link *link, char *out, size_t size)
{
    return f->port.port.recv(f->port.port.context, link, out, size);
}

int32_t scripted_give(scripted *f, e2b_link *link, const char *text)
{
    return f->port.port.send(f->port.port.context, link, text, strlen(text));
}

void scripted_hang_up(scripted *f, e2b_link *link, bool abort)
{
    f->port.port.close(f->port.port.context, link, abort);
}

int32_t scripted_pause(scripted *f, e2b_wait_item *items, size_t count, uint32_t ms)
{
    uint64_t space[8 + E2B_WAIT_SPARE];
    return f->port.port.wait(f->port.port.context, items, count, space, ms);
}

uint8_t scripted_wait(scripted *f, e2b_link *link, uint8_t wanted, uint32_t ms)
{
    e2b_wait_item item = {link, wanted, 0};
    assert_int_equal(scripted_pause(f, &item, 1, ms), E2B_IO_OK);
    return item.ready;
}

void scripted_expect(scripted *f, e2b_link *link, const char *text)
{
    char out[256];
    size_t got = 0, length = strlen(text);
    while (got < length) {
        int32_t n = scripted_take(f, link, out + got, length - got);
        assert_true(n > 0);
        got += (size_t)n;
    }
    assert_memory_equal(out, text, length);
}

void scripted_expect_answer(scripted *f, e2b_link *link, int32_t answer)
{
    char out[16];
    assert_int_equal(scripted_take(f, link, out, sizeof out), answer);
}
