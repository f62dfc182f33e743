#include "local_service.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_SIZE = 1 << 20 };

uint16_t local_service_port(void)
{
    static const char start[] = "http://127.0.0.1:";
    const char *url = getenv("E2B_API_URL");
    if (!url || strncmp(url, start, sizeof start - 1) != 0) return 0;
    return (uint16_t)strtoul(url + sizeof start - 1, NULL, 10);
}

static int dial(void)
{
    struct sockaddr_in to;
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_port = htons(local_service_port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

static bool send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t taken = send(fd, data, size, MSG_NOSIGNAL);
        if (taken <= 0) return false;
        data += taken;
        size -= (size_t)taken;
    }
    return true;
}

/* Version 1.0: the answer ends with the connection and is not chunked. */
static bool send_request(int fd, const char *method, const char *name, const char *body)
{
    char head[256];
    size_t length = body ? strlen(body) : 0;
    int size = snprintf(head, sizeof head,
                        "%s /_local/%s HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n", method, name, length);
    return size > 0 && (size_t)size < sizeof head && send_all(fd, head, (size_t)size) && send_all(fd, body, length);
}

static bool read_all(int fd, char *answer, size_t size)
{
    size_t used = 0;
    ssize_t got;
    while (used < size - 1 && (got = recv(fd, answer + used, size - 1 - used, 0)) > 0) used += (size_t)got;
    answer[used] = '\0';
    return used < size - 1;
}

bool local_service_ask(const char *method, const char *name, const char *body, char *answer, size_t size)
{
    int fd = dial();
    bool good = fd >= 0 && send_request(fd, method, name, body) && read_all(fd, answer, size);
    if (fd >= 0) close(fd);
    char *start = good ? strstr(answer, "\r\n\r\n") : NULL;
    if (!start || !strstr(answer, " 200 ")) return false;
    memmove(answer, start + 4, strlen(start + 4) + 1);
    return true;
}

int local_service_sandboxes(const char *text)
{
    char *answer = malloc(ANSWER_SIZE);
    int count = -1;
    if (answer && local_service_ask("GET", "sandboxes", NULL, answer, ANSWER_SIZE)) {
        count = 0;
        for (char *one = strstr(answer, "{\"sandboxID\""), *next; one; one = next) {
            next = strstr(one + 1, "{\"sandboxID\"");
            char *found = strstr(one, text);
            count += found && (!next || found < next);
        }
    }
    free(answer);
    return count;
}

int local_service_requests(const char *request)
{
    char *answer = malloc(ANSWER_SIZE);
    char key[256];
    int count = -1;
    snprintf(key, sizeof key, "\"%s\": ", request);
    if (answer && local_service_ask("GET", "requests", NULL, answer, ANSWER_SIZE)) {
        char *found = strstr(answer, key);
        count = found ? atoi(found + strlen(key)) : 0;
    }
    free(answer);
    return count;
}

bool local_service_fault(const char *rule)
{
    char answer[512];
    return local_service_ask("POST", "faults", rule, answer, sizeof answer);
}

bool local_service_advance(unsigned seconds)
{
    char body[64], answer[512];
    snprintf(body, sizeof body, "{\"advance\":%u}", seconds);
    return local_service_ask("POST", "clock", body, answer, sizeof answer);
}
