/* signal: TERM and KILL, the two that the protocol has. */
#include "envd/envd_call.h"
#include "envd/process.h"
#include "envd/process_body.h"
#include "wire/report.h"

e2b_err e2b_sandbox_signal(e2b_sandbox *sandbox, uint32_t pid, const char *tag, int32_t signal)
{
    static const char operation[] = "signal process";
    e2b_envd_call envd;
    e2b_selector_body body = {pid, tag, signal, NULL, 0};
    e2b_err err = e2b_envd_require(sandbox, operation);
    if (err) return err;
    const char *wrong = e2b_selector_wrong(&body);
    if (wrong) return e2b_fail(sandbox->client, E2B_INVALID, operation, wrong);
    if (signal != E2B_SIGNAL_KILL && signal != E2B_SIGNAL_TERM)
        return e2b_fail(sandbox->client, E2B_INVALID, operation, "only E2B_SIGNAL_TERM and E2B_SIGNAL_KILL can be sent");
    bool binary = sandbox->client->codec == E2B_CODEC_PROTO;
    e2b_envd_unary(sandbox, &envd, operation, "/process.Process/SendSignal", binary,
                   binary ? e2b_signal_proto : e2b_signal_json, &body);
    envd.call.slot_flags = E2B_SLOT_TAKE_INPUT;
    return e2b_call_simple(&envd.call);
}

e2b_err e2b_process_signal(e2b_process *process, int32_t signal)
{
    if (process->stage == E2B_STAGE_NONE || !process->sandbox) return E2B_CLOSED;
    return e2b_sandbox_signal(process->sandbox, process->pid, NULL, signal);
}
