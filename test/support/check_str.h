/* check_str: strings with a length, in cmocka's assertions. */
#ifndef CHECK_STR_H
#define CHECK_STR_H

#include "e2b.h"

/* A C string without its NUL. */
e2b_str str_of(const char *string);

bool str_equal(e2b_str left, e2b_str right);

/* Fails the running test, and shows both, unless they are equal byte for byte. */
void check_str(e2b_str found, e2b_str expected);

#endif
