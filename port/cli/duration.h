/* duration: spans of time as people type them. */
#ifndef E2B_CLI_DURATION_H
#define E2B_CLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* "90s", "10m", "1h30m", "2d", "250ms", or a plain number of seconds. False
 * for anything else and for what does not fit. */
bool duration_ms(const char *text, uint32_t *ms);
/* The same in seconds, parts of one rounded up. */
bool duration_s(const char *text, uint32_t *seconds);

#endif
