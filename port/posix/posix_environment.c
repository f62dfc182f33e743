#include "e2b_posix.h"

#include <stdlib.h>
#include <strings.h>

/* An empty variable means the default, but for the key: there it is a mistake
 * that the user should hear about. */
static void fill(const char **option, const char *variable, bool keep_empty)
{
    const char *value = getenv(variable);
    if (*option != NULL && **option != 0)
        return;
    if (value != NULL && (*value != 0 || keep_empty))
        *option = value;
}

static void fill_flag(int32_t *option, const char *variable, const char *word, int32_t meaning)
{
    const char *value = getenv(variable);
    if (*option == 0 && value != NULL && strcasecmp(value, word) == 0)
        *option = meaning;
}

e2b_err e2b_posix_environment(e2b_posix_port *port, e2b_client_options *options)
{
    (void)port;
    fill(&options->api_key, "E2B_API_KEY", true);
    fill(&options->api_url, "E2B_API_URL", false);
    fill(&options->sandbox_url, "E2B_SANDBOX_URL", false);
    fill(&options->domain, "E2B_DOMAIN", false);
    fill_flag(&options->debug, "E2B_DEBUG", "true", E2B_YES);
    fill_flag(&options->validate_api_key, "E2B_VALIDATE_API_KEY", "false", E2B_NO);
    return E2B_OK;
}
