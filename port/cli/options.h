/* options: the words of the command line. */
#ifndef E2B_CLI_OPTIONS_H
#define E2B_CLI_OPTIONS_H

#include "e2b.h"

#define OPTIONS_META_MAX 32
#define OPTIONS_ENV_MAX 64

/* Which options a verb takes: one bit each. */
#define OPTION_JSON (1u << 0)
#define OPTION_TEMPLATE (1u << 1)
#define OPTION_TIMEOUT (1u << 2)
#define OPTION_META (1u << 3)
#define OPTION_ENV (1u << 4)
#define OPTION_NO_INTERNET (1u << 5)
#define OPTION_OPEN (1u << 6)
#define OPTION_AUTO_PAUSE (1u << 7)
#define OPTION_USER (1u << 8)
#define OPTION_CWD (1u << 9)
#define OPTION_TAG (1u << 10)
#define OPTION_LIMIT (1u << 11)
#define OPTION_CODEC (1u << 12)
#define OPTION_NO_INPUT (1u << 13)
#define OPTION_COMMAND (1u << 14)
#define OPTION_STATE (1u << 15)
#define OPTION_DISK_ONLY (1u << 16)
#define OPTION_SIGNAL (1u << 17)
/* What everything that asks a service takes. */
#define OPTION_SERVICE (1u << 18)
#define OPTION_HELP (1u << 19)

typedef struct cli_options {
    const char *api_key, *domain, *api_url, *sandbox_url;
    const char *template_name, *user, *cwd, *tag;
    const char *command; /* -c: a line for a login shell */
    uint32_t timeout_s;  /* 0: not given */
    uint32_t limit_ms;   /* 0: none */
    int32_t codec, signal;
    bool json, no_internet, open, auto_pause, no_input, disk_only, running, paused, verbose, help;
    e2b_pair meta[OPTIONS_META_MAX], env[OPTIONS_ENV_MAX];
    size_t meta_count, env_count;

    char **words; /* what is left: sandbox ids, then a command */
    size_t word_count;
} cli_options;

/* Reads the words after the verb. Options may stand anywhere before "--" and,
 * if the verb starts a command after `ids` sandbox ids, before its first word;
 * ids SIZE_MAX: there is no command. Fills `words` in argv's own memory, and
 * writes a NUL over the '=' of --meta and --env. False after one line on
 * standard error. */
bool options_parse(cli_options *options, const char *verb, uint32_t allowed, size_t ids, int argc, char **argv);

#endif
