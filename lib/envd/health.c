/* health: whether the daemon inside the sandbox answers. */
#include "envd/envd_call.h"

e2b_err e2b_sandbox_health(e2b_sandbox *sandbox)
{
    static const char operation[] = "ask for the sandbox's health";
    e2b_envd_call envd;
    e2b_err err = e2b_envd_require(sandbox, operation);
    if (err) return err;
    e2b_envd_request(sandbox, &envd, operation, "GET", "/health");
    envd.call.repeatable = true;
    return e2b_call_simple(&envd.call);
}
