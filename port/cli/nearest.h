/* nearest: the word that somebody who mistyped probably meant. */
#ifndef E2B_CLI_NEAREST_H
#define E2B_CLI_NEAREST_H

#include <stddef.h>

/* The word at most two edits away and nearest to `typed`; NULL if none is. */
const char *nearest(const char *typed, size_t len, const char *const *words, size_t count);

#endif
