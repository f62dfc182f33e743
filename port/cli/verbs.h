/* verbs: what stands after "e2b". Each returns the exit code. */
#ifndef E2B_CLI_VERBS_H
#define E2B_CLI_VERBS_H

#include "session.h"

typedef struct cli_verb {
    const char *name;
    int (*run)(cli_session *session);
    uint32_t options;
    size_t ids;          /* words before a command; SIZE_MAX: no command follows */
    size_t least, most;  /* how many words in all */
    const char *usage;
} cli_verb;

/* Standard output gets the result only. */
int verb_create(cli_session *session);
int verb_connect(cli_session *session);
int verb_resume(cli_session *session);
int verb_list(cli_session *session);
int verb_info(cli_session *session);
int verb_timeout(cli_session *session);
int verb_pause(cli_session *session);
int verb_kill(cli_session *session);
int verb_health(cli_session *session);
int verb_ps(cli_session *session);
int verb_kill_process(cli_session *session);
int verb_run(cli_session *session);
int verb_exec(cli_session *session);

#endif
