#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define GIVE_UP 3

static volatile sig_atomic_t count, last, cancel_at = 1;
static volatile int cancel;
static e2b_posix_port *volatile port;
static const e2b_sandbox *volatile guarded;

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody is left to tell */
}

/* Runs inside the handler: nothing but write. */
static void say_what_is_left(void)
{
    const e2b_sandbox *sandbox = guarded;

    say("e2b: gave up");
    if (sandbox && sandbox->state == E2B_SANDBOX_LIVE) {
        say(": sandbox ");
        say(sandbox->id);
        say(" may still be running: e2b kill ");
        say(sandbox->id);
    } else if (sandbox && sandbox->state == E2B_SANDBOX_MAYBE) {
        say(": a sandbox may have been created: look for it with e2b list --meta libe2b.create=");
        say(sandbox->create_tag);
    }
    say("\n");
}

static void handle(int number)
{
    int error = errno;

    last = number;
    count = count + 1;
    if (count >= cancel_at)
        cancel = 1;
    if (count >= GIVE_UP) {
        say_what_is_left();
        _exit(128 + number);
    }
    if (port)
        e2b_posix_wake(port);
    errno = error;
}

void signals_install(e2b_posix_port *with)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action, before;

    port = with;
    memset(&action, 0, sizeof action);
    /* Without SA_RESTART: a write to a pipe that nobody reads must end. */
    action.sa_handler = handle;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);

    /* A reader that has gone is seen as EPIPE: the command elsewhere has to be ended first. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

volatile int *signals_cancel(void)
{
    return &cancel;
}

int signals_count(void)
{
    return count;
}

int signals_last(void)
{
    return last;
}

int signals_exit_code(void)
{
    return 128 + last;
}

void signals_streaming(void)
{
    cancel_at = 2;
    cancel = 0;
    if (count >= 2) /* it may have come between the two lines above */
        cancel = 1;
}

void signals_leave(void)
{
    cancel = 1;
}

void signals_guard(const e2b_sandbox *sandbox)
{
    guarded = sandbox;
}
