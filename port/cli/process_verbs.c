#include <string.h>

#include "json_output.h"
#include "report.h"
#include "verbs.h"

static void process_json(const e2b_process_info *info)
{
    json_open();
    json_member_number("pid", info->pid);
    json_member("cmd", info->cmd);
    json_member_raw("args", info->args, "[]");
    if (info->cwd.len > 0)
        json_member("cwd", info->cwd);
    if (info->tag.len > 0)
        json_member("tag", info->tag);
    json_close();
}

static void titles(void)
{
    out_text("    PID  TAG           COMMAND\n");
}

static void process_plain(const e2b_process_info *info)
{
    size_t position = 0;
    e2b_str word;

    for (uint32_t size = 1000000; size > info->pid && size > 1; size /= 10)
        out_text(" ");
    out_number(info->pid);
    out_text("  ");
    out_column(info->tag.len > 0 ? info->tag : str_of("-"), 14);
    out_plain(info->cmd);
    while (e2b_json_strings(info->args, &position, &word)) {
        out_text(" ");
        out_plain(word);
    }
    out_text("\n");
}

int verb_ps(cli_session *session)
{
    const char *id = session->options.words[0];
    bool json = session->options.json;
    cli_json_array array = { false };
    e2b_process_list list;
    e2b_process_info info;
    bool cut = false;
    size_t rows = 0;

    e2b_err err = e2b_sandbox_attach(&session->client, &session->sandbox, id);
    if (!err)
        err = e2b_process_list_open(&session->sandbox, &list, &session->arena);
    if (err)
        return report(&session->client, "cannot list the processes of sandbox", id, err);
    while (out_working()) {
        memset(&info, 0, sizeof info);
        err = e2b_process_list_next(&list, &info);
        /* Its strings are beyond 4 MiB; the pid and the rest of the list are there. */
        if (err == E2B_TOO_SMALL && info.pid) {
            cut = true;
            info = (e2b_process_info){ .pid = info.pid };
            err = E2B_OK;
        }
        if (err || !info.pid)
            break;
        if (json) {
            json_array_item(&array);
            process_json(&info);
        } else {
            if (rows++ == 0)
                titles();
            process_plain(&info);
        }
    }
    e2b_process_list_close(&list);
    if (err)
        return report(&session->client, "cannot list the processes of sandbox", id, err);
    if (json)
        json_array_end(&array);
    else if (rows == 0)
        titles();
    return cut ? report_text("a command line is longer than 4 MiB", "its process is shown by pid only") : 0;
}

/* A pid: digits only, above 0. */
static bool parse_pid(const char *text, uint32_t *pid)
{
    uint64_t value = 0;

    for (; *text >= '0' && *text <= '9' && value <= UINT32_MAX; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    *pid = (uint32_t)value;
    return *text == '\0' && value > 0 && value <= UINT32_MAX;
}

int verb_kill_process(cli_session *session)
{
    const cli_options *options = &session->options;
    const char *id = options->words[0];
    uint32_t pid = 0;

    if ((options->word_count == 2) == (options->tag != NULL))
        return report_text("kill-process takes a pid or a tag", "e2b kill-process ID PID, or e2b kill-process ID --tag TAG");
    if (options->word_count == 2 && !parse_pid(options->words[1], &pid))
        return report_text("the second word of kill-process is not a pid", "e2b ps shows the pids");
    e2b_err err = e2b_sandbox_attach(&session->client, &session->sandbox, id);
    if (err)
        return report(&session->client, "cannot attach to sandbox", id, err);
    err = e2b_sandbox_signal(&session->sandbox, pid, options->tag, options->signal ? options->signal : E2B_SIGNAL_KILL);
    const char *name = pid ? options->words[1] : options->tag;
    if (err == E2B_NOT_FOUND)
        return report_with(&session->client, "cannot signal process", name, err, "e2b ps shows which there are");
    return err ? report(&session->client, "cannot signal process", name, err) : 0;
}
