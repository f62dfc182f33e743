/* generator: a server that answers from prepared bytes, so that it is never
 * the limit of what is measured. One process, poll, plain HTTP/1.1.
 *
 *     generator PORT-FILE     writes its port there, serves until killed
 *
 * A create makes a sandbox, DELETE is 204. A start whose body holds "STREAM n"
 * gives n MiB of output in events of 32 KiB, as the daemon reads them; any
 * other start gives three bytes. JSON or protobuf as the request's type says.
 */
#define _GNU_SOURCE /* memmem */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEERS 64
#define EVENT_BYTES 32768u
#define BATCH_EVENTS 8u

typedef struct bytes {
    char *at;
    size_t length;
} bytes;

typedef struct peer {
    int fd;
    char request[65536];
    size_t have;
    const bytes *part[3]; /* head and start, events, end */
    uint64_t times[3];
    size_t index, offset;
} peer;

static bytes batch[2], begin_stream[2], finish[2], small_reply[2], created, removed;
static peer peers[PEERS];
static struct pollfd polls[PEERS + 1];
static size_t peer_count;

static void append(bytes *to, const void *data, size_t length)
{
    to->at = realloc(to->at, to->length + length);
    if (!to->at) abort();
    memcpy(to->at + to->length, data, length);
    to->length += length;
}

static void text(bytes *to, const char *string)
{
    append(to, string, strlen(string));
}

/* One envelope in one HTTP chunk. */
static void envelope(bytes *to, uint8_t flags, const void *payload, size_t length)
{
    char chunk[32];
    uint8_t prefix[5] = {flags, (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length};
    snprintf(chunk, sizeof chunk, "%zx\r\n", length + sizeof prefix);
    text(to, chunk);
    append(to, prefix, sizeof prefix);
    append(to, payload, length);
    text(to, "\r\n");
}

static void json_event(bytes *to, const uint8_t *data, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes message = {NULL, 0};
    text(&message, "{\"event\":{\"data\":{\"stdout\":\"");
    for (size_t i = 0; i < length; i += 3) {
        uint32_t group = (uint32_t)data[i] << 16 | (i + 1 < length ? (uint32_t)data[i + 1] << 8 : 0) | (i + 2 < length ? data[i + 2] : 0);
        char four[4] = {digits[group >> 18], digits[group >> 12 & 63], i + 1 < length ? digits[group >> 6 & 63] : '=',
                        i + 2 < length ? digits[group & 63] : '='};
        append(&message, four, 4);
    }
    text(&message, "\"}}}");
    envelope(to, 0, message.at, message.length);
    free(message.at);
}

static size_t varint(uint8_t *out, uint32_t value)
{
    size_t length = 0;
    for (; value >= 128; value >>= 7) out[length++] = (uint8_t)(value | 128);
    out[length++] = (uint8_t)value;
    return length;
}

static size_t varint_length(uint32_t value)
{
    uint8_t scratch[8];
    return varint(scratch, value);
}

static void proto_event(bytes *to, const uint8_t *data, size_t length)
{
    uint8_t head[24];
    size_t at = 0, inner = 1 + varint_length((uint32_t)length) + length, event = 1 + varint_length((uint32_t)inner) + inner;
    bytes message = {NULL, 0};
    head[at++] = 0x0a;
    at += varint(head + at, (uint32_t)event);
    head[at++] = 0x12;
    at += varint(head + at, (uint32_t)inner);
    head[at++] = 0x0a;
    at += varint(head + at, (uint32_t)length);
    append(&message, head, at);
    append(&message, data, length);
    envelope(to, 0, message.at, message.length);
    free(message.at);
}

static void prepare(void)
{
    static uint8_t data[EVENT_BYTES];
    static const uint8_t proto_start[] = {0x0a, 0x05, 0x0a, 0x03, 0x08, 0xd2, 0x09};
    static const uint8_t proto_end[] = {0x0a, 0x13, 0x1a, 0x11, 0x10, 0x01, 0x1a, 0x0d, 'e', 'x', 'i', 't', ' ', 's', 't', 'a', 't', 'u', 's', ' ', '0'};
    static const char json_start[] = "{\"event\":{\"start\":{\"pid\":1234}}}";
    static const char json_end[] = "{\"event\":{\"end\":{\"exited\":true, \"status\":\"exit status 0\"}}}";
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7 + (i >> 8));
    for (int codec = 0; codec < 2; codec++) {
        text(&begin_stream[codec], "HTTP/1.1 200 OK\r\nContent-Type: application/connect+");
        text(&begin_stream[codec], codec ? "proto" : "json");
        text(&begin_stream[codec], "\r\nTransfer-Encoding: chunked\r\n\r\n");
        if (codec) envelope(&begin_stream[codec], 0, proto_start, sizeof proto_start);
        else envelope(&begin_stream[codec], 0, json_start, sizeof json_start - 1);
        for (size_t i = 0; i < BATCH_EVENTS; i++) codec ? proto_event(&batch[codec], data, sizeof data) : json_event(&batch[codec], data, sizeof data);
        if (codec) envelope(&finish[codec], 0, proto_end, sizeof proto_end);
        else envelope(&finish[codec], 0, json_end, sizeof json_end - 1);
        envelope(&finish[codec], 2, "{}", 2);
        text(&finish[codec], "0\r\n\r\n");
        append(&small_reply[codec], begin_stream[codec].at, begin_stream[codec].length);
        codec ? proto_event(&small_reply[codec], (const uint8_t *)"hi\n", 3) : json_event(&small_reply[codec], (const uint8_t *)"hi\n", 3);
        append(&small_reply[codec], finish[codec].at, finish[codec].length);
    }
    static const char body[] = "{\"alias\":\"base\",\"clientID\":\"6532622b\",\"envdVersion\":\"0.6.13\",\"sandboxID\":\"ibench00000000000000\","
                               "\"templateID\":\"base\",\"envdAccessToken\":\"0000000000000000000000000000000000000000000000000000000000000000\"}";
    char head[160];
    snprintf(head, sizeof head, "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n", sizeof body - 1);
    text(&created, head);
    text(&created, body);
    text(&removed, "HTTP/1.1 204 No Content\r\n\r\n");
}

/* The length of the request that begins the buffer, or 0. Chunked bodies end
 * with their last chunk, which no body here contains otherwise. */
static size_t whole_request(const peer *p)
{
    const char *end = memmem(p->request, p->have, "\r\n\r\n", 4), *field;
    if (!end) return 0;
    size_t head = (size_t)(end - p->request) + 4;
    if (memmem(p->request, head, "chunked", 7)) {
        const char *last = memmem(p->request + head - 2, p->have - head + 2, "\r\n0\r\n\r\n", 7);
        return last ? (size_t)(last - p->request) + 7 : 0;
    }
    field = memmem(p->request, head, "ontent-", 7) ? memmem(p->request, head, "ength: ", 7) : NULL;
    size_t length = head + (field ? (size_t)strtoul(field + 7, NULL, 10) : 0);
    return p->have >= length ? length : 0;
}

static void answer(peer *p, const bytes *a, const bytes *b, uint64_t times, const bytes *c)
{
    p->part[0] = a;
    p->part[1] = b;
    p->part[2] = c;
    p->times[0] = 1;
    p->times[1] = b ? times : 0;
    p->times[2] = c ? 1 : 0;
    p->index = p->offset = 0;
}

static void choose(peer *p, size_t length)
{
    int codec = memmem(p->request, length, "connect+proto", 13) != NULL;
    const char *stream = memmem(p->request, length, "STREAM ", 7);
    if (memcmp(p->request, "DELETE", 6) == 0) answer(p, &removed, NULL, 0, NULL);
    else if (!memmem(p->request, length, "/process.Process/", 17)) answer(p, &created, NULL, 0, NULL);
    else if (!stream) answer(p, &small_reply[codec], NULL, 0, NULL);
    else answer(p, &begin_stream[codec], &batch[codec], strtoull(stream + 7, NULL, 10) * 32 / BATCH_EVENTS, &finish[codec]);
}

static bool send_more(peer *p)
{
    while (p->index < 3) {
        if (!p->times[p->index]) {
            p->index++;
            continue;
        }
        const bytes *part = p->part[p->index];
        ssize_t sent = send(p->fd, part->at + p->offset, part->length - p->offset, MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN;
        p->offset += (size_t)sent;
        if (p->offset < part->length) continue;
        p->offset = 0;
        p->times[p->index]--;
    }
    return true;
}

static bool serve(peer *p, short events)
{
    if (events & POLLOUT && !send_more(p)) return false;
    if (events & (POLLIN | POLLHUP | POLLERR)) {
        ssize_t got = recv(p->fd, p->request + p->have, sizeof p->request - p->have, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
        if (got > 0) p->have += (size_t)got;
    }
    size_t length;
    while (p->index == 3 && (length = whole_request(p)) != 0) {
        choose(p, length);
        memmove(p->request, p->request + length, p->have - length);
        p->have -= length;
        if (!send_more(p)) return false;
    }
    return true;
}

static void join(int listener)
{
    int fd = accept(listener, NULL, NULL), on = 1;
    if (fd < 0) return;
    if (peer_count == PEERS) {
        close(fd);
        return;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    peer *p = &peers[peer_count++];
    p->fd = fd;
    p->have = 0;
    p->index = 3;
}

static void leave(size_t i)
{
    close(peers[i].fd);
    peers[i] = peers[--peer_count];
}

int main(int argc, char **argv)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (argc != 2 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        return 1;
    prepare();
    FILE *file = fopen(argv[1], "w");
    if (!file) return 1;
    fprintf(file, "%d\n", ntohs(address.sin_port));
    fclose(file);
    for (;;) {
        polls[0] = (struct pollfd){listener, POLLIN, 0};
        for (size_t i = 0; i < peer_count; i++)
            polls[i + 1] = (struct pollfd){peers[i].fd, (short)(peers[i].index < 3 ? POLLOUT : POLLIN), 0};
        if (poll(polls, peer_count + 1, -1) < 0) continue;
        for (size_t i = peer_count; i-- > 0;)
            if (polls[i + 1].revents && !serve(&peers[i], polls[i + 1].revents)) leave(i);
        if (polls[0].revents) join(listener);
    }
}
