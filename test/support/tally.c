#include "tally.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long passed, failed;

bool tally_check(tally_case *at, bool holds, const char *format, ...)
{
    va_list arguments;
    if (holds) return true;
    at->failed++;
    pthread_mutex_lock(&lock);
    printf("failed: %s: ", at->name);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    pthread_mutex_unlock(&lock);
    return false;
}

void tally_add(const tally_case *at)
{
    pthread_mutex_lock(&lock);
    if (at->failed) failed++;
    else passed++;
    pthread_mutex_unlock(&lock);
}

int tally_end(void)
{
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed > 0;
}
