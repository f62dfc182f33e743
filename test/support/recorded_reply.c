#include "recorded_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vectors.h"

static long long number_of(e2b_str text)
{
    return strtoll(text.ptr, NULL, 10);
}

static bool has(const vector_file *row, const char *name)
{
    return vector_count(row, name) > 0;
}

static size_t position(const vector_file *row, const char *name)
{
    return has(row, name) ? (size_t)number_of(vector_value(row, name)) : RECORDED_NEVER;
}

static long long number(const vector_file *row, const char *name)
{
    return has(row, name) ? number_of(vector_value(row, name)) : 0;
}

static e2b_str text(const vector_file *row, const char *name)
{
    return has(row, name) ? vector_value(row, name) : (e2b_str){"", 0};
}

static e2b_err error_named(e2b_str name)
{
#define RECORDED_NAME(constant, value, retry, executed, words) \
    if (strcmp(name.ptr, #constant) == 0) return constant;
    E2B_ERRORS(RECORDED_NAME)
#undef RECORDED_NAME
    fail_msg("no error is called %s", name.ptr);
    return E2B_OK;
}

static void *block(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static void read_lists(const vector_file *row, recorded_reply *reply)
{
    e2b_str *lines = block(vector_count(row, "line"), sizeof *lines);
    recorded_mark *marks = block(vector_count(row, "mark"), sizeof *marks);
    reply->line_count = vector_count(row, "line");
    reply->mark_count = vector_count(row, "mark");
    reply->lines = lines;
    reply->marks = marks;
    for (size_t i = 0; i < reply->line_count; i++) lines[i] = vector_at(row, "line", i);
    for (size_t i = 0; i < reply->mark_count; i++) {
        char *next = (char *)(uintptr_t)vector_at(row, "mark", i).ptr;
        marks[i].at = (size_t)strtoull(next, &next, 10);
        marks[i].out = (size_t)strtoull(next, &next, 10);
        marks[i].err = (size_t)strtoull(next, &next, 10);
        marks[i].pty = (size_t)strtoull(next, &next, 10);
    }
}

static void read_row(const vector_file *row, recorded_reply *reply)
{
    reply->name = vector_value(row, "name");
    reply->call = vector_value(row, "call");
    reply->bytes = vector_value(row, "bytes");
    reply->then = text(row, "then");
    reply->message = text(row, "message");
    reply->result = error_named(vector_value(row, "result"));
    reply->status = (int32_t)number(row, "status");
    reply->rpc = (int32_t)number(row, "rpc");
    reply->head = position(row, "head");
    reply->complete = position(row, "complete");
    reply->id_at = position(row, "id_at");
    reply->close = has(row, "close");
    reply->binary = number(row, "binary") != 0;
    reply->stream = has(row, "stream");
    reply->started = position(row, "started");
    reply->ended = position(row, "ended");
    reply->finished = position(row, "finished");
    reply->compressed = position(row, "compressed");
    reply->pid = (uint32_t)number(row, "pid");
    reply->exit_code = (int32_t)number(row, "exit_code");
    reply->exited = number(row, "exited") != 0;
    reply->exit_status = text(row, "exit_status");
    reply->out = text(row, "stdout");
    reply->err = text(row, "stderr");
    reply->pty = text(row, "pty");
    read_lists(row, reply);
}

recorded_replies recorded_open(const char *server)
{
    enum { MOST = 256 };
    char name[64];
    vector_file row;
    recorded_reply *replies = block(MOST, sizeof *replies);
    recorded_replies found = {replies, 0};
    snprintf(name, sizeof name, "recorded_%s", server);
    vectors_open(&row, name);
    while (vectors_next(&row)) {
        assert_true(found.count < MOST);
        read_row(&row, &replies[found.count++]);
    }
    free(row.fields); /* the text stays, the replies point into it */
    assert_true(found.count > 0);
    return found;
}

const recorded_reply *recorded_find(recorded_replies replies, const char *name)
{
    for (size_t i = 0; i < replies.count; i++)
        if (strcmp(replies.at[i].name.ptr, name) == 0) return &replies.at[i];
    fail_msg("no recording is called %s", name);
    return NULL;
}

bool recorded_is_call(const recorded_reply *reply, const char *call)
{
    return strcmp(reply->call.ptr, call) == 0;
}
