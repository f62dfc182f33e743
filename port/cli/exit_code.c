#include "exit_code.h"

#include <string.h>

#define SIGNALED "signal: "

/* The service gives no number for a signal, only these words, by number from 1 on. */
static const char *const signal_words[] = {
    "hangup", "interrupt", "quit", "illegal instruction", "trace/breakpoint trap", "aborted", "bus error",
    "floating point exception", "killed", "user defined signal 1", "segmentation fault", "user defined signal 2",
    "broken pipe", "alarm clock", "terminated",
};

int exit_code_of(const e2b_event *end)
{
    e2b_str status = end->status;
    size_t prefix = strlen(SIGNALED);

    if (!end->exited && end->exit_code < 0 && status.len > prefix && memcmp(status.ptr, SIGNALED, prefix) == 0) {
        for (size_t i = 0; i < sizeof signal_words / sizeof *signal_words; i++) {
            size_t len = strlen(signal_words[i]);
            /* " (core dumped)" may follow. */
            if (status.len - prefix >= len && memcmp(status.ptr + prefix, signal_words[i], len) == 0 &&
                (status.len - prefix == len || status.ptr[prefix + len] == ' '))
                return 129 + (int)i;
        }
    }
    return (int)((uint32_t)end->exit_code & 0xff);
}
