#include "report.h"
#include "sandbox_create.h"
#include "stream.h"
#include "verbs.h"

/* Starts the words from `first` on, or the line of -c, and follows it to its end. */
static int run_command(cli_session *session, size_t first, bool owned)
{
    const cli_options *options = &session->options;
    const char *id = session->sandbox.id;
    e2b_process_options wanted = {
        .user = options->user,
        .cwd = options->cwd,
        .env = options->env,
        .env_count = options->env_count,
        .tag = options->tag,
        .timeout_ms = options->limit_ms,
        .input = !options->no_input && stream_has_input(),
    };
    e2b_process process;
    e2b_err err;

    if (options->command)
        err = e2b_process_shell(&session->sandbox, &process, options->command, &wanted);
    else
        err = e2b_process_start(&session->sandbox, &process, (const char *const *)(options->words + first),
                                options->word_count - first, &wanted);
    const char *doing = e2b_err_may_have_run(err) && !owned ? "the command may or may not run in sandbox"
                                                            : "cannot start the command in sandbox";
    /* The service answers alike to an unknown user and to an unknown token. */
    if (err == E2B_UNAUTHENTICATED && options->user)
        return report_with(&session->client, doing, id, err, "check --user");
    if (err)
        return report(&session->client, doing, id, err);
    return stream_process(session, &process, wanted.input, owned);
}

int verb_run(cli_session *session)
{
    e2b_err err = create_sandbox(session, false);
    int code = err ? report_create(session, err) : run_command(session, 0, true);
    return kill_created(session, code);
}

int verb_exec(cli_session *session)
{
    const char *id = session->options.words[0];

    e2b_err err = e2b_sandbox_attach(&session->client, &session->sandbox, id);
    if (err)
        return report(&session->client, "cannot attach to sandbox", id, err);
    return run_command(session, 1, false);
}
