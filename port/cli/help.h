/* help: texts of at most 24 lines of at most 79 columns. */
#ifndef E2B_CLI_HELP_H
#define E2B_CLI_HELP_H

/* Of a verb, or of all if NULL; NULL for a word that is no verb. */
const char *help_text(const char *verb);

#endif
