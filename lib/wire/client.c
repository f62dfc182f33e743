/* client: options checked and copied, memory divided, URLs decided. */
#include <string.h>

#include "wire/conn.h"
#include "wire/report.h"
#include "wire/url.h"

static const char operation[] = "client";

typedef char conn_fits[sizeof(e2b_conn) <= E2B_CONN_MEMORY ? 1 : -1];

static bool given(const char *text)
{
    return text && *text;
}

/* ---- Checks ------------------------------------------------------------------ */

static e2b_err check_api_key(e2b_client *client, const e2b_client_options *options)
{
    e2b_str key = e2b_str_of(options->api_key);
    if (!key.len) return options->debug == E2B_YES ? E2B_OK : e2b_fail(client, E2B_NO_API_KEY, operation, NULL);
    if (!e2b_word_valid(key)) return e2b_fail(client, E2B_INVALID, operation, "the API key holds blanks or control characters");
    if (options->validate_api_key == E2B_NO) return E2B_OK;
    bool valid = key.len > 4 && memcmp(key.ptr, "e2b_", 4) == 0;
    for (size_t i = 4; i < key.len; i++)
        valid = valid && ((key.ptr[i] >= '0' && key.ptr[i] <= '9') || (key.ptr[i] >= 'a' && key.ptr[i] <= 'f'));
    if (valid) return E2B_OK;
    return e2b_fail(client, E2B_INVALID, operation,
                    "the API key must be e2b_ and lower-case hex digits: check E2B_API_KEY, or set E2B_VALIDATE_API_KEY to false");
}

static e2b_err check_url(e2b_client *client, const char *text, const char *detail)
{
    e2b_url url;
    if (!given(text) || e2b_url_parse(e2b_str_of(text), &url)) return E2B_OK;
    /* Before an @ there may be a password. */
    if (strchr(text, '@')) return e2b_fail(client, E2B_INVALID, operation, detail);
    return e2b_fail_on(client, E2B_INVALID, operation, detail, e2b_str_of(text));
}

/* The API's name is one label longer. */
static bool domain_valid(e2b_str domain)
{
    return domain.len <= 253 - 4 && e2b_host_name_valid(domain);
}

static e2b_err check_address(e2b_client *client, const char *address)
{
    if (!given(address) || e2b_address_valid(e2b_str_of(address))) return E2B_OK;
    return e2b_fail_on(client, E2B_INVALID, operation, "not a numeric address", e2b_str_of(address));
}

static e2b_err check_user_agent(e2b_client *client, const char *agent)
{
    e2b_str text = e2b_str_of(agent);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || (unsigned char)text.ptr[i] >= 0x7f)
            return e2b_fail(client, E2B_INVALID, operation, "the user agent holds control characters");
    return E2B_OK;
}

static e2b_err check(e2b_client *client, const e2b_client_options *options)
{
    const e2b_port *port = client->port;
    if (!port || !port->open || !port->recv || !port->send || !port->close || !port->wait || !port->now_ms ||
        !port->unix_time || !port->random)
        return e2b_fail(client, E2B_UNSUPPORTED, operation, "the port lacks a required function");
    if (options->codec != E2B_CODEC_JSON && options->codec != E2B_CODEC_PROTO)
        return e2b_fail(client, E2B_INVALID, operation, "no such codec");
    e2b_err err = check_api_key(client, options);
    if (!err && given(options->domain) && !domain_valid(e2b_str_of(options->domain)))
        err = e2b_fail_on(client, E2B_INVALID, operation, "not a domain name", e2b_str_of(options->domain));
    if (!err) err = check_url(client, options->api_url, "not an http or https URL (api_url, E2B_API_URL)");
    if (!err) err = check_url(client, options->sandbox_url, "not an http or https URL (sandbox_url, E2B_SANDBOX_URL)");
    if (!err) err = check_address(client, options->api_address);
    if (!err) err = check_address(client, options->sandbox_address);
    return err ? err : check_user_agent(client, options->user_agent);
}

/* ---- Strings ----------------------------------------------------------------- */

/* Appends a string and gives where it lies, or would lie. */
static e2b_str keep(e2b_text *text, const char *first, const char *second)
{
    uint64_t start = text->total;
    e2b_text_string(text, first);
    e2b_text_string(text, second);
    return (e2b_str){text->out ? text->out + start : NULL, (size_t)(text->total - start)};
}

static void set_api(e2b_client *client, e2b_str text)
{
    e2b_url url;
    if (!text.ptr || !e2b_url_parse(text, &url)) return; /* no text: it is only being counted */
    client->api_host = url.host;
    client->api_path = url.path;
    client->api_port = url.port;
    client->api_tls = url.tls;
}

static void set_sandbox(e2b_client *client, e2b_str text)
{
    e2b_url url;
    if (!text.ptr || !e2b_url_parse(text, &url)) return;
    client->sandbox_host = url.host;
    client->sandbox_path = url.path;
    client->sandbox_port = url.port;
    client->sandbox_tls = url.tls;
}

/* E2B's own clusters serve every sandbox under one host, told apart by headers. */
static bool has_shared_host(e2b_str domain)
{
    static const char domains[4][16] = {"e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev"};
    for (size_t i = 0; i < 4; i++)
        if (domain.len == strlen(domains[i]) && memcmp(domain.ptr, domains[i], domain.len) == 0) return true;
    return false;
}

/* Options win over debug, debug over the domain. */
static void keep_strings(e2b_client *client, const e2b_client_options *options, e2b_text *text)
{
    const char *domain = given(options->domain) ? options->domain : "e2b.app";
    bool debug = options->debug == E2B_YES;
    client->api_key = keep(text, given(options->api_key) ? options->api_key : "", "");
    client->user_agent = keep(text, given(options->user_agent) ? options->user_agent : "libe2b/" E2B_VERSION, "");
    client->domain = keep(text, domain, "");
    client->api_address = keep(text, given(options->api_address) ? options->api_address : "", "");
    client->sandbox_address = keep(text, given(options->sandbox_address) ? options->sandbox_address : "", "");
    if (given(options->api_url)) set_api(client, keep(text, options->api_url, ""));
    else if (debug) set_api(client, keep(text, "http://localhost:3000", ""));
    else set_api(client, keep(text, "https://api.", domain));
    client->sandbox_tls = 1;
    if (given(options->sandbox_url)) set_sandbox(client, keep(text, options->sandbox_url, ""));
    else if (debug) set_sandbox(client, keep(text, "http://localhost:49983", ""));
    else if (has_shared_host(e2b_str_of(domain))) set_sandbox(client, keep(text, "https://sandbox.", domain));
}

/* ---- Memory ------------------------------------------------------------------ */

static size_t fixed_size(uint16_t connections, size_t strings)
{
    return connections * (sizeof(e2b_conn) + sizeof(e2b_wait_item) + 8u) + 8u * E2B_WAIT_SPARE + 20u * E2B_TOKEN_COUNT +
           strings;
}

/* Largest alignment first, so that no part needs padding. */
static uint8_t *divide(e2b_client *client, uint8_t *at)
{
    client->wait_space = (uint64_t *)(void *)at;
    at += 8u * (client->conn_count + E2B_WAIT_SPARE);
    client->conns = (struct e2b_conn *)(void *)at;
    at += client->conn_count * sizeof(e2b_conn);
    client->waits = (e2b_wait_item *)(void *)at;
    at += client->conn_count * sizeof(e2b_wait_item);
    client->tokens = at;
    return at + 20u * E2B_TOKEN_COUNT;
}

static e2b_err no_memory(e2b_client *client, e2b_port *port, size_t needed)
{
    /* The strings were only counted: they have lengths and lie nowhere. */
    memset(client, 0, sizeof *client);
    client->port = port;
    e2b_text text;
    e2b_error *error = e2b_report(client, E2B_NO_MEMORY, operation, &text);
    error->needed = needed;
    e2b_text_string(&text, "its memory is too small: it needs ");
    e2b_text_u64(&text, needed);
    e2b_text_string(&text, " bytes: see E2B_CLIENT_MEMORY");
    return e2b_report_end(client, error, &text);
}

e2b_err e2b_client_init(e2b_client *client, e2b_port *port, const e2b_client_options *options, void *memory, size_t size)
{
    static const e2b_client_options defaults = {0};
    e2b_text count = {NULL, 0, 0, 0};
    memset(client, 0, sizeof *client);
    client->port = port;
    if (!options) options = &defaults;
    e2b_err err = check(client, options);
    if (err) return err;
    client->conn_count = options->connections ? options->connections : 1;
    keep_strings(client, options, &count);
    size_t padding = memory ? (size_t)(-(uintptr_t)memory & 7u) : 7;
    size_t fixed = fixed_size(client->conn_count, (size_t)count.total) + padding;
    size_t minimum = fixed + (size_t)client->conn_count * E2B_BUFFER_MINIMUM;
    if (!memory || size < minimum) return no_memory(client, port, minimum);

    memset(memory, 0, fixed);
    uint8_t *at = divide(client, (uint8_t *)memory + padding);
    e2b_text strings = {(char *)at, (size_t)count.total, 0, 0};
    keep_strings(client, options, &strings);
    size_t each = (size - fixed) / client->conn_count;
    client->buffer_size = each > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)each;
    at += count.total;
    for (uint16_t i = 0; i < client->conn_count; i++) client->conns[i].buffer = at + (size_t)i * client->buffer_size;

    client->cancel = options->cancel;
    client->limits = options->limits;
    client->codec = (uint8_t)options->codec;
    client->debug = options->debug == E2B_YES;
    client->next_destination = 2;
    return E2B_OK;
}

void e2b_client_close(e2b_client *client)
{
    for (uint16_t i = 0; i < client->conn_count && client->conns; i++) e2b_conn_close(client, &client->conns[i], false);
    /* The memory is the caller's again, and the port may go: nothing leads there any more. */
    uint8_t latest_is_cleanup = client->latest_is_cleanup;
    memset((uint8_t *)client + offsetof(e2b_client, port), 0, sizeof *client - offsetof(e2b_client, port));
    client->latest_is_cleanup = latest_is_cleanup;
}

static const char *words_of(const e2b_error *error, e2b_err err)
{
    return error->code == err && error->text[0] ? error->text : NULL;
}

const char *e2b_reason(const e2b_client *client, e2b_err err)
{
    if (!client || !err) return e2b_err_text(err);
    const char *words = words_of(&client->error, err), *cleanup = words_of(&client->cleanup_error, err);
    if (!words || (cleanup && client->latest_is_cleanup)) words = cleanup;
    return words ? words : e2b_err_text(err);
}
