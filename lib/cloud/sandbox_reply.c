#include "cloud/sandbox_reply.h"

#include <string.h>

#include "cloud/api.h"
#include "wire/report.h"
#include "wire/url.h"

bool e2b_version_parse(const char *text, uint16_t version[3])
{
    for (int part = 0; part < 3; part++) {
        uint32_t number = 0;
        if (*text < '0' || *text > '9') return false;
        for (; *text >= '0' && *text <= '9'; text++) {
            number = number * 10 + (uint32_t)(*text - '0');
            if (number > 65535) return false;
        }
        version[part] = (uint16_t)number;
        if (part < 2 && *text++ != '.') return false;
    }
    return true;
}

int e2b_version_compare(const uint16_t version[3], uint16_t major, uint16_t minor, uint16_t patch)
{
    if (version[0] != major) return version[0] < major ? -1 : 1;
    if (version[1] != minor) return version[1] < minor ? -1 : 1;
    return version[2] < patch ? -1 : version[2] > patch;
}

enum { FIELD_ID, FIELD_TOKEN, FIELD_TRAFFIC, FIELD_DOMAIN, FIELD_VERSION, FIELD_COUNT };

static uint8_t field_of(const e2b_json_reader *reader)
{
    if (e2b_json_key_is(reader, "sandboxID")) return FIELD_ID;
    if (e2b_json_key_is(reader, "envdAccessToken")) return FIELD_TOKEN;
    if (e2b_json_key_is(reader, "trafficAccessToken")) return FIELD_TRAFFIC;
    if (e2b_json_key_is(reader, "domain")) return FIELD_DOMAIN;
    if (e2b_json_key_is(reader, "envdVersion")) return FIELD_VERSION;
    return FIELD_COUNT;
}

/* Of a field that is there, whether it can be used: no null byte inside, no
 * line break that would go into a header. */
static bool usable(const e2b_text *field)
{
    return field->total == 0 || e2b_word_valid((e2b_str){field->out, e2b_text_stored(field)});
}

static e2b_err judge(e2b_call *call, e2b_sandbox *sandbox, const e2b_text fields[FIELD_COUNT])
{
    e2b_client *client = call->client;
    const char *operation = call->operation;
    uint16_t version[3];
    sandbox->secret = fields[FIELD_TOKEN].total > 0;
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (fields[i].total < fields[i].size) {
            if (usable(&fields[i])) continue;
            return e2b_fail(client, E2B_PROTOCOL, operation, "the answer holds a malformed field");
        }
        if (i != FIELD_TOKEN) return e2b_fail(client, E2B_LIMIT, operation, "the answer holds a field that is too long");
        sandbox->access_token[0] = '\0';
        e2b_fail(client, E2B_TOO_SMALL, operation, "the access token is too long to be kept: the sandbox can only be killed");
        client->error.needed = (size_t)fields[i].total + 1;
        return E2B_TOO_SMALL;
    }
    if (!e2b_host_name_valid((e2b_str){sandbox->domain, strlen(sandbox->domain)}))
        return e2b_fail(client, E2B_PROTOCOL, operation, "the answer's domain is no host name");
    if (!e2b_version_parse(sandbox->envd_version, version))
        return e2b_fail(client, E2B_PROTOCOL, operation, "the answer's envdVersion is missing or no version");
    if (e2b_version_compare(version, 0, 1, 0) < 0)
        return e2b_fail(client, E2B_UNSUPPORTED, operation, "the template's envd is older than 0.1.0: rebuild the template");
    /* Only now: without a version nothing inside the sandbox is talked to. */
    memcpy(sandbox->version, version, sizeof version);
    return E2B_OK;
}

static void terminate(e2b_text *field)
{
    e2b_text_terminate(field);
}

static void set_domain(e2b_sandbox *sandbox, e2b_text *field)
{
    if (field->total) return;
    e2b_text_str(field, sandbox->client->domain);
    terminate(field);
}

static bool id_readable(const e2b_text *field)
{
    return field->total < field->size && e2b_sandbox_id_valid((e2b_str){field->out, (size_t)field->total});
}

/* An item of the outermost object; the field it belongs to is in *field. */
static bool take_item(e2b_json_reader *reader, const e2b_json_item *item, e2b_text fields[FIELD_COUNT], uint8_t *field)
{
    if (item->depth == 0) return item->kind == E2B_JSON_OBJECT || item->kind == E2B_JSON_END;
    if (item->depth > 1) return true;
    if (item->kind == E2B_JSON_KEY) {
        *field = field_of(reader);
        if (*field < FIELD_COUNT) fields[*field].total = 0; /* the last of two wins */
        return true;
    }
    if (*field >= FIELD_COUNT) return true;
    if (item->kind == E2B_JSON_SCALAR) return e2b_json_is_null(reader);
    if (item->kind != E2B_JSON_TEXT || !e2b_json_text(reader, item, &fields[*field])) return false;
    if (item->last) *field = FIELD_COUNT;
    return true;
}

e2b_err e2b_sandbox_read(e2b_call *call, e2b_sandbox *sandbox)
{
    e2b_text fields[FIELD_COUNT] = {
        {sandbox->id, sizeof sandbox->id, 0, 0},
        {sandbox->access_token, sizeof sandbox->access_token, 0, 0},
        {sandbox->traffic_token, sizeof sandbox->traffic_token, 0, 0},
        {sandbox->domain, sizeof sandbox->domain, 0, 0},
        {sandbox->envd_version, sizeof sandbox->envd_version, 0, 0},
    };
    e2b_reply reply = {call, NULL};
    e2b_json_item item;
    e2b_err err;
    uint8_t field = FIELD_COUNT;
    while (!(err = e2b_reply_next(&reply, &item)) && item.kind != E2B_JSON_DONE) {
        if (take_item(&call->conn->reader, &item, fields, &field)) continue;
        err = e2b_call_fail(call, E2B_PROTOCOL, "the answer is not a sandbox");
        break;
    }
    /* The first part of an id would name another sandbox. */
    if (err && field < FIELD_COUNT) fields[field].total = 0;
    for (int i = 0; i < FIELD_COUNT; i++) terminate(&fields[i]);
    if (!id_readable(&fields[FIELD_ID])) {
        sandbox->id[0] = '\0';
        return err ? err : e2b_call_fail(call, E2B_PROTOCOL, "the answer holds no usable sandboxID");
    }
    if (err) return err;
    e2b_call_end(call);
    set_domain(sandbox, &fields[FIELD_DOMAIN]);
    return judge(call, sandbox, fields);
}
