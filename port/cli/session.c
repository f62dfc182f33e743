#include "session.h"

#include <unistd.h>

#include "report.h"
#include "signals.h"

/* One connection for the command's stream, one for a piece of input that may
 * have to wait for its reader, one for what must get through beside them. */
#define CONNECTIONS 3

static uint8_t client_memory[E2B_CLIENT_MEMORY(CONNECTIONS, 64 * 1024)];
/* Command lines of processes can be long. Pages that stay unused cost nothing. */
static uint8_t arena_memory[4 * 1024 * 1024];

bool session_open(cli_session *session)
{
    const cli_options *options = &session->options;
    e2b_client_options settings = {
        .api_key = options->api_key,
        .domain = options->domain,
        .api_url = options->api_url,
        .sandbox_url = options->sandbox_url,
        .connections = CONNECTIONS,
        .codec = options->codec,
        .user_agent = "e2b-cli/" E2B_VERSION,
        .cancel = signals_cancel(),
    };
    e2b_posix_options port_options = { .trace_fd = options->verbose ? STDERR_FILENO : 0 };

    e2b_err err = e2b_posix_open(&session->port, &port_options);
    if (!err)
        err = e2b_posix_environment(&session->port, &settings);
    if (err) {
        report(NULL, "cannot start", NULL, err);
        return false;
    }
    signals_install(&session->port);
    e2b_arena_init(&session->arena, arena_memory, sizeof arena_memory);
    err = e2b_client_init(&session->client, &session->port.port, &settings, client_memory, sizeof client_memory);
    if (err)
        report_with(&session->client, "cannot start", NULL, err, NULL);
    return err == E2B_OK;
}

void session_close(cli_session *session)
{
    e2b_client_close(&session->client);
    e2b_posix_close(&session->port);
}
