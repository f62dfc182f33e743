#include "report.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "signals.h"
#include "text_output.h"

/* What the one who typed the command can do about it. */
static const char *advice(e2b_err err)
{
    switch (err) {
    case E2B_RESOLVE:
    case E2B_CONNECT:
    case E2B_CONNECT_TIMEOUT:
    case E2B_SEND:
    case E2B_SEND_TIMEOUT: return "check the network, and E2B_API_URL, E2B_SANDBOX_URL or E2B_DOMAIN";
    case E2B_NO_REPLY:
    case E2B_REPLY_TIMEOUT:
    case E2B_TRUNCATED:
    case E2B_IDLE: return "see with e2b list, e2b info or e2b ps what is there, then try again";
    case E2B_REDIRECT:
    case E2B_PROTOCOL:
    case E2B_LIMIT:
    case E2B_COMPRESSED:
    case E2B_HTTP:
    case E2B_UNIMPLEMENTED:
    case E2B_GATEWAY: return "check that E2B_API_URL and E2B_DOMAIN lead to an E2B service, or try again later";
    case E2B_UNAUTHENTICATED: return "check E2B_API_KEY or --api-key";
    case E2B_FORBIDDEN: return "check whose key is in E2B_API_KEY";
    case E2B_CONFLICT:
    case E2B_RATE_LIMITED:
    case E2B_NO_CAPACITY:
    case E2B_SERVER: return "try again later";
    case E2B_INVALID:
    case E2B_BAD_REQUEST: return "correct it, see e2b help";
    case E2B_NOT_RUNNING: return "e2b list shows which there are, e2b resume wakes a paused one";
    case E2B_NOT_FOUND: return "e2b list shows which there are";
    case E2B_COMMAND_TIMEOUT: return "give it a longer --limit";
    default: return NULL;
    }
}

/* The library's words without the name of the call, which `doing` says better,
 * and, where there is advice, without the general text behind the server's own. */
static void reason(cli_line *line, const e2b_client *client, e2b_err err)
{
    const char *text = e2b_reason(client, err), *general = e2b_err_text(err), *after = strstr(text, ": ");
    size_t limit = SIZE_MAX;

    if (text != general && after)
        text = after + 2;
    for (const char *at = strstr(text, "; "); at && advice(err); at = strstr(at + 2, "; "))
        if (strncmp(at + 2, general, strlen(at + 2)) == 0)
            limit = (size_t)(at - text);
    line_plain(line, text, limit);
}

static void begin(cli_line *line, const char *doing, const char *subject)
{
    line->len = 0;
    line_text(line, "e2b: ");
    line_text(line, doing);
    if (subject) {
        line_text(line, " ");
        line_plain(line, subject, 80);
    }
    line_text(line, ": ");
}

int report(const e2b_client *client, const char *doing, const char *subject, e2b_err err)
{
    return report_with(client, doing, subject, err, advice(err));
}

int report_with(const e2b_client *client, const char *doing, const char *subject, e2b_err err, const char *instead)
{
    cli_line line;

    if (err == E2B_NO_API_KEY)
        return report_text("no API key", "set E2B_API_KEY or pass --api-key");
    begin(&line, doing, subject);
    if (err == E2B_CANCELLED && signals_count() > 0) {
        line_text(&line, "interrupted");
        line_end(&line);
        return signals_exit_code();
    }
    reason(&line, client, err);
    if (instead) {
        line_text(&line, ": ");
        line_text(&line, instead);
    }
    line_end(&line);
    return EXIT_OURS;
}

int report_text(const char *what, const char *instead)
{
    cli_line line;

    begin(&line, what, NULL);
    line_text(&line, instead);
    line_end(&line);
    return EXIT_OURS;
}

int report_output(const char *where, int error)
{
    if (error == EPIPE)
        return 128 + SIGPIPE;
    if (error == EINTR)
        return signals_exit_code();
    cli_line line;
    begin(&line, "cannot write to", where);
    line_text(&line, strerror(error));
    line_text(&line, ": check what it leads to");
    line_end(&line);
    return EXIT_OURS;
}
