#include "options.h"

#include <string.h>

#include "duration.h"
#include "nearest.h"
#include "report.h"
#include "text_output.h"

typedef enum option_id {
    ID_API_KEY, ID_DOMAIN, ID_API_URL, ID_SANDBOX_URL, ID_VERBOSE, ID_HELP, ID_JSON, ID_TEMPLATE, ID_TIMEOUT, ID_META,
    ID_ENV, ID_NO_INTERNET, ID_OPEN, ID_AUTO_PAUSE, ID_USER, ID_CWD, ID_TAG, ID_LIMIT, ID_CODEC, ID_NO_INPUT,
    ID_COMMAND, ID_STATE, ID_DISK_ONLY, ID_SIGNAL
} option_id;

typedef struct cli_option {
    const char *name;
    char letter;
    bool takes_value;
    option_id id;
    uint32_t group;
} cli_option;

static const cli_option known[] = {
    { "api-key", 0, true, ID_API_KEY, OPTION_SERVICE },
    { "domain", 0, true, ID_DOMAIN, OPTION_SERVICE },
    { "api-url", 0, true, ID_API_URL, OPTION_SERVICE },
    { "sandbox-url", 0, true, ID_SANDBOX_URL, OPTION_SERVICE },
    { "verbose", 'v', false, ID_VERBOSE, OPTION_SERVICE },
    { "help", 'h', false, ID_HELP, OPTION_HELP },
    { "json", 0, false, ID_JSON, OPTION_JSON },
    { "template", 't', true, ID_TEMPLATE, OPTION_TEMPLATE },
    { "timeout", 0, true, ID_TIMEOUT, OPTION_TIMEOUT },
    { "meta", 'm', true, ID_META, OPTION_META },
    { "env", 'e', true, ID_ENV, OPTION_ENV },
    { "no-internet", 0, false, ID_NO_INTERNET, OPTION_NO_INTERNET },
    { "open", 0, false, ID_OPEN, OPTION_OPEN },
    { "auto-pause", 0, false, ID_AUTO_PAUSE, OPTION_AUTO_PAUSE },
    { "user", 'u', true, ID_USER, OPTION_USER },
    { "cwd", 'w', true, ID_CWD, OPTION_CWD },
    { "tag", 0, true, ID_TAG, OPTION_TAG },
    { "limit", 0, true, ID_LIMIT, OPTION_LIMIT },
    { "codec", 0, true, ID_CODEC, OPTION_CODEC },
    { "no-input", 'n', false, ID_NO_INPUT, OPTION_NO_INPUT },
    { "command", 'c', true, ID_COMMAND, OPTION_COMMAND },
    { "state", 0, true, ID_STATE, OPTION_STATE },
    { "disk-only", 0, false, ID_DISK_ONLY, OPTION_DISK_ONLY },
    { "signal", 's', true, ID_SIGNAL, OPTION_SIGNAL },
};

#define KNOWN (sizeof known / sizeof *known)

static bool refuse(const char *option, const char *value, const char *why)
{
    cli_line line = { .len = 0 };

    line_text(&line, "e2b: ");
    line_text(&line, option);
    if (*value)
        line_text(&line, " ");
    line_plain(&line, value, 80);
    line_text(&line, ": ");
    line_text(&line, why);
    line_end(&line);
    return false;
}

static bool pair(const char *option, char *value, e2b_pair *pairs, size_t *count, size_t most)
{
    char *equals = strchr(value, '=');

    /* The value itself is not shown: in --env it may be a secret. */
    if (!equals || equals == value)
        return refuse(option, "", "its value is not of the form name=value");
    if (*count == most)
        return refuse(option, "", "too many of them: at most 32 --meta and 64 --env are taken");
    *equals = '\0';
    pairs[(*count)++] = (e2b_pair){ value, equals + 1 };
    return true;
}

/* One of a few words. */
static bool choice(const char *value, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(value, word, len) == 0;
}

static bool states(cli_options *options, const char *value)
{
    for (const char *from = value;; from++) {
        size_t len = strcspn(from, ",");
        if (choice(from, len, "running"))
            options->running = true;
        else if (choice(from, len, "paused"))
            options->paused = true;
        else
            return refuse("--state", value, "not a state: give running, paused, or running,paused");
        from += len;
        if (*from == '\0')
            return true;
    }
}

static bool set_value(cli_options *options, option_id id, char *value)
{
    switch (id) {
    case ID_API_KEY: options->api_key = value; return true;
    case ID_DOMAIN: options->domain = value; return true;
    case ID_API_URL: options->api_url = value; return true;
    case ID_SANDBOX_URL: options->sandbox_url = value; return true;
    case ID_TEMPLATE: options->template_name = value; return true;
    case ID_USER: options->user = value; return true;
    case ID_CWD: options->cwd = value; return true;
    case ID_TAG: options->tag = value; return true;
    case ID_COMMAND: options->command = value; return true;
    case ID_STATE: return states(options, value);
    case ID_META: return pair("--meta", value, options->meta, &options->meta_count, OPTIONS_META_MAX);
    case ID_ENV: return pair("--env", value, options->env, &options->env_count, OPTIONS_ENV_MAX);
    case ID_TIMEOUT:
        return (duration_s(value, &options->timeout_s) && options->timeout_s > 0) ||
               refuse("--timeout", value, "not a lifetime: give one above zero, such as 90s, 10m or 1h30m");
    case ID_LIMIT:
        return (duration_ms(value, &options->limit_ms) && options->limit_ms > 0) ||
               refuse("--limit", value, "not a time limit: give one above zero, such as 90s, 10m or 1h30m");
    case ID_CODEC:
        options->codec = strcmp(value, "proto") == 0 ? E2B_CODEC_PROTO : E2B_CODEC_JSON;
        return options->codec == E2B_CODEC_PROTO || strcmp(value, "json") == 0 ||
               refuse("--codec", value, "not a codec: give json or proto");
    case ID_SIGNAL:
        options->signal = strcmp(value, "KILL") == 0 ? E2B_SIGNAL_KILL : E2B_SIGNAL_TERM;
        return options->signal == E2B_SIGNAL_KILL || strcmp(value, "TERM") == 0 ||
               refuse("--signal", value, "not a signal that the service can send: give TERM or KILL");
    default: return true;
    }
}

static void set_flag(cli_options *options, option_id id)
{
    switch (id) {
    case ID_VERBOSE: options->verbose = true; break;
    case ID_HELP: options->help = true; break;
    case ID_JSON: options->json = true; break;
    case ID_NO_INTERNET: options->no_internet = true; break;
    case ID_OPEN: options->open = true; break;
    case ID_AUTO_PAUSE: options->auto_pause = true; break;
    case ID_NO_INPUT: options->no_input = true; break;
    case ID_DISK_ONLY: options->disk_only = true; break;
    default: break;
    }
}

static bool unknown(const char *verb, uint32_t allowed, const char *word, size_t len)
{
    const char *names[KNOWN];
    size_t count = 0;
    cli_line line = { .len = 0 };

    for (size_t i = 0; i < KNOWN; i++)
        if (known[i].group & allowed)
            names[count++] = known[i].name;
    const char *near = len > 2 && word[1] == '-' ? nearest(word + 2, len - 2, names, count) : NULL;

    line_text(&line, "e2b: ");
    line_text(&line, verb);
    line_text(&line, " has no option ");
    line_plain(&line, word, len < 60 ? len : 60);
    line_text(&line, ": ");
    if (near) {
        line_text(&line, "did you mean --");
        line_text(&line, near);
        line_text(&line, "?");
    } else {
        line_text(&line, "see e2b help ");
        line_text(&line, verb);
    }
    line_end(&line);
    return false;
}

/* The option that `word` names; its value, if attached, in *value. */
static const cli_option *find(uint32_t allowed, char *word, size_t *len, char **value)
{
    bool is_long = word[1] == '-';

    *value = NULL;
    *len = strlen(word);
    if (is_long) {
        *len = strcspn(word, "=");
        if (word[*len])
            *value = word + *len + 1;
    } else if (word[1] && word[2]) {
        *len = 2;
        *value = word + 2;
    }
    for (size_t i = 0; i < KNOWN; i++) {
        if (!(known[i].group & allowed))
            continue;
        if (is_long ? choice(word + 2, *len - 2, known[i].name) : word[1] == known[i].letter && word[1])
            return &known[i];
    }
    return NULL;
}

/* Takes the option at argv[*at] and its value. */
static bool take(cli_options *options, const char *verb, uint32_t allowed, int argc, char **argv, int *at)
{
    char *value, *word = argv[*at];
    size_t len;
    const cli_option *found = find(allowed, word, &len, &value);

    if (!found)
        return unknown(verb, allowed, word, len);
    if (!found->takes_value) {
        if (value)
            return refuse("option", word, "takes no value");
        set_flag(options, found->id);
        return true;
    }
    if (!value) {
        if (*at + 1 >= argc)
            return refuse("option", word, "needs a value after it");
        value = argv[++*at];
    }
    return set_value(options, found->id, value);
}

bool options_parse(cli_options *options, const char *verb, uint32_t allowed, size_t ids, int argc, char **argv)
{
    int at = 0;

    memset(options, 0, sizeof *options);
    options->words = argv;
    for (; at < argc; at++) {
        char *word = argv[at];
        if (strcmp(word, "--") == 0) {
            at++;
            break;
        }
        if (word[0] == '-' && word[1]) {
            if (!take(options, verb, allowed | OPTION_HELP, argc, argv, &at))
                return false;
        } else if (options->word_count >= ids) {
            break;
        } else {
            options->words[options->word_count++] = word;
        }
    }
    for (; at < argc; at++)
        options->words[options->word_count++] = argv[at];
    return true;
}
