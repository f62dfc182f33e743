/* exit_code: how a command ended, as a shell would say it. */
#ifndef E2B_CLI_EXIT_CODE_H
#define E2B_CLI_EXIT_CODE_H

#include "e2b.h"

/* Of an END event: the command's own code, or 128 + n if signal n ended it. */
int exit_code_of(const e2b_event *end);

#endif
