#include "wire/refusal.h"

#include <string.h>

#include "base/json_value.h"
#include "wire/conn.h"
#include "wire/report.h"

/* Connect's codes in order, each as long as the longest plus one. */
static const char rpc_names[16][20] = {
    "canceled",       "unknown",       "invalid_argument",   "deadline_exceeded",
    "not_found",      "already_exists", "permission_denied", "resource_exhausted",
    "failed_precondition", "aborted",  "out_of_range",       "unimplemented",
    "internal",       "unavailable",   "data_loss",          "unauthenticated",
};

int32_t e2b_rpc_code(e2b_str name)
{
    for (int32_t i = 0; i < 16; i++) {
        size_t len = 0;
        while (len < sizeof rpc_names[0] && rpc_names[i][len]) len++;
        if (name.len == len && memcmp(name.ptr, rpc_names[i], len) == 0) return i + 1;
    }
    return 0;
}

e2b_err e2b_rpc_error(int32_t code)
{
    switch (code) {
    case 3: case 11: return E2B_BAD_REQUEST;
    case 4: return E2B_COMMAND_TIMEOUT;
    case 5: return E2B_NOT_FOUND;
    case 6: return E2B_EXISTS;
    case 7: return E2B_FORBIDDEN;
    case 8: return E2B_RATE_LIMITED;
    case 9: case 10: return E2B_CONFLICT;
    case 12: return E2B_UNIMPLEMENTED;
    case 14: return E2B_GATEWAY;
    case 16: return E2B_UNAUTHENTICATED;
    default: return E2B_SERVER;
    }
}

/* What a JSON body says, as far as it is there. */
typedef struct spoken {
    char message[160];
    char name[40]; /* code if it is a string, else error_code */
    e2b_text message_text, name_text;
    int64_t number; /* code if it is a number; else 0 */
    int32_t rpc_code;
    bool is_object, has_error, has_sandbox_id, has_error_code;
} spoken;

static void listen(e2b_client *client, e2b_str body, bool cut, spoken *said)
{
    e2b_json_value value;
    memset(said, 0, sizeof *said);
    said->message_text = (e2b_text){said->message, sizeof said->message, 0, 0};
    said->name_text = (e2b_text){said->name, sizeof said->name, 0, 0};
    if (e2b_json_parse(&value, client->tokens, body, cut)) return;
    if (!e2b_json_value_is_object(&value, 0)) return;
    said->is_object = true;
    size_t error = e2b_json_member(&value, 0, "error"); /* an end-of-stream message wraps it */
    said->has_error = error && e2b_json_value_is_object(&value, error);
    size_t object = said->has_error ? error : 0;
    size_t code = e2b_json_member(&value, object, "code"), word = e2b_json_member(&value, object, "error_code");
    size_t message = e2b_json_member(&value, object, "message");
    if (message && !e2b_json_value_text(&value, message, &said->message_text)) said->message_text.total = 0;
    said->has_sandbox_id = e2b_json_member(&value, object, "sandboxId") != 0;
    if (code && e2b_json_value_is_string(&value, code) && e2b_json_value_text(&value, code, &said->name_text)) {
        said->rpc_code = e2b_rpc_code((e2b_str){said->name, e2b_text_stored(&said->name_text)});
        return;
    }
    said->name_text.total = 0;
    if (code && !e2b_json_value_int64(&value, code, &said->number)) said->number = 0;
    said->has_error_code = word && e2b_json_value_text(&value, word, &said->name_text);
}

static bool name_starts(const spoken *said, const char *start)
{
    size_t len = strlen(start);
    return e2b_text_stored(&said->name_text) >= len && memcmp(said->name, start, len) == 0;
}

static bool message_is(const spoken *said, const char *text)
{
    return said->message_text.total == strlen(text) && memcmp(said->message, text, (size_t)said->message_text.total) == 0;
}

static bool no_capacity(const spoken *said)
{
    return said->has_error_code && (name_starts(said, "sandbox_capacity_unavailable") ||
                                    name_starts(said, "sandbox_no_compatible_node") ||
                                    name_starts(said, "sandbox_placement_timeout"));
}

static e2b_err by_status(int32_t status, const spoken *said, bool envd)
{
    if (status >= 300 && status < 400) return E2B_REDIRECT;
    switch (status) {
    case 400: case 413: case 415: case 422: return E2B_BAD_REQUEST;
    case 401: return E2B_UNAUTHENTICATED;
    case 403: return E2B_FORBIDDEN;
    /* envd and proxies answer an unknown path in plain text. */
    case 404: return envd && !said->is_object ? E2B_UNIMPLEMENTED : E2B_NOT_FOUND;
    case 405: return E2B_UNIMPLEMENTED;
    case 409: return E2B_CONFLICT;
    case 429: return E2B_RATE_LIMITED;
    default: break;
    }
    if (status < 500) return E2B_HTTP;
    if (envd && status == 502 && said->has_sandbox_id && message_is(said, "The sandbox was not found")) return E2B_NOT_RUNNING;
    /* The API's own answer always holds a number. Without one it comes from
     * something that does not know what the API did. */
    if (!envd && !said->number) return E2B_GATEWAY;
    if (status == 501) return E2B_UNIMPLEMENTED;
    if (no_capacity(said)) return E2B_NO_CAPACITY;
    return !envd || (status == 500 && said->is_object) ? E2B_SERVER : E2B_GATEWAY;
}

static void words(const e2b_refusal *refusal, const spoken *said, e2b_err err, e2b_text *text)
{
    if (refusal->status) {
        e2b_text_u64(text, (uint64_t)refusal->status);
        e2b_text_string(text, ": ");
    }
    if (said->rpc_code) {
        e2b_text_bytes(text, said->name, e2b_text_stored(&said->name_text));
        e2b_text_string(text, ": ");
    }
    size_t start = (size_t)text->total;
    if (said->message_text.total) e2b_text_bytes(text, said->message, e2b_text_stored(&said->message_text));
    else e2b_text_bytes(text, refusal->body.ptr, refusal->body.len < 60 ? refusal->body.len : 60);
    /* Where the server's own words say what is wrong, the list's add nothing. */
    if (text->total != start && said->message_text.total && (err == E2B_NOT_FOUND || err == E2B_BAD_REQUEST)) return;
    if (text->total != start) e2b_text_string(text, "; ");
    e2b_text_string(text, e2b_err_text(err));
}

e2b_err e2b_refuse(e2b_client *client, const e2b_refusal *refusal)
{
    spoken said;
    e2b_text text;
    listen(client, refusal->body, true, &said);
    int32_t status = refusal->status;
    /* Where a proxy stands between, the number in the body is the truer one. */
    if (refusal->envd && said.number >= 300 && said.number <= 599) status = (int32_t)said.number;
    e2b_err err = said.rpc_code ? e2b_rpc_error(said.rpc_code)
                : refusal->status ? by_status(status, &said, refusal->envd) : E2B_PROTOCOL;
    e2b_error *error = e2b_report(client, err, refusal->operation, &text);
    error->http_status = refusal->status;
    error->rpc_code = said.rpc_code;
    error->retry_after_s = refusal->retry_after_s;
    words(refusal, &said, err, &text);
    return e2b_report_end(client, error, &text);
}

e2b_err e2b_end_of_stream(e2b_client *client, const char *operation, e2b_str body)
{
    spoken said;
    /* What came whole must be JSON to its end, or half an error would be none. */
    listen(client, body, body.len >= E2B_CONN_COLLECT, &said);
    if (!said.is_object) return e2b_fail(client, E2B_PROTOCOL, operation, "the end-of-stream message is not JSON");
    return said.has_error ? e2b_refuse(client, &(e2b_refusal){operation, 0, 0, body, true}) : E2B_OK;
}

bool e2b_refusal_is_missing_route(e2b_client *client, int32_t status, e2b_str body)
{
    spoken said;
    listen(client, body, true, &said);
    if (message_is(&said, "validation error: method not allowed")) return status == 404 || status == 400 || status == 405;
    if (status != 404) return false;
    return !said.is_object || message_is(&said, "validation error: no matching operation was found");
}
