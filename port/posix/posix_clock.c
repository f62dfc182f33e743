#include "posix_link.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/random.h>
#endif

uint64_t e2b_posix_now_ms(void *context)
{
    struct timespec now = {0};
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int64_t e2b_posix_unix_time(void *context)
{
    struct timespec now;
    (void)context;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    return (int64_t)now.tv_sec;
}

static int32_t read_device(uint8_t *out, size_t size)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return E2B_IO_FAILED;
    while (size > 0) {
        ssize_t got = read(fd, out, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        out += got;
        size -= (size_t)got;
    }
    close(fd);
    return size == 0 ? E2B_IO_OK : E2B_IO_FAILED;
}

int32_t e2b_posix_random(void *context, void *out, size_t size)
{
    uint8_t *bytes = out;
    (void)context;
#if defined(__linux__)
    while (size > 0) {
        ssize_t got = getrandom(bytes, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        /* Kernels before 3.17 and some sandboxes don't have the call. */
        if (got <= 0)
            break;
        bytes += got;
        size -= (size_t)got;
    }
#endif
    return size == 0 ? E2B_IO_OK : read_device(bytes, size);
}
