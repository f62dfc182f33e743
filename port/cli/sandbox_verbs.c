#include <string.h>

#include "duration.h"
#include "json_output.h"
#include "report.h"
#include "sandbox_create.h"
#include "signals.h"
#include "verbs.h"

#define HEALTH_GONE 1

static void print_sandbox(const cli_session *session)
{
    const e2b_sandbox *sandbox = &session->sandbox;

    if (!session->options.json) {
        out_text(sandbox->id);
        out_text("\n");
        return;
    }
    json_open();
    json_member("sandboxID", str_of(sandbox->id));
    json_member("domain", str_of(sandbox->domain));
    json_member("envdVersion", str_of(sandbox->envd_version));
    json_close();
    out_text("\n");
}

int verb_create(cli_session *session)
{
    e2b_err err = create_sandbox(session, true);

    /* A caller who is told no must not be left with a sandbox. */
    if (err)
        return kill_created(session, report_create(session, err));
    print_sandbox(session);
    return 0;
}

static e2b_err connect_sandbox(cli_session *session)
{
    return e2b_sandbox_connect(&session->client, &session->sandbox, session->options.words[0],
                               &(e2b_connect_options){
                                   .timeout_s = session->options.timeout_s,
                                   .memory = session->options.disk_only ? E2B_NO : 0,
                               });
}

int verb_connect(cli_session *session)
{
    e2b_err err = connect_sandbox(session);

    if (err)
        return report(&session->client, "cannot connect to sandbox", session->options.words[0], err);
    print_sandbox(session);
    return 0;
}

int verb_resume(cli_session *session)
{
    e2b_err err = connect_sandbox(session);

    return err ? report(&session->client, "cannot resume sandbox", session->options.words[0], err) : 0;
}

/* ---- Info and list ------------------------------------------------------- */

static const char *state_name(int32_t state)
{
    return state == E2B_STATE_RUNNING ? "running" : state == E2B_STATE_PAUSED ? "paused" : "unknown";
}

static void info_json(const e2b_sandbox_info *info)
{
    json_open();
    json_member("sandboxID", str_of(info->id));
    json_member("templateID", str_of(info->template_id));
    if (info->alias[0])
        json_member("alias", str_of(info->alias));
    json_member("state", str_of(state_name(info->state)));
    json_member_date("startedAt", info->started_ms);
    json_member_date("endAt", info->end_ms);
    json_member_number("cpuCount", info->cpu_count);
    json_member_number("memoryMB", info->memory_mb);
    json_member_number("diskSizeMB", info->disk_mb);
    json_member("envdVersion", str_of(info->envd_version));
    json_member_raw("metadata", info->metadata, "{}");
    if (info->internet_access)
        json_member_bool("allowInternetAccess", info->internet_access == E2B_YES);
    if (info->on_timeout_pause) {
        json_member_object("lifecycle");
        json_member("onTimeout", str_of(info->on_timeout_pause == E2B_YES ? "pause" : "kill"));
        if (info->auto_resume)
            json_member_bool("autoResume", info->auto_resume == E2B_YES);
        json_close();
    }
    if (info->network.len > 0)
        json_member_raw("network", info->network, "{}");
    json_close();
}

/* `tag`: the one that finds a lost creation is shown as well. */
static void print_metadata(e2b_str metadata, bool tag)
{
    size_t position = 0, shown = 0;
    e2b_str name, value, create = str_of("libe2b.create");

    while (e2b_json_pairs(metadata, &position, &name, &value)) {
        if (!tag && name.len == create.len && memcmp(name.ptr, create.ptr, name.len) == 0)
            continue;
        if (shown++ > 0)
            out_text(" ");
        out_plain(name);
        out_text("=");
        out_plain(value);
    }
    out_text("\n");
}

static void info_plain(const e2b_sandbox_info *info)
{
    out_text("sandbox   ");
    out_plain(str_of(info->id));
    out_text("\nstate     ");
    out_text(state_name(info->state));
    out_text("\ntemplate  ");
    out_plain(str_of(info->template_id));
    if (info->alias[0]) {
        out_text(" (");
        out_plain(str_of(info->alias));
        out_text(")");
    }
    out_text("\nstarted   ");
    out_date(info->started_ms);
    out_text(info->state == E2B_STATE_PAUSED ? "\npaused    " : "\nends      ");
    out_date(info->end_ms);
    if (info->on_timeout_pause && info->state == E2B_STATE_RUNNING)
        out_text(info->on_timeout_pause == E2B_YES ? " (then pauses)" : " (then is killed)");
    out_text("\nsize      ");
    out_number(info->cpu_count);
    out_text(" CPU, ");
    out_number(info->memory_mb);
    out_text(" MiB memory, ");
    out_number(info->disk_mb);
    out_text(" MiB disk\nenvd      ");
    out_plain(str_of(info->envd_version));
    out_text("\n");
    if (info->internet_access)
        out_text(info->internet_access == E2B_YES ? "internet  yes\n" : "internet  no\n");
    if (info->metadata.len > 2) {
        out_text("metadata  ");
        print_metadata(info->metadata, true);
    }
}

int verb_info(cli_session *session)
{
    const char *id = session->options.words[0];
    e2b_sandbox_info info;

    e2b_err err = e2b_sandbox_refer(&session->client, &session->sandbox, id);
    if (!err)
        err = e2b_sandbox_get_info(&session->sandbox, &info, &session->arena);
    if (err)
        return report(&session->client, "cannot get sandbox", id, err);
    if (session->options.json) {
        info_json(&info);
        out_text("\n");
    } else {
        info_plain(&info);
    }
    return 0;
}

static void list_titles(void)
{
    out_text("SANDBOX               STATE   TEMPLATE             STARTED               ENDS                  METADATA\n");
}

static void list_row(const e2b_sandbox_info *info)
{
    out_column(str_of(info->id), 22);
    out_column(str_of(state_name(info->state)), 8);
    out_column(str_of(info->alias[0] ? info->alias : info->template_id), 21);
    out_date(info->started_ms - info->started_ms % 1000);
    out_text("  ");
    out_date(info->end_ms - info->end_ms % 1000);
    out_text("  ");
    print_metadata(info->metadata, false);
}

int verb_list(cli_session *session)
{
    const cli_options *options = &session->options;
    e2b_list_options wanted = {
        .metadata = options->meta,
        .metadata_count = options->meta_count,
        .running = options->running,
        .paused = options->paused,
        .template_name = options->template_name,
        .arena = &session->arena,
    };
    cli_json_array array = { false };
    e2b_sandbox_list list;
    e2b_sandbox_info info;
    size_t rows = 0;

    e2b_err err = e2b_sandbox_list_open(&session->client, &list, &wanted);
    while (!err && out_working()) {
        err = e2b_sandbox_list_next(&list, &info);
        if (err || !info.id[0])
            break;
        if (options->json) {
            json_array_item(&array);
            info_json(&info);
        } else {
            if (rows++ == 0)
                list_titles();
            list_row(&info);
        }
    }
    e2b_sandbox_list_close(&list);
    if (err)
        return report(&session->client, "cannot list sandboxes", NULL, err);
    if (options->json)
        json_array_end(&array);
    else if (rows == 0)
        list_titles();
    return 0;
}

/* ---- What changes a sandbox ---------------------------------------------- */

int verb_timeout(cli_session *session)
{
    char **words = session->options.words;
    uint32_t seconds;

    if (!duration_s(words[1], &seconds))
        return report_text("the second word of timeout is not a duration", "give one such as 90s, 10m or 1h30m");
    e2b_err err = e2b_sandbox_refer(&session->client, &session->sandbox, words[0]);
    if (!err && seconds == 0)
        return report_text("a lifetime of zero", "give one such as 10m, or end the sandbox with e2b kill");
    if (!err)
        err = e2b_sandbox_set_timeout(&session->sandbox, seconds);
    return err ? report(&session->client, "cannot set the timeout of sandbox", words[0], err) : 0;
}

int verb_pause(cli_session *session)
{
    const char *id = session->options.words[0];

    e2b_err err = e2b_sandbox_refer(&session->client, &session->sandbox, id);
    if (!err)
        err = e2b_sandbox_pause(&session->sandbox, session->options.disk_only ? E2B_NO : 0);
    return err ? report(&session->client, "cannot pause sandbox", id, err) : 0;
}

int verb_kill(cli_session *session)
{
    int code = 0;

    for (size_t i = 0; i < session->options.word_count; i++) {
        const char *id = session->options.words[i];
        e2b_err err = e2b_sandbox_refer(&session->client, &session->sandbox, id);
        if (!err) {
            signals_guard(&session->sandbox);
            err = e2b_sandbox_kill(&session->sandbox);
            signals_guard(NULL);
        }
        if (err)
            code = report(&session->client, "cannot kill sandbox", id, err);
        if (signals_count() > 0)
            return signals_exit_code();
        memset(&session->sandbox, 0, sizeof session->sandbox);
    }
    return code;
}

int verb_health(cli_session *session)
{
    const char *id = session->options.words[0];

    e2b_err err = e2b_sandbox_attach(&session->client, &session->sandbox, id);
    if (!err)
        err = e2b_sandbox_health(&session->sandbox);
    bool gone = err == E2B_NOT_RUNNING || err == E2B_NOT_FOUND;
    if (err && !gone)
        return report(&session->client, "cannot probe sandbox", id, err);
    if (session->options.json) {
        json_open();
        json_member("sandboxID", str_of(id));
        json_member_bool("running", !gone);
        json_close();
        out_text("\n");
    } else {
        out_text(gone ? "not running\n" : "running\n");
    }
    return gone ? HEALTH_GONE : 0;
}
