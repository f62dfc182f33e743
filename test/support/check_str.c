#include "check_str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

e2b_str str_of(const char *string)
{
    return (e2b_str){string, strlen(string)};
}

bool str_equal(e2b_str left, e2b_str right)
{
    return left.len == right.len && (left.len == 0 || memcmp(left.ptr, right.ptr, left.len) == 0);
}

/* What can be read as text, the rest as \xHH. */
static void show(const char *what, e2b_str str)
{
    char line[400];
    size_t at = 0;
    for (size_t i = 0; i < str.len && at + 5 < sizeof line; i++) {
        unsigned int byte = (unsigned char)str.ptr[i];
        bool plain = byte >= 0x20 && byte < 0x7f;
        at += (size_t)snprintf(line + at, sizeof line - at, plain ? "%c" : "\\x%02x", byte);
    }
    line[at] = '\0';
    print_error("%s (%zu bytes): %s\n", what, str.len, line);
}

void check_str(e2b_str found, e2b_str expected)
{
    if (!str_equal(found, expected)) {
        show("expected", expected);
        show("found", found);
        fail();
    }
}
