/* error: the names, texts and predicates of the list of errors.
 * Its functions are public: see E2B_ERRORS in e2b.h. */
#ifndef E2B_BASE_ERROR_H
#define E2B_BASE_ERROR_H

#include "e2b.h"

#endif
