/* loopback: a POSIX port, and servers beside it, for tests over 127.0.0.1. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "posix_link.h"

/* The port under test, and what its resolver answers. */
extern e2b_posix_port loopback_port;
extern const char *const *loopback_list;
extern size_t loopback_count;
extern int loopback_calls;

/* Setup and teardown of each test. */
int loopback_open(void **state);
int loopback_close(void **state);
#define WITH_PORT(test) cmocka_unit_test_setup_teardown(test, loopback_open, loopback_close)

/* A socket bound without listening: nobody else can take the number, and
 * connecting to it is refused. *tcp_port 0: any. */
int loopback_reserve(const char *address, uint16_t *tcp_port);
/* A listening socket on 127.0.0.1. */
int loopback_serve(uint16_t *tcp_port);
/* Closes by reset. */
void loopback_reset(int peer);

e2b_target loopback_target(const char *host, uint16_t tcp_port);
int32_t loopback_dial_target(e2b_link *link, const e2b_target *target);
int32_t loopback_dial(e2b_link *link, const char *host, uint16_t tcp_port);
/* A link that is up; returns the peer's end of it. */
int loopback_connected(e2b_link *link);

/* Waits for one link and gives what is ready. */
uint8_t loopback_wait(e2b_link *link, uint8_t wanted, uint32_t ms);
/* The port's recv and send, after waiting until they don't answer AGAIN. */
int32_t loopback_take(e2b_link *link, void *buffer, size_t size);
int32_t loopback_give(e2b_link *link, const void *data, size_t size);
void loopback_hang_up(e2b_link *link, bool abort);

/* The lowest descriptor that is free: the same again means that none leaked. */
int loopback_lowest_free(void);

#endif
