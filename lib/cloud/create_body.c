#include "cloud/create_body.h"

#include <string.h>

#include "base/json_read.h"
#include "base/json_write.h"
#include "base/utf8.h"

/* ---- Checks ------------------------------------------------------------------ */

static bool text_wrong(const char *text)
{
    return text && !e2b_utf8_valid(e2b_str_of(text));
}

static bool pairs_wrong(const e2b_pair *pairs, size_t count)
{
    if (count && !pairs) return true;
    for (size_t i = 0; i < count; i++)
        if (!pairs[i].name || !*pairs[i].name || !pairs[i].value || text_wrong(pairs[i].name) || text_wrong(pairs[i].value))
            return true;
    return false;
}

static bool strings_wrong(const char *const *strings, size_t count)
{
    if (count && !strings) return true;
    for (size_t i = 0; i < count; i++)
        if (!strings[i] || !*strings[i] || text_wrong(strings[i])) return true;
    return false;
}

static bool control_inside(const char *text)
{
    for (; text && *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) return true;
    return false;
}

static bool json_object_wrong(const char *json)
{
    e2b_json_reader reader;
    e2b_json_item item;
    e2b_text unread = {NULL, 0, 0, 0};
    e2b_str rest = e2b_str_of(json);
    bool first = true;
    memset(&reader, 0, sizeof reader);
    while (rest.len) {
        size_t used;
        int32_t kind = e2b_json_read(&reader, rest.ptr, rest.len, &used, &item);
        if (kind == E2B_JSON_BAD || (first && kind != E2B_JSON_OBJECT)) return true;
        if (kind == E2B_JSON_TEXT && !e2b_json_text(&reader, &item, &unread)) return true;
        first = false;
        rest.ptr += used;
        rest.len -= used;
    }
    return !e2b_json_finish(&reader) || !e2b_utf8_valid(e2b_str_of(json));
}

/* Everything else would be a member without a value. */
static bool choice_wrong(int32_t choice)
{
    return choice != 0 && choice != E2B_YES && choice != E2B_NO;
}

static bool choices_wrong(const e2b_sandbox_options *options)
{
    return choice_wrong(options->auto_pause) || choice_wrong(options->auto_pause_memory) ||
           choice_wrong(options->auto_resume) || choice_wrong(options->secure) || choice_wrong(options->internet_access) ||
           (options->network && choice_wrong(options->network->allow_public_traffic));
}

static bool proxy_wrong(const e2b_egress_proxy *egress_proxy)
{
    if (!egress_proxy->address) return egress_proxy->username || egress_proxy->password;
    return !*egress_proxy->address || text_wrong(egress_proxy->address) || text_wrong(egress_proxy->username) ||
           text_wrong(egress_proxy->password);
}

static const char *network_wrong(const e2b_network *network)
{
    if (strings_wrong(network->allow_out, network->allow_out_count)) return "network.allow_out holds an empty or malformed entry";
    if (strings_wrong(network->deny_out, network->deny_out_count)) return "network.deny_out holds an empty or malformed entry";
    if (text_wrong(network->mask_request_host) || control_inside(network->mask_request_host))
        return "network.mask_request_host is malformed";
    if (proxy_wrong(&network->egress_proxy)) return "network.egress_proxy lacks its address or is malformed";
    if (network->rule_count && !network->rules) return "network.rules holds a malformed rule";
    for (size_t i = 0; i < network->rule_count; i++)
        if (!network->rules[i].domain || text_wrong(network->rules[i].domain) ||
            pairs_wrong(network->rules[i].headers, network->rules[i].header_count))
            return "network.rules holds a malformed rule";
    return NULL;
}

static const char *iam_wrong(const e2b_sandbox_options *options)
{
    if (options->iam_token_count && !options->iam_tokens) return "an iam token is missing";
    for (size_t i = 0; i < options->iam_token_count; i++) {
        const e2b_iam_token *token = &options->iam_tokens[i];
        if (!token->name || !*token->name || strpbrk(token->name, "{}") || control_inside(token->name) || text_wrong(token->name))
            return "an iam token's name is empty or holds a brace or control character";
        if (!token->audience || !*token->audience || text_wrong(token->audience) || text_wrong(token->token_type))
            return "an iam token lacks its audience";
    }
    return NULL;
}

static bool volumes_wrong(const e2b_sandbox_options *options)
{
    if (options->volume_mount_count && !options->volume_mounts) return true;
    for (size_t i = 0; i < options->volume_mount_count; i++) {
        const e2b_volume_mount *mount = &options->volume_mounts[i];
        if (!mount->name || !*mount->name || text_wrong(mount->name)) return true;
        if (!mount->path || mount->path[0] != '/' || text_wrong(mount->path)) return true;
    }
    return false;
}

const char *e2b_create_options_wrong(const e2b_sandbox_options *options)
{
    if (options->template_name && (!*options->template_name || text_wrong(options->template_name) ||
                                   control_inside(options->template_name)))
        return "the template name is empty or malformed";
    if (choices_wrong(options)) return "a choice is neither 0, E2B_YES nor E2B_NO";
    if (options->timeout_s > INT32_MAX) return "timeout_s is above 2147483647";
    if (pairs_wrong(options->metadata, options->metadata_count)) return "metadata holds an empty name or a value that is not UTF-8";
    if (pairs_wrong(options->env, options->env_count)) return "env holds an empty name or a value that is not UTF-8";
    if (options->auto_pause_memory == E2B_NO && options->auto_pause != E2B_YES) return "auto_pause_memory needs auto_pause";
    if (options->auto_resume == E2B_YES && options->auto_pause != E2B_YES) return "auto_resume needs auto_pause";
    if (options->auto_resume == E2B_YES && options->auto_pause_memory == E2B_NO)
        return "auto_resume needs the memory to be kept";
    if (options->mcp_json && json_object_wrong(options->mcp_json)) return "mcp_json is not a JSON object";
    if (volumes_wrong(options)) return "a volume mount needs a name and an absolute path";
    const char *wrong = iam_wrong(options);
    return !wrong && options->network ? network_wrong(options->network) : wrong;
}

/* ---- Writing ----------------------------------------------------------------- */

static void key(e2b_text *text, const char *name)
{
    e2b_text_string(text, name);
    e2b_text_char(text, ':');
}

static void string_member(e2b_text *text, const char *name, const char *value)
{
    key(text, name);
    e2b_json_write_string(text, e2b_str_of(value));
}

/* Writes nothing for "not said". */
static void choice(e2b_text *text, const char *name, int32_t value)
{
    if (value != E2B_YES && value != E2B_NO) return;
    key(text, name);
    e2b_text_string(text, value == E2B_YES ? "true" : "false");
}

static void strings(e2b_text *text, const char *name, const char *const *values, size_t count)
{
    key(text, name);
    e2b_text_char(text, '[');
    for (size_t i = 0; i < count; i++) {
        if (i) e2b_text_char(text, ',');
        e2b_json_write_string(text, e2b_str_of(values[i]));
    }
    e2b_text_char(text, ']');
}

static void proxy(e2b_text *text, const e2b_egress_proxy *egress_proxy)
{
    string_member(text, "\"egressProxy\":{\"address\"", egress_proxy->address);
    if (egress_proxy->username) string_member(text, ",\"username\"", egress_proxy->username);
    if (egress_proxy->password) string_member(text, ",\"password\"", egress_proxy->password);
    e2b_text_char(text, '}');
}

static void rules(e2b_text *text, const e2b_network *network)
{
    e2b_text_string(text, "\"rules\":{");
    for (size_t i = 0; i < network->rule_count; i++) {
        if (i) e2b_text_char(text, ',');
        e2b_json_write_string(text, e2b_str_of(network->rules[i].domain));
        e2b_text_string(text, ":[{\"transform\":{\"headers\":");
        e2b_json_write_pairs(text, network->rules[i].headers, network->rules[i].header_count);
        e2b_text_string(text, "}}]");
    }
    e2b_text_char(text, '}');
}

/* Between members of an object any of which may be the first. True, for chaining. */
static bool separated(e2b_text *text, uint64_t start)
{
    if (text->total != start) e2b_text_char(text, ',');
    return true;
}

static void network_members(e2b_text *text, const e2b_network *network)
{
    uint64_t start = text->total;
    choice(text, "\"allowPublicTraffic\"", network->allow_public_traffic);
    if (network->allow_out_count && separated(text, start))
        strings(text, "\"allowOut\"", network->allow_out, network->allow_out_count);
    if (network->deny_out_count && separated(text, start))
        strings(text, "\"denyOut\"", network->deny_out, network->deny_out_count);
    if (network->egress_proxy.address && separated(text, start)) proxy(text, &network->egress_proxy);
    if (network->mask_request_host && separated(text, start))
        string_member(text, "\"maskRequestHost\"", network->mask_request_host);
    if (network->rule_count && separated(text, start)) rules(text, network);
}

/* One that says nothing is left out, as the SDKs do. */
static void network_member(e2b_text *text, const e2b_network *network)
{
    e2b_text count = {NULL, 0, 0, 0};
    network_members(&count, network);
    if (!count.total) return;
    e2b_text_string(text, ",\"network\":{");
    network_members(text, network);
    e2b_text_char(text, '}');
}

static void metadata(e2b_text *text, const e2b_create_body *body)
{
    const e2b_sandbox_options *options = body->options;
    bool tagged = *body->tag != '\0';
    if (!tagged && !options->metadata_count) return;
    e2b_text_string(text, ",\"metadata\":");
    if (!tagged) {
        e2b_json_write_pairs(text, options->metadata, options->metadata_count);
        return;
    }
    e2b_text_char(text, '{');
    for (size_t i = 0; i < options->metadata_count; i++) {
        e2b_json_write_string(text, e2b_str_of(options->metadata[i].name));
        e2b_text_char(text, ':');
        e2b_json_write_string(text, e2b_str_of(options->metadata[i].value));
        e2b_text_char(text, ',');
    }
    string_member(text, "\"" E2B_CREATE_TAG "\"", body->tag);
    e2b_text_char(text, '}');
}

static void iam(e2b_text *text, const e2b_sandbox_options *options)
{
    e2b_text_string(text, ",\"iam\":{\"tokens\":{");
    for (size_t i = 0; i < options->iam_token_count; i++) {
        const e2b_iam_token *token = &options->iam_tokens[i];
        if (i) e2b_text_char(text, ',');
        e2b_json_write_string(text, e2b_str_of(token->name));
        string_member(text, ":{\"audience\"", token->audience);
        string_member(text, ",\"tokenType\"", token->token_type ? token->token_type : "JWT-SVID");
        e2b_text_char(text, '}');
    }
    e2b_text_string(text, "}}");
}

static void volumes(e2b_text *text, const e2b_sandbox_options *options)
{
    e2b_text_string(text, ",\"volumeMounts\":[");
    for (size_t i = 0; i < options->volume_mount_count; i++) {
        string_member(text, i ? ",{\"name\"" : "{\"name\"", options->volume_mounts[i].name);
        string_member(text, ",\"path\"", options->volume_mounts[i].path);
        e2b_text_char(text, '}');
    }
    e2b_text_char(text, ']');
}

/* The older route reads what is left out as no token, 15 s of life; the SDKs
 * of its time never leave these out. */
static void with_defaults(e2b_text *text, const e2b_create_body *body)
{
    const e2b_sandbox_options *options = body->options;
    uint32_t timeout = options->timeout_s ? options->timeout_s : body->older ? 300 : 0;
    if (timeout) {
        key(text, ",\"timeout\"");
        e2b_text_u64(text, timeout);
    }
    if (body->older) choice(text, ",\"secure\"", options->secure ? options->secure : E2B_YES);
    choice(text, ",\"allow_internet_access\"",
           options->internet_access ? options->internet_access : body->older ? E2B_YES : 0);
}

void e2b_create_body_write(e2b_text *text, const void *subject)
{
    const e2b_create_body *body = subject;
    const e2b_sandbox_options *options = body->options;
    const char *fallback = options->mcp_json ? "mcp-gateway" : "base";
    string_member(text, "{\"templateID\"", options->template_name ? options->template_name : fallback);
    with_defaults(text, body);
    choice(text, ",\"autoPause\"", options->auto_pause);
    choice(text, ",\"autoPauseMemory\"", options->auto_pause_memory);
    if (options->auto_resume) {
        choice(text, ",\"autoResume\":{\"enabled\"", options->auto_resume);
        e2b_text_char(text, '}');
    }
    if (options->network) network_member(text, options->network);
    metadata(text, body);
    if (options->env_count) {
        e2b_text_string(text, ",\"envVars\":");
        e2b_json_write_pairs(text, options->env, options->env_count);
    }
    if (options->mcp_json) {
        e2b_text_string(text, ",\"mcp\":");
        e2b_text_string(text, options->mcp_json);
    }
    if (options->iam_token_count) iam(text, options);
    if (options->volume_mount_count) volumes(text, options);
    e2b_text_char(text, '}');
}
