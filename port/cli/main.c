#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "json_output.h"
#include "nearest.h"
#include "report.h"
#include "verbs.h"

#define MAKE (OPTION_TEMPLATE | OPTION_TIMEOUT | OPTION_META | OPTION_ENV | OPTION_NO_INTERNET | OPTION_OPEN | OPTION_AUTO_PAUSE)
#define COMMAND (OPTION_ENV | OPTION_USER | OPTION_CWD | OPTION_TAG | OPTION_LIMIT | OPTION_CODEC | OPTION_NO_INPUT | OPTION_COMMAND)
#define MANY SIZE_MAX

static int verb_version(cli_session *session);
static int verb_help(cli_session *session);

static const cli_verb verbs[] = {
    { "run", verb_run, OPTION_SERVICE | MAKE | COMMAND, 0, 0, MANY, "e2b run -- COMMAND, or e2b run -c LINE" },
    { "exec", verb_exec, OPTION_SERVICE | COMMAND, 1, 1, MANY, "e2b exec ID -- COMMAND, or e2b exec ID -c LINE" },
    { "create", verb_create, OPTION_SERVICE | OPTION_JSON | MAKE, MANY, 0, 0, "e2b create" },
    { "connect", verb_connect, OPTION_SERVICE | OPTION_JSON | OPTION_TIMEOUT | OPTION_DISK_ONLY, MANY, 1, 1, "e2b connect ID" },
    { "resume", verb_resume, OPTION_SERVICE | OPTION_TIMEOUT | OPTION_DISK_ONLY, MANY, 1, 1, "e2b resume ID" },
    { "list", verb_list, OPTION_SERVICE | OPTION_JSON | OPTION_META | OPTION_STATE | OPTION_TEMPLATE, MANY, 0, 0, "e2b list" },
    { "info", verb_info, OPTION_SERVICE | OPTION_JSON, MANY, 1, 1, "e2b info ID" },
    { "ps", verb_ps, OPTION_SERVICE | OPTION_JSON, MANY, 1, 1, "e2b ps ID" },
    { "kill-process", verb_kill_process, OPTION_SERVICE | OPTION_TAG | OPTION_SIGNAL, MANY, 1, 2, "e2b kill-process ID PID" },
    { "timeout", verb_timeout, OPTION_SERVICE, MANY, 2, 2, "e2b timeout ID 10m" },
    { "pause", verb_pause, OPTION_SERVICE | OPTION_DISK_ONLY, MANY, 1, 1, "e2b pause ID" },
    { "kill", verb_kill, OPTION_SERVICE, MANY, 1, MANY, "e2b kill ID..." },
    { "health", verb_health, OPTION_SERVICE | OPTION_JSON, MANY, 1, 1, "e2b health ID" },
    { "version", verb_version, OPTION_JSON, MANY, 0, 0, "e2b version" },
    { "help", verb_help, 0, MANY, 0, 1, "e2b help VERB" },
};

#define VERBS (sizeof verbs / sizeof *verbs)

static cli_session session;

static int verb_version(cli_session *with)
{
    if (with->options.json) {
        json_open();
        json_member("version", str_of(E2B_VERSION));
        json_close();
        out_text("\n");
    } else {
        out_text("e2b " E2B_VERSION "\n");
    }
    return 0;
}

static int unknown_verb(const char *word)
{
    const char *names[VERBS];
    cli_line line = { .len = 0 };

    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i].name;
    const char *near = nearest(word, strlen(word), names, VERBS);
    line_text(&line, "e2b: no verb ");
    line_plain(&line, word, 60);
    line_text(&line, near ? ": did you mean e2b " : ": e2b help lists them");
    if (near) {
        line_text(&line, near);
        line_text(&line, "?");
    }
    line_end(&line);
    return EXIT_OURS;
}

static int verb_help(cli_session *with)
{
    const char *word = with->options.word_count > 0 ? with->options.words[0] : NULL;
    const char *text = help_text(word);

    if (!text)
        return unknown_verb(word ? word : "");
    out_text(text);
    return 0;
}

/* A descriptor of 0 to 2 that is closed would become a socket, with output
 * written to it. Writing to a descriptor opened for reading fails as on a closed one. */
static void fill_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
            _exit(EXIT_OURS);
}

static int wrong_words(const cli_verb *verb)
{
    cli_line line = { .len = 0 };

    line_text(&line, "e2b: ");
    line_text(&line, verb->name);
    line_text(&line, session.options.word_count < verb->least ? " needs more words" : " takes fewer words");
    line_text(&line, ": ");
    line_text(&line, verb->usage);
    line_text(&line, ", see e2b help ");
    line_text(&line, verb->name);
    line_end(&line);
    return EXIT_OURS;
}

/* A verb that starts a command wants either its words or -c. */
static bool has_command(const cli_verb *verb)
{
    return !(verb->options & OPTION_COMMAND) ||
           (session.options.word_count > verb->ids) != (session.options.command != NULL);
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    cli_options *options = &session.options;

    if (!options_parse(options, verb->name, verb->options, verb->ids, argc, argv))
        return EXIT_OURS;
    if (options->help) {
        out_text(help_text(verb->name));
        return 0;
    }
    if (options->word_count < verb->least || options->word_count > verb->most)
        return wrong_words(verb);
    if (!has_command(verb))
        return report_text("either a command or -c is needed", verb->usage);
    if (!(verb->options & OPTION_SERVICE))
        return verb->run(&session);
    int code = session_open(&session) ? verb->run(&session) : EXIT_OURS;
    session_close(&session);
    return code;
}

int main(int argc, char **argv)
{
    fill_descriptors();
    if (argc < 2)
        return report_text("no verb", "e2b help lists them");

    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        word = "help";
    if (strcmp(word, "--version") == 0)
        word = "version";
    int code = -1;
    for (size_t i = 0; i < VERBS && code < 0; i++)
        if (strcmp(word, verbs[i].name) == 0)
            code = run_verb(&verbs[i], argc - 2, argv + 2);
    if (code < 0)
        code = unknown_verb(word);

    int error = out_finish();
    if (error)
        code = report_output("standard output", error);
    return code;
}
