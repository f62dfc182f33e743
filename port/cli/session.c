#include "session.h"

#include <string.h>

#include "report.h"
#include "signals.h"
#include "text_output.h"

/* One connection for the command's stream, one for a piece of input that may
 * have to wait for its reader, one for what must get through beside them. */
#define CONNECTIONS 3

static uint8_t client_memory[E2B_CLIENT_MEMORY(CONNECTIONS, 64 * 1024)];
/* Command lines of processes can be long. Pages that stay unused cost nothing. */
static uint8_t arena_memory[4 * 1024 * 1024];

static void trace(void *context, const char *text, size_t length)
{
    cli_line line = { .len = 0 };
    char copy[900];

    (void)context;
    if (length >= sizeof copy)
        length = sizeof copy - 1;
    memcpy(copy, text, length);
    copy[length] = '\0';
    line_text(&line, "e2b: ");
    line_text(&line, copy);
    line_end(&line);
}

static void override(const char **setting, const char *option)
{
    if (option && *option)
        *setting = option;
}

bool session_open(cli_session *session)
{
    e2b_client_options settings = { 0 };
    const cli_options *options = &session->options;

    e2b_err err = e2b_posix_open(&session->port, NULL);
    if (!err)
        err = e2b_posix_environment(&session->port, &settings);
    if (err) {
        report(NULL, "cannot start", NULL, err);
        return false;
    }
    override(&settings.api_key, options->api_key);
    override(&settings.domain, options->domain);
    override(&settings.api_url, options->api_url);
    override(&settings.sandbox_url, options->sandbox_url);
    settings.connections = CONNECTIONS;
    settings.codec = options->codec;
    settings.user_agent = "e2b-cli/" E2B_VERSION;
    settings.cancel = signals_cancel();
    if (options->verbose)
        session->port.port.trace = trace;

    signals_install(&session->port);
    e2b_arena_init(&session->arena, arena_memory, sizeof arena_memory);
    err = e2b_client_init(&session->client, &session->port.port, &settings, client_memory, sizeof client_memory);
    if (err)
        report(&session->client, "cannot start", NULL, err);
    return err == E2B_OK;
}

void session_close(cli_session *session)
{
    e2b_client_close(&session->client);
    e2b_posix_close(&session->port);
}
