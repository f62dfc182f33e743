/* arena: the caller's memory, taken from the front, given back to a mark.
 * Its functions are public: see e2b_arena in e2b.h. */
#ifndef E2B_BASE_ARENA_H
#define E2B_BASE_ARENA_H

#include "base/text.h"

/* A text in what is left of it; what is written there is not taken yet. */
e2b_text e2b_arena_text(const e2b_arena *arena);

#endif
