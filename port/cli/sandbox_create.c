#include "sandbox_create.h"

#include "report.h"
#include "signals.h"

e2b_err create_sandbox(cli_session *session, bool with_env)
{
    const cli_options *options = &session->options;
    e2b_sandbox_options wanted = {
        .template_name = options->template_name,
        .timeout_s = options->timeout_s,
        .auto_pause = options->auto_pause ? E2B_YES : 0,
        .secure = options->open ? E2B_NO : 0,
        .internet_access = options->no_internet ? E2B_NO : 0,
        .metadata = options->meta,
        .metadata_count = options->meta_count,
    };

    if (with_env) {
        wanted.env = options->env;
        wanted.env_count = options->env_count;
    }
    signals_guard(&session->sandbox);
    return e2b_sandbox_create(&session->client, &session->sandbox, &wanted);
}

int report_create(const cli_session *session, e2b_err err)
{
    const char *doing = "cannot create a sandbox";

    if (err == E2B_NOT_FOUND)
        return report_with(&session->client, doing, NULL, err, "check the template, --template");
    return report(&session->client, doing, NULL, err);
}

int kill_created(cli_session *session, int code)
{
    e2b_sandbox *sandbox = &session->sandbox;

    if (sandbox->state == E2B_SANDBOX_MAYBE)
        report_text("looking for the sandbox whose creation went unanswered",
                    "this can take 80 s; a third ctrl-C gives up");
    e2b_err err = e2b_sandbox_kill(sandbox);
    signals_guard(NULL);
    if (!err)
        return code;
    if (sandbox->state == E2B_SANDBOX_MAYBE)
        report(&session->client, "a sandbox may be left, e2b list --meta finds it by libe2b.create =",
               sandbox->create_tag, err);
    else
        report(&session->client, "sandbox may still be running, kill it with e2b kill", sandbox->id, err);
    return EXIT_OURS;
}
