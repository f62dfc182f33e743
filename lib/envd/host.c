/* host: the public name of a port of a sandbox. */
#include "base/text.h"
#include "wire/report.h"

e2b_err e2b_sandbox_host(const e2b_sandbox *sandbox, uint16_t port, char *out, size_t size)
{
    e2b_text text = {out, size, 0, 0};
    if (!sandbox->client) return E2B_STATE;
    if (sandbox->client->debug) {
        e2b_text_string(&text, "localhost:");
        e2b_text_u64(&text, port);
    } else {
        e2b_text_u64(&text, port);
        e2b_text_char(&text, '-');
        e2b_text_string(&text, sandbox->id);
        e2b_text_char(&text, '.');
        if (sandbox->domain[0]) e2b_text_string(&text, sandbox->domain);
        else e2b_text_str(&text, sandbox->client->domain);
    }
    if (size) e2b_text_terminate(&text);
    if (text.total < size) return E2B_OK;
    e2b_err err = e2b_fail(sandbox->client, E2B_TOO_SMALL, "host name of a port", NULL);
    sandbox->client->error.needed = (size_t)text.total + 1;
    return err;
}
