/* bare: the least that a client can do for the same work: blocking sockets,
 * one buffer, our decoder, no checks.
 *
 *     bare stream PORT MIB CODEC BUFFER    receive, find the payload, decode
 *     bare commands PORT COUNT CODEC       send a start, receive to the last chunk, on one connection
 */
#define _GNU_SOURCE /* memmem */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base64.h"

static uint8_t buffer[1 << 20];
static char request[2048];

static int dial(const char *port)
{
    struct sockaddr_in address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)atoi(port));
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static size_t write_request(const char *command, bool proto)
{
    int length = snprintf(request, sizeof request,
                          "POST /process.Process/Start HTTP/1.1\r\nHost: 127.0.0.1\r\nConnect-Protocol-Version: 1\r\n"
                          "Content-Type: application/connect+%s\r\nContent-Length: %zu\r\n\r\n%s",
                          proto ? "proto" : "json", strlen(command), command);
    return (size_t)length;
}

/* A payload lies between `"stdout":"` and the next quote. Returns its characters in this piece. */
static uint64_t take_json(size_t length, uint32_t *matched)
{
    static const char opening[] = "\"stdout\":\"";
    uint64_t total = 0;
    uint8_t *at = buffer, *end = buffer + length;
    while (at < end) {
        if (*matched < sizeof opening - 1) {
            char c = (char)*at++;
            *matched = c == opening[*matched] ? *matched + 1 : c == '"';
            continue;
        }
        uint8_t *quote = memchr(at, '"', (size_t)(end - at)), *stop = quote ? quote : end;
        size_t count = (size_t)(stop - at);
        e2b_base64_decode_plain((const char *)at, count & ~(size_t)3, at);
        total += count;
        if (quote) *matched = 0;
        at = stop;
    }
    return total;
}

/* The same in protobuf: a chunk line, an envelope's prefix, three tags with
 * their lengths, the last of which is the payload's. */
typedef struct proto_walk {
    uint64_t left; /* of the payload */
    uint32_t length, shift, skip;
    int state, lengths;
} proto_walk;

static uint64_t take_proto(size_t size, proto_walk *walk)
{
    uint64_t total = 0;
    for (size_t i = 0; i < size;) {
        if (walk->left) {
            size_t part = size - i < walk->left ? size - i : (size_t)walk->left;
            walk->left -= part;
            total += part;
            i += part;
            if (!walk->left) *walk = (proto_walk){.state = 0, .skip = 2}; /* the chunk's CR LF */
            continue;
        }
        uint8_t byte = buffer[i++];
        if (walk->skip) {
            walk->skip--;
        } else if (walk->state == 0) { /* the chunk line */
            if (byte == '\n') *walk = (proto_walk){.state = 1, .skip = 5};
        } else if (walk->state == 1) { /* a tag */
            walk->state = 2;
            walk->length = walk->shift = 0;
        } else { /* a length */
            walk->length |= (uint32_t)(byte & 127) << walk->shift;
            walk->shift += 7;
            if (byte & 128) continue;
            walk->state = 1;
            if (++walk->lengths == 3) walk->left = walk->length;
        }
    }
    return total;
}

/* The answer's head and its start event come before the first output. */
static int skip_start(int fd)
{
    size_t have = 0;
    while (!memmem(buffer, have, "\xd2\x09\r\n", 4)) {
        ssize_t got = recv(fd, buffer + have, 1, 0);
        if (got <= 0) return 1;
        have += (size_t)got;
    }
    return 0;
}

static int stream(char **argv)
{
    enum { EVENT_CHARACTERS = 43692, EVENTS_OF_A_MIB = 32 };
    bool proto = strcmp(argv[4], "proto") == 0;
    char command[64];
    snprintf(command, sizeof command, "STREAM %s", argv[3]);
    size_t size = (size_t)atoi(argv[5]), sent = write_request(command, proto);
    int fd = dial(argv[2]);
    if (send(fd, request, sent, 0) != (ssize_t)sent) return 1;
    uint64_t mib = (uint64_t)atoi(argv[3]), total = 0;
    uint64_t expected = proto ? mib << 20 : mib * EVENTS_OF_A_MIB * EVENT_CHARACTERS;
    uint32_t matched = 0;
    proto_walk walk = {0};
    if (proto && skip_start(fd)) return 1;
    while (total < expected) {
        ssize_t got = recv(fd, buffer, size, 0);
        if (got <= 0) return 1;
        total += proto ? take_proto((size_t)got, &walk) : take_json((size_t)got, &matched);
    }
    return 0;
}

static int commands(char **argv)
{
    size_t sent = write_request("{}", strcmp(argv[4], "proto") == 0);
    int fd = dial(argv[2]);
    for (long left = atol(argv[3]); left > 0; left--) {
        size_t have = 0;
        if (send(fd, request, sent, 0) != (ssize_t)sent) return 1;
        while (have < 5 || memcmp(buffer + have - 5, "0\r\n\r\n", 5) != 0) {
            ssize_t got = recv(fd, buffer + have, sizeof buffer - have, 0);
            if (got <= 0) return 1;
            have += (size_t)got;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "stream") == 0) return stream(argv);
    if (argc == 5 && strcmp(argv[1], "commands") == 0) return commands(argv);
    return 2;
}
