#include "wire/url.h"

#include <string.h>

#include "base/number.h"

bool e2b_word_valid(e2b_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || (unsigned char)text.ptr[i] >= 0x7f) return false;
    return text.len > 0;
}

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool e2b_host_name_valid(e2b_str name)
{
    size_t label = 0;
    if (name.len == 0 || name.len > 253) return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c == '.' ? label == 0 : !is_alphanumeric(c) && c != '-' && c != '_') return false;
        label = c == '.' ? 0 : label + 1;
        if (label > 63) return false;
    }
    return true;
}

static bool starts(e2b_str text, const char *start)
{
    size_t len = strlen(start);
    return text.len >= len && memcmp(text.ptr, start, len) == 0;
}

static e2b_str after(e2b_str text, size_t count)
{
    return (e2b_str){text.ptr + count, text.len - count};
}

static size_t position(e2b_str text, char c)
{
    const char *found = text.len ? memchr(text.ptr, c, text.len) : NULL;
    return found ? (size_t)(found - text.ptr) : text.len;
}

bool e2b_address_valid(e2b_str text)
{
    bool ipv6 = position(text, ':') < text.len, zone = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool digit = c >= '0' && c <= '9', hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (zone ? is_alphanumeric(c) : ipv6 ? hex || c == ':' || c == '.' : digit || c == '.') continue;
        if (!ipv6 || zone || c != '%') return false;
        zone = true;
    }
    return text.len > 0;
}

/* [address] or name; what follows it is left in *rest. */
static bool parse_host(e2b_str text, e2b_url *url, e2b_str *rest)
{
    if (!starts(text, "[")) {
        size_t end = position(text, ':');
        url->host = (e2b_str){text.ptr, end};
        *rest = after(text, end);
        return e2b_host_name_valid(url->host);
    }
    size_t end = position(text, ']');
    if (end == text.len) return false;
    url->host = (e2b_str){text.ptr + 1, end - 1};
    *rest = after(text, end + 1);
    return position(url->host, ':') < url->host.len && e2b_address_valid(url->host);
}

bool e2b_url_parse(e2b_str text, e2b_url *url)
{
    uint64_t port = 0;
    *url = (e2b_url){{NULL, 0}, {NULL, 0}, 0, starts(text, "https://")};
    if (!e2b_word_valid(text) || (!url->tls && !starts(text, "http://"))) return false;
    text = after(text, url->tls ? 8 : 7);
    size_t slash = position(text, '/');
    e2b_str authority = {text.ptr, slash}, rest;
    url->path = after(text, slash);
    while (url->path.len && url->path.ptr[url->path.len - 1] == '/') url->path.len--;
    if (position(url->path, '?') != url->path.len || position(url->path, '#') != url->path.len) return false;
    if (!authority.len || !parse_host(authority, url, &rest)) return false;
    if (!rest.len) return true;
    if (rest.ptr[0] != ':' || !e2b_parse_u64(after(rest, 1), &port) || port == 0 || port > 65535) return false;
    url->port = (uint16_t)port == (url->tls ? 443 : 80) ? 0 : (uint16_t)port;
    return true;
}
