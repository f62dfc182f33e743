/*
 * Included before each llhttp source. llhttp calls abort() in states that it
 * has proven unreachable and prints from a debug hook that nothing calls; with
 * these two replaced the archive needs neither symbol from the C library.
 */
#ifndef E2B_LLHTTP_FREESTANDING_H
#define E2B_LLHTTP_FREESTANDING_H

#include <stdio.h>
#include <stdlib.h>

#undef abort
#define abort() __builtin_trap()

#undef fprintf
#define fprintf(...) ((void)0)

#endif
