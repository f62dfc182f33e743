/* URLs, addresses and names as a client is configured with them: what is
 * accepted is fit for a request line, and lies within the text. */
#include <stdlib.h>
#include <string.h>

#include "e2b_memory.h"
#include "fuzz.h"
#include "wire/url.h"

static bool inside(e2b_str part, const uint8_t *text, size_t length)
{
    return part.len == 0 || (part.ptr >= (const char *)text && part.ptr + part.len <= (const char *)text + length);
}

static bool printable(e2b_str part)
{
    for (size_t i = 0; i < part.len; i++)
        if (part.ptr[i] <= ' ' || part.ptr[i] == 0x7f || (unsigned char)part.ptr[i] > 0x7f) return false;
    return true;
}

static void parse(const uint8_t *data, size_t size)
{
    uint8_t *text = fuzz_copy(data, size);
    e2b_str str = {(const char *)text, size};
    e2b_url url;
    if (e2b_url_parse(str, &url)) {
        FUZZ_CHECK(url.host.len > 0 && inside(url.host, text, size) && inside(url.path, text, size));
        FUZZ_CHECK(printable(url.host) && printable(url.path));
        FUZZ_CHECK(url.path.len == 0 || (url.path.ptr[0] == '/' && url.path.ptr[url.path.len - 1] != '/'));
        FUZZ_CHECK(!memchr(url.host.ptr, '/', url.host.len) && !memchr(url.host.ptr, '@', url.host.len));
    }
    if (e2b_host_name_valid(str)) FUZZ_CHECK(size > 0 && size <= 253 && printable(str));
    if (e2b_address_valid(str)) FUZZ_CHECK(size > 0 && printable(str));
    free(text);
}

/* As options of a client in memory of any size. */
static void configure(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    size_t memory_size = (size_t)fuzz_byte(&input) * 16;
    uint8_t which = fuzz_byte(&input);
    char *string = malloc(input.left + 1), *memory = malloc(memory_size + 1);
    FUZZ_CHECK(string != NULL && memory != NULL);
    if (input.left > 0) memcpy(string, input.at, input.left);
    string[input.left] = '\0';
    e2b_memory_port port;
    e2b_client client;
    e2b_client_options options;
    memset(&options, 0, sizeof options);
    options.api_key = which & 1 ? string : "e2b_00";
    options.domain = which & 2 ? string : NULL;
    options.api_url = which & 4 ? string : NULL;
    options.sandbox_url = which & 8 ? string : NULL;
    options.api_address = which & 16 ? string : NULL;
    options.user_agent = which & 32 ? string : NULL;
    options.connections = (uint16_t)(which >> 6);
    e2b_memory_open(&port, NULL, 0);
    e2b_err err = e2b_client_init(&client, &port.port, &options, memory, memory_size);
    FUZZ_CHECK(err == client.error.code);
    if (err == E2B_NO_MEMORY) FUZZ_CHECK(client.error.needed > memory_size);
    if (!err) FUZZ_CHECK(printable(client.api_host) && client.api_host.len > 0);
    e2b_client_close(&client);
    FUZZ_CHECK(port.calls == 0);
    free(string);
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    configure(data, size);
    return 0;
}
