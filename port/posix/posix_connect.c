#include "posix_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_SIZE 256 /* a host name has at most 253 characters */

typedef struct address {
    struct sockaddr_storage storage;
    socklen_t length;
} address;

/* ---- Addresses ---------------------------------------------------------------- */

static bool parse_numeric(const char *text, uint16_t tcp_port, address *to)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    memset(to, 0, sizeof *to);
    memset(&four, 0, sizeof four);
    memset(&six, 0, sizeof six);
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
        four.sin_port = htons(tcp_port);
        memcpy(&to->storage, &four, sizeof four);
        to->length = sizeof four;
        return true;
    }
    if (inet_pton(AF_INET6, text, &six.sin6_addr) == 1) {
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(tcp_port);
        memcpy(&to->storage, &six, sizeof six);
        to->length = sizeof six;
        return true;
    }
    return false;
}

static bool from_system(const struct addrinfo *info, uint16_t tcp_port, address *to)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    memset(to, 0, sizeof *to);
    if (info->ai_family == AF_INET && info->ai_addrlen == sizeof four) {
        memcpy(&four, info->ai_addr, sizeof four);
        four.sin_port = htons(tcp_port);
        memcpy(&to->storage, &four, sizeof four);
    } else if (info->ai_family == AF_INET6 && info->ai_addrlen == sizeof six) {
        memcpy(&six, info->ai_addr, sizeof six);
        six.sin6_port = htons(tcp_port);
        memcpy(&to->storage, &six, sizeof six);
    } else {
        return false;
    }
    to->length = (socklen_t)info->ai_addrlen;
    return true;
}

static uint32_t addresses_left(const e2b_posix_link *l)
{
    uint32_t left = 0;
    if (l->addresses == ADDRESSES_HOOK)
        return l->count - l->index;
    for (const struct addrinfo *info = l->next; info != NULL; info = info->ai_next)
        left++;
    return left;
}

/* Takes the next address off the list; false if it is not one. */
static bool take_address(e2b_posix_link *l, address *to)
{
    if (l->addresses == ADDRESSES_HOOK) {
        const char *const *texts = l->list;
        return parse_numeric(texts[l->index++], l->tcp_port, to);
    }
    const struct addrinfo *info = l->next;
    l->next = info->ai_next;
    return from_system(info, l->tcp_port, to);
}

static void free_addresses(e2b_posix_link *l)
{
    if (l->addresses == ADDRESSES_SYSTEM) {
        struct addrinfo *list;
        memcpy(&list, &l->list, sizeof list);
        freeaddrinfo(list);
    }
    l->addresses = ADDRESSES_NONE;
    l->list = l->next = NULL;
    l->index = l->count = 0;
}

/* ---- Sockets ------------------------------------------------------------------- */

bool e2b_posix_prepare(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static int make_socket(int family)
{
    int on = 1;
    /* Where the kernel can, closed by exec from the first moment: another thread may fork. */
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK)
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd >= 0 && !e2b_posix_prepare(fd)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
#endif
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#if defined(SO_NOSIGPIPE)
    (void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    return fd;
}

/* Starts one attempt: OK is up, AGAIN under way, CONNECT refused at once,
 * FAILED no socket. errno tells. */
static int32_t attempt(e2b_posix_link *l, const address *to)
{
    struct sockaddr_storage storage = to->storage;
    l->fd = make_socket(storage.ss_family);
    if (l->fd < 0)
        return errno == EAFNOSUPPORT ? E2B_IO_CONNECT : E2B_IO_FAILED;
    if (connect(l->fd, (struct sockaddr *)&storage, to->length) == 0)
        return E2B_IO_OK;
    /* An interrupted connect goes on by itself. */
    if (errno == EINPROGRESS || errno == EINTR)
        return E2B_IO_AGAIN;
    int error = errno;
    close(l->fd);
    l->fd = -1;
    errno = error;
    return E2B_IO_CONNECT;
}

void e2b_posix_drop(e2b_posix_link *l, bool abort)
{
    free_addresses(l);
    if (l->fd < 0)
        return;
    if (abort) {
        struct linger now = {1, 0};
        (void)setsockopt(l->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    close(l->fd);
    l->fd = -1;
}

int32_t e2b_posix_fail(e2b_link *link, e2b_posix_link *l, int32_t outcome, int error)
{
    free_addresses(l);
    l->phase = LINK_DEAD;
    l->outcome = (int8_t)outcome;
    link->error = error;
    return outcome;
}

static int32_t come_up(e2b_posix_link *l)
{
    free_addresses(l);
    l->phase = LINK_UP;
    return E2B_IO_OK;
}

/* The present address's share of the time that is left. The last one has all
 * of it, and the library's own limit ends that. */
static void set_share(e2b_posix_link *l, uint32_t left)
{
    uint64_t now = e2b_posix_now_ms(NULL);
    l->attempt_ms = UINT64_MAX;
    if (left == 0 || l->deadline_ms == UINT64_MAX)
        return;
    uint64_t rest = l->deadline_ms > now ? l->deadline_ms - now : 0;
    l->attempt_ms = now + rest / (left + 1);
}

/* Goes through the list up to an address that does not fail at once. */
static int32_t next_address(e2b_link *link, e2b_posix_link *l, int error)
{
    for (uint32_t left = addresses_left(l); left > 0; left--) {
        address to;
        if (!take_address(l, &to)) {
            error = EAFNOSUPPORT;
            continue;
        }
        set_share(l, left - 1);
        int32_t started = attempt(l, &to);
        if (started == E2B_IO_OK)
            return come_up(l);
        if (started == E2B_IO_AGAIN)
            return E2B_IO_AGAIN;
        error = errno;
        if (started == E2B_IO_FAILED)
            return e2b_posix_fail(link, l, E2B_IO_FAILED, error);
    }
    return e2b_posix_fail(link, l, E2B_IO_CONNECT, error);
}

int32_t e2b_posix_connect_on(e2b_link *link, e2b_posix_link *l)
{
    struct pollfd writable = {l->fd, POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    if (poll(&writable, 1, 0) > 0) {
        if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = errno;
        if (error == 0)
            return come_up(l);
    } else if (e2b_posix_now_ms(NULL) < l->attempt_ms) {
        return E2B_IO_AGAIN;
    } else {
        error = ETIMEDOUT;
    }
    close(l->fd);
    l->fd = -1;
    return next_address(link, l, error);
}

/* ---- Where to ------------------------------------------------------------------- */

static bool copy_name(char name[NAME_SIZE], e2b_str from)
{
    if (from.len == 0 || from.len >= NAME_SIZE)
        return false;
    memcpy(name, from.ptr, from.len);
    name[from.len] = 0;
    return true;
}

static int32_t resolve(const e2b_posix_port *port, e2b_link *link, e2b_posix_link *l, e2b_str host, const char *name)
{
    if (port->options.resolve != NULL) {
        const char *const *list = NULL;
        size_t count = port->options.resolve(port->options.resolve_context, host, &list);
        l->addresses = ADDRESSES_HOOK;
        l->list = list;
        l->count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        return count > 0 ? E2B_IO_OK : E2B_IO_RESOLVE;
    }
    struct addrinfo hints;
    struct addrinfo *list = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    int answer = getaddrinfo(name, NULL, &hints, &list);
    if (answer != 0) {
        link->error = answer == EAI_SYSTEM ? errno : answer;
        return E2B_IO_RESOLVE;
    }
    l->addresses = ADDRESSES_SYSTEM;
    l->list = l->next = list;
    return E2B_IO_OK;
}

static int32_t connect_to(e2b_link *link, e2b_posix_link *l, const address *to)
{
    int32_t started = attempt(l, to);
    l->attempt_ms = UINT64_MAX;
    if (started == E2B_IO_OK)
        return come_up(l);
    if (started == E2B_IO_AGAIN)
        return E2B_IO_AGAIN;
    return e2b_posix_fail(link, l, started, errno);
}

static int32_t connect_beside(e2b_link *link, e2b_posix_link *l, const e2b_link *beside)
{
    e2b_posix_link other = e2b_posix_load(beside);
    address to;
    memset(&to, 0, sizeof to);
    to.length = sizeof to.storage;
    if (other.phase == LINK_CLOSED || other.fd < 0)
        return e2b_posix_fail(link, l, E2B_IO_CONNECT, ENOTCONN);
    if (getpeername(other.fd, (struct sockaddr *)&to.storage, &to.length) != 0)
        return e2b_posix_fail(link, l, E2B_IO_CONNECT, errno);
    return connect_to(link, l, &to);
}

static int32_t start(const e2b_posix_port *port, e2b_link *link, e2b_posix_link *l, const e2b_target *target)
{
    bool given = target->address.len > 0;
    char name[NAME_SIZE];
    address to;
    if (target->tls)
        return E2B_IO_UNSUPPORTED;
    if (target->beside != NULL)
        return connect_beside(link, l, target->beside);
    if (!copy_name(name, given ? target->address : target->host))
        return E2B_IO_RESOLVE;
    if (parse_numeric(name, target->tcp_port, &to))
        return connect_to(link, l, &to);
    if (given)
        return E2B_IO_RESOLVE;
    int32_t resolved = resolve(port, link, l, target->host, name);
    return resolved == E2B_IO_OK ? next_address(link, l, EADDRNOTAVAIL) : resolved;
}

int32_t e2b_posix_connect(void *context, e2b_link *link, const e2b_target *target)
{
    const e2b_posix_port *port = context;
    e2b_posix_link l;
    memset(&l, 0, sizeof l);
    l.fd = -1;
    l.phase = LINK_CONNECTING;
    l.tcp_port = target->tcp_port;
    l.deadline_ms = UINT64_MAX;
    if (target->connect_ms != UINT32_MAX)
        l.deadline_ms = e2b_posix_now_ms(NULL) + target->connect_ms;
    int32_t started = start(port, link, &l, target);
    if (started != E2B_IO_OK && started != E2B_IO_AGAIN) {
        memset(link->state, 0, sizeof link->state);
        return started;
    }
    e2b_posix_store(link, &l);
    return E2B_IO_OK;
}
