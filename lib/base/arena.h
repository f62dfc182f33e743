/* arena: the caller's memory, taken from the front, given back to a mark.
 * Its functions are public: see e2b_arena in e2b.h. */
#ifndef E2B_BASE_ARENA_H
#define E2B_BASE_ARENA_H

#include "e2b.h"

#endif
