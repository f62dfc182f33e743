/* e2b_posix.h: sockets, clocks, randomness and the environment of a POSIX
 * system, for libe2b.
 *
 * One port serves one client, in one thread; e2b_posix_wake alone may be
 * called from anywhere. The port stays where it is in memory between open and
 * close. It installs no signal handler, raises no SIGPIPE, and allocates
 * nothing, with one exception: names are resolved by the C library's
 * getaddrinfo, which allocates and may block beyond every time limit. Numeric
 * addresses never go there, and a resolver of your own replaces it. */
#ifndef E2B_POSIX_H
#define E2B_POSIX_H

#include "e2b.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that TLS needs for so many connections. */
#define E2B_TLS_MEMORY(connections) (16u * 1024u + (size_t)(connections) * 40u * 1024u)

/* Gives the numeric addresses (IPv4, or IPv6 without brackets) of a name, to
 * be tried in this order, and returns how many; 0: it has none. The array and
 * its strings must stay as they are while connections to this name are being
 * made. */
typedef size_t (*e2b_posix_resolve)(void *context, e2b_str host, const char *const **addresses);

typedef struct e2b_posix_options {
    void *tls_memory; /* E2B_TLS_MEMORY(connections) bytes; kept until close. This build has no TLS: https is E2B_UNSUPPORTED */
    size_t tls_memory_size;
    int trace_fd; /* lines about what goes over the wire are written here, without secrets; 0: nowhere */
    e2b_posix_resolve resolve; /* NULL: getaddrinfo */
    void *resolve_context;
} e2b_posix_options;

#define E2B_POSIX_WATCHES 4

typedef struct e2b_posix_port {
    e2b_port port; /* hand this to e2b_client_init */

    /* The port's. */
    e2b_posix_options options;
    int wake_read, wake_write;
    struct {
        int fd;
        short events, ready;
    } watches[E2B_POSIX_WATCHES];
    size_t watch_count;
} e2b_posix_port;

/* Sets *port up, whatever it held. Options may be NULL; they are copied.
 * E2B_PORT: no descriptor is left for waking waits; errno tells. */
e2b_err e2b_posix_open(e2b_posix_port *port, const e2b_posix_options *options);

/* Closes what the port itself holds; close the client first. Safe on a zeroed
 * port and safe to repeat. */
void e2b_posix_close(e2b_posix_port *port);

/* Fills what is not yet set in *options from E2B_API_KEY, E2B_API_URL,
 * E2B_SANDBOX_URL, E2B_DOMAIN, E2B_DEBUG ("true" in any case, nothing else)
 * and E2B_VALIDATE_API_KEY ("false" in any case, nothing else). An E2B_API_KEY
 * that is set and empty is taken as it is, and refused by e2b_client_init. The
 * strings are the environment's: call e2b_client_init, which copies them,
 * before changing it. Always E2B_OK. */
e2b_err e2b_posix_environment(e2b_posix_port *port, e2b_client_options *options);

/* Ends the wait that is under way, or else the next one. May be called from a
 * signal handler and from other threads, between open and close; leaves errno
 * alone. Call it after setting the client's cancel flag; a program that can't
 * sets port.port.wake_ms to 100, so that the flag is looked at in time. */
void e2b_posix_wake(e2b_posix_port *port);

/* Adds a descriptor of the caller's to every wait, which ends when one of
 * `events` (of poll(2): POLLIN, POLLOUT) is there. Watching a descriptor again
 * replaces its events; 0 ends watching it; fd < 0 ends watching all of them.
 * E2B_LIMIT: E2B_POSIX_WATCHES are watched already. */
e2b_err e2b_posix_watch(e2b_posix_port *port, int fd, short events);

/* What the last wait found on a watched descriptor: revents of poll(2). */
short e2b_posix_ready(const e2b_posix_port *port, int fd);

#ifdef __cplusplus
}
#endif
#endif
