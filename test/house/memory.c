/*
 * What one client with one sandbox and one live process takes, without TLS,
 * against the promise of at most 12 KiB. Sizes only: nothing is linked.
 */
#include <stdio.h>

#include "e2b.h"

#define PROMISE 12288u

static size_t print(const char *what, size_t bytes)
{
    printf("%7zu  %s\n", bytes, what);
    return bytes;
}

int main(void)
{
    size_t sum = 0;

    sum += print("E2B_CLIENT_MEMORY(2, 4096)", E2B_CLIENT_MEMORY(2, 4096));
    sum += print("e2b_client", sizeof(e2b_client));
    sum += print("e2b_sandbox", sizeof(e2b_sandbox));
    sum += print("e2b_process", sizeof(e2b_process));
    printf("%7zu  together, of at most %u\n", sum, PROMISE);
    return sum > PROMISE;
}
