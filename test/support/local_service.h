/* local_service: what e2b-local tells tests, and what it does for them
 * (test/local/README.md). It is found through E2B_API_URL. */
#ifndef LOCAL_SERVICE_H
#define LOCAL_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The service's port; 0 if E2B_API_URL names none on 127.0.0.1. */
uint16_t local_service_port(void);

/* METHOD /_local/NAME. The answer's body, NUL-terminated, goes into `answer`;
 * false if it is no 200 or does not fit. body may be NULL. */
bool local_service_ask(const char *method, const char *name, const char *body, char *answer, size_t size);

/* How many sandboxes hold `text` in their id, metadata or process ids; -1 if
 * the service can't be asked. */
int local_service_sandboxes(const char *text);

/* How often "METHOD /path" came; -1 if the service can't be asked. */
int local_service_requests(const char *request);

/* Adds a rule, in JSON. */
bool local_service_fault(const char *rule);

/* Moves the service's clock on. */
bool local_service_advance(unsigned seconds);

#endif
