#include "fault_positions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 32, FIRST_PATIENCE_MS = 300, KINDS = 3 };

static const char *const kinds[KINDS] = {"cut", "reset", "stall"};

typedef struct fault_course {
    const fault_subject *subject;
    fault_proxy proxy;
    size_t request_size, reply_size;
    unsigned next, count;
    pthread_mutex_t lock;
} fault_course;

/* ---- One position ------------------------------------------------------------- */

bool fault_dial(fault_worker *worker, uint16_t connections, int32_t codec)
{
    e2b_client_options options;
    memset(&options, 0, sizeof options);
    options.api_url = options.sandbox_url = worker->port.url;
    options.codec = codec;
    fault_hang_up(worker);
    worker->dialed = live_client_open(&worker->through, &options, connections, worker->through_memory,
                                      sizeof worker->through_memory);
    return worker->dialed;
}

void fault_hang_up(fault_worker *worker)
{
    if (worker->dialed) live_client_close(&worker->through);
    worker->dialed = false;
}

static void name_fault(fault_point *point, unsigned attempt)
{
    snprintf(point->text, sizeof point->text, "%s %s %u", point->kind, point->up ? "up" : "down", point->at);
    snprintf(point->label, sizeof point->label, "%c%c%04u%02u", point->kind[0], point->up ? 'u' : 'd', point->at % 10000u,
             attempt % 100u);
}

static void go_through(fault_worker *worker, const fault_course *course, unsigned index)
{
    const char *kind = kinds[index % KINDS];
    unsigned attempt = 0, at = index / KINDS;
    fault_point point = {kind, "", "", at <= course->request_size, kind[0] == 'c', kind[0] == 's', at};
    if (!point.up) point.at = at - (unsigned)course->request_size - 1;
    worker->patience_ms = FIRST_PATIENCE_MS;
    name_fault(&point, attempt);
    worker->at = (tally_case){point.text, 0};
    while (!course->subject->position(worker, &point)) {
        worker->patience_ms *= 2;
        name_fault(&point, ++attempt);
    }
    tally_add(&worker->at);
}

/* ---- Workers -------------------------------------------------------------------- */

static fault_worker *hire(const fault_course *course)
{
    fault_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return NULL;
    worker->own = calloc(1, course->subject->own_size);
    worker->at = (tally_case){course->subject->name, 0};
    if (worker->own && fault_port_open(&course->proxy, &worker->port) &&
        live_client_open(&worker->direct, NULL, 3, worker->direct_memory, sizeof worker->direct_memory) &&
        course->subject->begin(worker))
        return worker;
    CHECK(&worker->at, false, "a worker did not get ready");
    tally_add(&worker->at);
    return NULL;
}

static void dismiss(const fault_course *course, fault_worker *worker)
{
    worker->at = (tally_case){course->subject->name, 0};
    fault_hang_up(worker);
    course->subject->end(worker);
    live_client_close(&worker->direct);
    fault_port_close(&worker->port);
    tally_add(&worker->at);
    free(worker->own);
    free(worker);
}

static void *work(void *context)
{
    fault_course *course = context;
    fault_worker *worker = hire(course);
    if (!worker) return NULL;
    worker->request_size = course->request_size;
    for (;;) {
        pthread_mutex_lock(&course->lock);
        unsigned index = course->next++;
        pthread_mutex_unlock(&course->lock);
        if (index >= course->count) break;
        go_through(worker, course, index);
    }
    dismiss(course, worker);
    return NULL;
}

static bool rehearse(fault_course *course)
{
    fault_point none = {"none", "none", "n-000000", true, false, false, 0};
    fault_worker *worker = hire(course);
    if (!worker) return false;
    worker->at = (tally_case){"without a fault", 0};
    course->subject->position(worker, &none);
    course->request_size = worker->through.counting.sent;
    course->reply_size = worker->through.counting.received;
    tally_add(&worker->at);
    dismiss(course, worker);
    return course->request_size > 0 && course->reply_size > 0;
}

void fault_positions(const fault_subject *subject)
{
    fault_course course = {subject, {0, 0, 0}, 0, 0, 0, 0, PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[WORKERS];
    tally_case at = {subject->name, 0};
    CHECK(&at, fault_proxy_start(&course.proxy) && rehearse(&course), "no exchange without a fault");
    tally_add(&at);
    /* Also behind the last byte, where no fault happens, in both directions. */
    if (!at.failed) course.count = KINDS * (unsigned)(course.request_size + course.reply_size + 2);
    for (size_t i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, work, &course);
    for (size_t i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    fault_proxy_end(&course.proxy);
    printf("%s: %u positions, %zu bytes of request and %zu of answer\n", subject->name, course.count,
           course.request_size, course.reply_size);
}

/* ---- What is to be expected -------------------------------------------------------- */

bool fault_reply_whole(const counting_port *counting, size_t skipped)
{
    const char *reply = counting->reply + skipped, *end = strstr(reply, "\r\n\r\n");
    const char *length = strstr(reply, "Content-Length: ");
    if (counting->received < skipped || !end) return false;
    size_t head = (size_t)(end + 4 - reply), body = length ? strtoul(length + 16, NULL, 10) : 0;
    return counting->received >= skipped + head + body;
}

e2b_err fault_expected(const fault_point *point, bool left, bool begun)
{
    if (!left) return point->stalls ? E2B_SEND_TIMEOUT : E2B_SEND;
    if (point->stalls) return E2B_REPLY_TIMEOUT;
    return begun ? E2B_TRUNCATED : E2B_NO_REPLY;
}
