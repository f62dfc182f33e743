/* The body of a create in both generations, and what is refused before it is sent. */
#include "cloud/create_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PAIRS(...) (const e2b_pair[]){__VA_ARGS__}
#define STRINGS(...) (const char *const[]){__VA_ARGS__}

/* Whole, counted, and through every window size up to 40 bytes. */
static void check(e2b_sandbox_options options, const char *tag, bool older, const char *expected)
{
    e2b_create_body body = {&options, tag, older};
    char out[2048];
    e2b_text text = {out, sizeof out, 0, 0}, count = {NULL, 0, 0, 0};
    assert_null(e2b_create_options_wrong(&options));
    e2b_create_body_write(&text, &body);
    assert_true(text.total < sizeof out);
    out[text.total] = '\0';
    assert_string_equal(out, expected);
    e2b_create_body_write(&count, &body);
    assert_int_equal(count.total, strlen(expected));
    for (size_t window = 1; window <= 40; window += 13)
        for (size_t at = 0; at < strlen(expected); at += window) {
            char piece[40];
            e2b_text part = {piece, window, at, 0};
            e2b_create_body_write(&part, &body);
            assert_memory_equal(piece, expected + at, e2b_text_stored(&part));
        }
}

static void test_nothing_set(void **state)
{
    (void)state;
    e2b_sandbox_options none = {0};
    check(none, "", false, "{\"templateID\":\"base\"}");
    check(none, "", true, "{\"templateID\":\"base\",\"timeout\":300,\"secure\":true,\"allow_internet_access\":true}");
    check(none, "00112233445566778899aabbccddeeff", false,
          "{\"templateID\":\"base\",\"metadata\":{\"libe2b.create\":\"00112233445566778899aabbccddeeff\"}}");
}

static void test_scalars(void **state)
{
    (void)state;
    check((e2b_sandbox_options){.template_name = "acme/x:v1", .timeout_s = 2147483647}, "", false,
          "{\"templateID\":\"acme/x:v1\",\"timeout\":2147483647}");
    check((e2b_sandbox_options){.template_name = "a name"}, "", false, "{\"templateID\":\"a name\"}");
    check((e2b_sandbox_options){.timeout_s = 1}, "", true,
          "{\"templateID\":\"base\",\"timeout\":1,\"secure\":true,\"allow_internet_access\":true}");
    check((e2b_sandbox_options){.secure = E2B_NO, .internet_access = E2B_NO}, "", true,
          "{\"templateID\":\"base\",\"timeout\":300,\"secure\":false,\"allow_internet_access\":false}");
    /* The newer route has no such field: every sandbox is secured. */
    check((e2b_sandbox_options){.secure = E2B_YES, .internet_access = E2B_YES}, "", false,
          "{\"templateID\":\"base\",\"allow_internet_access\":true}");
    check((e2b_sandbox_options){.auto_pause = E2B_YES, .auto_pause_memory = E2B_NO}, "", false,
          "{\"templateID\":\"base\",\"autoPause\":true,\"autoPauseMemory\":false}");
    check((e2b_sandbox_options){.auto_pause = E2B_YES, .auto_pause_memory = E2B_YES, .auto_resume = E2B_YES}, "", false,
          "{\"templateID\":\"base\",\"autoPause\":true,\"autoPauseMemory\":true,\"autoResume\":{\"enabled\":true}}");
    check((e2b_sandbox_options){.auto_pause = E2B_NO, .auto_resume = E2B_NO}, "", false,
          "{\"templateID\":\"base\",\"autoPause\":false,\"autoResume\":{\"enabled\":false}}");
}

static void test_pairs_and_the_tag(void **state)
{
    (void)state;
    e2b_sandbox_options options = {.metadata = PAIRS({"user", "u \"1\"\r\n"}, {"n", ""}), .metadata_count = 2,
                                   .env = PAIRS({"A", "\xc3\xa4"}, {"A", "2"}), .env_count = 2};
    check(options, "", false,
          "{\"templateID\":\"base\",\"metadata\":{\"user\":\"u \\\"1\\\"\\r\\n\",\"n\":\"\"},"
          "\"envVars\":{\"A\":\"\\u00e4\",\"A\":\"2\"}}");
    check(options, "ff", false,
          "{\"templateID\":\"base\",\"metadata\":{\"user\":\"u \\\"1\\\"\\r\\n\",\"n\":\"\",\"libe2b.create\":\"ff\"},"
          "\"envVars\":{\"A\":\"\\u00e4\",\"A\":\"2\"}}");
}

static void test_network(void **state)
{
    (void)state;
    e2b_network network = {0};
    e2b_sandbox_options options = {.network = &network};
    /* The SDKs send none at all. */
    check(options, "", false, "{\"templateID\":\"base\"}");
    network.rule_count = 1;
    network.rules = (const e2b_network_rule[]){{"only.example", NULL, 0}};
    check(options, "", false,
          "{\"templateID\":\"base\",\"network\":{\"rules\":{\"only.example\":[{\"transform\":{\"headers\":{}}}]}}}");
    network = (e2b_network){.deny_out = STRINGS("0.0.0.0/0"), .deny_out_count = 1};
    check(options, "", false, "{\"templateID\":\"base\",\"network\":{\"denyOut\":[\"0.0.0.0/0\"]}}");
    network = (e2b_network){
        .allow_public_traffic = E2B_NO,
        .allow_out = STRINGS("example.com", "1.1.1.1"), .allow_out_count = 2,
        .deny_out = STRINGS("0.0.0.0/0"), .deny_out_count = 1,
        .egress_proxy = {"p.example.com:1080", "me", "secret"},
        .mask_request_host = "${PORT}-x.example.com",
        .rules = (const e2b_network_rule[]){{"api.example.com", PAIRS({"X", "y"}, {"Z", "w"}), 2}, {"b.example", PAIRS({"Q", ""}), 1}},
        .rule_count = 2,
    };
    check(options, "", false,
          "{\"templateID\":\"base\",\"network\":{\"allowPublicTraffic\":false,\"allowOut\":[\"example.com\",\"1.1.1.1\"],"
          "\"denyOut\":[\"0.0.0.0/0\"],\"egressProxy\":{\"address\":\"p.example.com:1080\",\"username\":\"me\","
          "\"password\":\"secret\"},\"maskRequestHost\":\"${PORT}-x.example.com\",\"rules\":{\"api.example.com\":[{"
          "\"transform\":{\"headers\":{\"X\":\"y\",\"Z\":\"w\"}}}],\"b.example\":[{\"transform\":{\"headers\":{\"Q\":\"\"}}}]}}}");
    network = (e2b_network){.allow_public_traffic = E2B_YES, .egress_proxy = {"p:1", NULL, NULL}};
    check(options, "", false,
          "{\"templateID\":\"base\",\"network\":{\"allowPublicTraffic\":true,\"egressProxy\":{\"address\":\"p:1\"}}}");
}

static void test_the_rest(void **state)
{
    (void)state;
    check((e2b_sandbox_options){.mcp_json = "{\"time\": {} }"}, "", false, "{\"templateID\":\"mcp-gateway\",\"mcp\":{\"time\": {} }}");
    check((e2b_sandbox_options){.mcp_json = "{}", .template_name = "own"}, "", false, "{\"templateID\":\"own\",\"mcp\":{}}");
    check((e2b_sandbox_options){.iam_tokens = (const e2b_iam_token[]){{"aws", "a", NULL}, {"gcp", "b", "OTHER"}}, .iam_token_count = 2},
          "", false,
          "{\"templateID\":\"base\",\"iam\":{\"tokens\":{\"aws\":{\"audience\":\"a\",\"tokenType\":\"JWT-SVID\"},"
          "\"gcp\":{\"audience\":\"b\",\"tokenType\":\"OTHER\"}}}}");
    check((e2b_sandbox_options){.volume_mounts = (const e2b_volume_mount[]){{"vol", "/data"}, {"w", "/e"}}, .volume_mount_count = 2},
          "", false,
          "{\"templateID\":\"base\",\"volumeMounts\":[{\"name\":\"vol\",\"path\":\"/data\"},{\"name\":\"w\",\"path\":\"/e\"}]}");
}

/* ---- Refused ------------------------------------------------------------------ */

static void wrong(e2b_sandbox_options options, const char *words)
{
    const char *found = e2b_create_options_wrong(&options);
    if (!found || !strstr(found, words)) fail_msg("'%s', expected '%s'", found ? found : "(nothing)", words);
}

static void wrong_network(e2b_network network, const char *words)
{
    wrong((e2b_sandbox_options){.network = &network}, words);
}

#define NOT_UTF8 "\xff"

static void test_refused_scalars(void **state)
{
    (void)state;
    static const char *const names[] = {"", "a\r\nb", "a\x7f", NOT_UTF8};
    for (size_t i = 0; i < 4; i++) wrong((e2b_sandbox_options){.template_name = names[i]}, "the template name");
    wrong((e2b_sandbox_options){.timeout_s = 2147483648u}, "timeout_s");
    wrong((e2b_sandbox_options){.auto_pause_memory = E2B_NO}, "auto_pause_memory needs auto_pause");
    wrong((e2b_sandbox_options){.auto_pause = E2B_NO, .auto_pause_memory = E2B_NO}, "auto_pause_memory needs auto_pause");
    wrong((e2b_sandbox_options){.auto_resume = E2B_YES}, "auto_resume needs auto_pause");
    wrong((e2b_sandbox_options){.auto_resume = E2B_YES, .auto_pause = E2B_YES, .auto_pause_memory = E2B_NO}, "memory to be kept");
    wrong((e2b_sandbox_options){.auto_resume = 3}, "neither 0, E2B_YES nor E2B_NO");
    wrong((e2b_sandbox_options){.secure = -1}, "neither 0, E2B_YES nor E2B_NO");
    wrong((e2b_sandbox_options){.internet_access = 3}, "neither 0, E2B_YES nor E2B_NO");
    wrong((e2b_sandbox_options){.auto_pause = 3}, "neither 0, E2B_YES nor E2B_NO");
    wrong((e2b_sandbox_options){.auto_pause_memory = 3, .auto_pause = E2B_YES}, "neither 0, E2B_YES nor E2B_NO");
    wrong_network((e2b_network){.allow_public_traffic = 3}, "neither 0, E2B_YES nor E2B_NO");
}

static void test_refused_pairs(void **state)
{
    (void)state;
    static const e2b_pair pairs[] = {{NULL, "v"}, {"", "v"}, {"n", NULL}, {NOT_UTF8, "v"}, {"n", NOT_UTF8}};
    for (size_t i = 0; i < 5; i++) {
        wrong((e2b_sandbox_options){.metadata = &pairs[i], .metadata_count = 1}, "metadata");
        wrong((e2b_sandbox_options){.env = &pairs[i], .env_count = 1}, "env");
        wrong_network((e2b_network){.rules = &(e2b_network_rule){"d", &pairs[i], 1}, .rule_count = 1}, "network.rules");
    }
    wrong((e2b_sandbox_options){.metadata_count = 1}, "metadata");
    wrong((e2b_sandbox_options){.env_count = 1}, "env");
}

static void test_refused_network(void **state)
{
    (void)state;
    static const char *const entries[] = {"", NULL, NOT_UTF8};
    for (size_t i = 0; i < 3; i++) {
        wrong_network((e2b_network){.allow_out = &entries[i], .allow_out_count = 1}, "network.allow_out");
        wrong_network((e2b_network){.deny_out = &entries[i], .deny_out_count = 1}, "network.deny_out");
    }
    wrong_network((e2b_network){.allow_out_count = 1}, "network.allow_out");
    wrong_network((e2b_network){.deny_out_count = 1}, "network.deny_out");
    wrong_network((e2b_network){.mask_request_host = "a\nb"}, "mask_request_host");
    wrong_network((e2b_network){.mask_request_host = NOT_UTF8}, "mask_request_host");
    wrong_network((e2b_network){.egress_proxy = {NOT_UTF8, NULL, NULL}}, "egress_proxy");
    wrong_network((e2b_network){.egress_proxy = {"", NULL, NULL}}, "egress_proxy");
    wrong_network((e2b_network){.egress_proxy = {NULL, "me", NULL}}, "egress_proxy");
    wrong_network((e2b_network){.egress_proxy = {NULL, NULL, "secret"}}, "egress_proxy");
    wrong_network((e2b_network){.egress_proxy = {"p", NOT_UTF8, NULL}}, "egress_proxy");
    wrong_network((e2b_network){.egress_proxy = {"p", NULL, NOT_UTF8}}, "egress_proxy");
    wrong_network((e2b_network){.rules = &(e2b_network_rule){NULL, NULL, 0}, .rule_count = 1}, "network.rules");
    wrong_network((e2b_network){.rules = &(e2b_network_rule){NOT_UTF8, NULL, 0}, .rule_count = 1}, "network.rules");
    wrong_network((e2b_network){.rules = &(e2b_network_rule){"d", NULL, 1}, .rule_count = 1}, "network.rules");
    wrong_network((e2b_network){.rule_count = 1}, "network.rules");
}

static void test_refused_rest(void **state)
{
    (void)state;
    static const char *const documents[] = {"", " ", "[]", "1", "null", "\"x\"", "{", "{}{}", "{\"a\":}", "{\"a\":\"" NOT_UTF8 "\"}"};
    static const e2b_iam_token tokens[] = {{NULL, "a", NULL}, {"", "a", NULL}, {"{", "a", NULL}, {"x}", "a", NULL}, {"a\n", "a", NULL},
                                           {NOT_UTF8, "a", NULL}, {"n", NULL, NULL}, {"n", "", NULL}, {"n", NOT_UTF8, NULL}, {"n", "a", NOT_UTF8}};
    static const e2b_volume_mount mounts[] = {{NULL, "/d"}, {"v", NULL}, {"v", ""}, {"v", "d"}, {NOT_UTF8, "/d"}, {"v", "/" NOT_UTF8}, {"", "/d"}};
    for (size_t i = 0; i < 10; i++) wrong((e2b_sandbox_options){.mcp_json = documents[i]}, "mcp_json is not a JSON object");
    for (size_t i = 0; i < 10; i++) wrong((e2b_sandbox_options){.iam_tokens = &tokens[i], .iam_token_count = 1}, "iam token");
    for (size_t i = 0; i < 7; i++) wrong((e2b_sandbox_options){.volume_mounts = &mounts[i], .volume_mount_count = 1}, "volume mount");
    wrong((e2b_sandbox_options){.iam_token_count = 1}, "iam token");
    wrong((e2b_sandbox_options){.volume_mount_count = 1}, "volume mount");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_set),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_pairs_and_the_tag),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_the_rest),
        cmocka_unit_test(test_refused_scalars),
        cmocka_unit_test(test_refused_pairs),
        cmocka_unit_test(test_refused_network),
        cmocka_unit_test(test_refused_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
