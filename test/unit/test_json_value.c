#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_value.h"
#include "base/number.h"
#include "incremental.h"
#include "json_documents.h"
#include "json_reference.h"

#define TOKEN_BYTES (E2B_TOKEN_COUNT * 20u)

static int tokens[TOKEN_BYTES / sizeof(int)];
static e2b_json_value value;
static char copied[4096];

/* What stands behind the tokens in use looks like strings. */
static void used_tokens(void)
{
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        tokens[i] = 3;
    }
}

static e2b_err parse(const char *text, size_t len)
{
    used_tokens();
    return e2b_json_parse(&value, tokens, (e2b_str){text, len}, false);
}

static e2b_err parse_cut(const char *text, size_t len)
{
    used_tokens();
    return e2b_json_parse(&value, tokens, (e2b_str){text, len}, true);
}

/* The unescaped string at `index`, or NULL. */
static const char *string_at(size_t index)
{
    e2b_text out = {copied, sizeof copied, 0, 0};
    if (!e2b_json_value_text(&value, index, &out)) {
        return NULL;
    }
    e2b_text_terminate(&out);
    return copied;
}

/* ---- What is JSON and what is not ------------------------------------------ */

static void refuses_what_is_not_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_bad_count; i++) {
        const char *text = guarded_copy(json_bad[i].text, json_bad[i].len);
        assert_int_equal(parse(text, json_bad[i].len), E2B_PROTOCOL);
        assert_int_equal(value.count, 0);
        assert_int_equal(e2b_json_member(&value, 0, "a"), 0);
        assert_false(e2b_json_value_is_object(&value, 0));
    }
    for (size_t i = 0; i < json_bad_text_count; i++) {
        const char *text = guarded_copy(json_bad_text[i].text, json_bad_text[i].len);
        assert_int_equal(parse(text, json_bad_text[i].len), E2B_PROTOCOL);
    }
}

static void takes_what_is_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_good_count; i++) {
        const char *text = guarded_copy(json_good[i].text, json_good[i].len);
        bool long_list = json_good[i].text == json_list_body;
        assert_int_equal(parse(text, json_good[i].len), long_list ? E2B_LIMIT : E2B_OK);
        assert_int_equal(value.count >= 1, !long_list);
    }
}

/* Every walk from every index: stays among the tokens, whatever they say. */
static void walk_everything(void)
{
    for (size_t index = 0; index < value.count + 3; index++) {
        e2b_text nowhere = {NULL, 0, 0, 0};
        int64_t number;
        bool is_string = e2b_json_value_is_string(&value, index);
        size_t member = e2b_json_member(&value, index, "1");
        assert_true(member == 0 || (member > index + 1 && member < value.count));
        assert_int_equal(e2b_json_value_text(&value, index, &nowhere), is_string);
        assert_false(e2b_json_value_int64(&value, index, &number) && is_string);
        assert_false(index >= value.count && (is_string || e2b_json_value_is_object(&value, index)));
    }
}

static void every_text_over_an_alphabet(void **state)
{
    (void)state;
    static const char alphabet[] = "{}[]\",:\\1t";
    size_t longest = test_sampled() ? 5 : 6;
    for (size_t len = 0; len <= longest; len++) {
        unsigned long count = 1;
        for (size_t i = 0; i < len; i++) {
            count *= 10;
        }
        for (unsigned long n = 0; n < count; n++) {
            char text[8];
            unsigned long rest = n;
            for (size_t i = 0; i < len; i++) {
                text[i] = alphabet[rest % 10];
                rest /= 10;
            }
            bool good = json_reference(text, len, 32, false);
            if (parse(text, len) != (good ? E2B_OK : E2B_PROTOCOL)) {
                fail_msg("differs from the reference: %.*s", (int)len, text);
            }
            if (good) {
                walk_everything();
            }
            if (parse_cut(text, len) == E2B_OK) {
                walk_everything();
            } else {
                assert_false(good);
            }
        }
    }
}

/* ---- Asking ----------------------------------------------------------------- */

static void members_of_an_answer(void **state)
{
    (void)state;
    int64_t number = 0;
    assert_int_equal(parse(json_info_body, strlen(json_info_body)), E2B_OK);
    assert_true(e2b_json_value_is_object(&value, 0));
    assert_string_equal(string_at(e2b_json_member(&value, 0, "sandboxID")), "itppfhne5ddx3040zxafu");
    assert_string_equal(string_at(e2b_json_member(&value, 0, "templateID")), "2j6ly824owf4awgai1xo");
    assert_true(e2b_json_value_int64(&value, e2b_json_member(&value, 0, "memoryMB"), &number));
    assert_int_equal(number, 512);
    size_t metadata = e2b_json_member(&value, 0, "metadata");
    assert_true(e2b_json_value_is_object(&value, metadata));
    assert_string_equal(string_at(e2b_json_member(&value, metadata, "a b")), "c&d=e/f,\xc3\xa9\"");
    assert_string_equal(string_at(e2b_json_member(&value, metadata, "libe2b.create")), "00112233445566778899aabbccddeeff");
    /* A member of an inner object is none of the outer one, nor the other way. */
    assert_int_equal(e2b_json_member(&value, 0, "job"), 0);
    assert_int_equal(e2b_json_member(&value, metadata, "state"), 0);
    assert_int_equal(e2b_json_member(&value, 0, "sandbox"), 0);
    assert_int_equal(e2b_json_member(&value, 0, "sandboxIDs"), 0);
    /* A value is no name. */
    assert_int_equal(e2b_json_member(&value, 0, "base"), 0);
    assert_int_equal(parse(json_error_body, strlen(json_error_body)), E2B_OK);
    assert_true(e2b_json_value_int64(&value, e2b_json_member(&value, 0, "code"), &number));
    assert_int_equal(number, 401);
    assert_non_null(strstr(string_at(e2b_json_member(&value, 0, "message")), "information.\nCannot"));
}

static e2b_err parse_string(const char *text)
{
    return parse(text, strlen(text));
}

static void the_last_of_the_same_name(void **state)
{
    (void)state;
    int64_t number = 0;
    assert_int_equal(parse_string("{\"a\":1,\"b\":{\"a\":5},\"\\u0061\":2,\"c\":3}"), E2B_OK);
    assert_true(e2b_json_value_int64(&value, e2b_json_member(&value, 0, "a"), &number));
    assert_int_equal(number, 2);
}

static void not_an_object(void **state)
{
    (void)state;
    assert_int_equal(parse_string("[\"a\",\"b\",{\"a\":1}]"), E2B_OK);
    assert_false(e2b_json_value_is_object(&value, 0));
    assert_int_equal(e2b_json_member(&value, 0, "a"), 0);
    assert_int_equal(e2b_json_member(&value, 1, "b"), 0);
    assert_int_equal(e2b_json_member(&value, 3, "a"), 5);
    assert_int_equal(e2b_json_member(&value, 6, "a"), 0);
    assert_int_equal(e2b_json_member(&value, SIZE_MAX, "a"), 0);
}

static void long_names(void **state)
{
    (void)state;
    assert_int_equal(parse_string("{\"abcdefghijklmnopqrstuvw\":1,\"abcdefghijklmnopqrstuvwx\":2}"), E2B_OK);
    assert_int_equal(e2b_json_member(&value, 0, "abcdefghijklmnopqrstuvw"), 2);
    assert_int_equal(e2b_json_member(&value, 0, "abcdefghijklmnopqrstuvwx"), 0);
}

static void outermost_scalars(void **state)
{
    (void)state;
    static const char *const texts[] = {"12", "12\n", " 12", " 12 ", "1.2e1"};
    int64_t number;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        number = 0;
        assert_int_equal(parse_string(texts[i]), E2B_OK);
        assert_int_equal(value.count, 1);
        assert_true(e2b_json_value_int64(&value, 0, &number));
        assert_int_equal(number, 12);
        assert_false(e2b_json_value_is_object(&value, 0));
    }
    assert_int_equal(parse_string("true"), E2B_OK);
    assert_false(e2b_json_value_int64(&value, 0, &number));
    assert_int_equal(parse_string("\"x\\n\""), E2B_OK);
    assert_string_equal(string_at(0), "x\n");
    assert_false(e2b_json_value_int64(&value, 0, &number));
}

static void numbers_as_text(void **state)
{
    (void)state;
    int64_t number = 0;
    assert_int_equal(parse_string("{\"a\":\"5368709120\",\"b\":5368709120,\"c\":5.36870912e9,\"d\":\"5x\"}"), E2B_OK);
    assert_true(e2b_json_value_int64(&value, e2b_json_member(&value, 0, "b"), &number));
    assert_true(number == 5368709120);
    assert_true(e2b_json_value_int64(&value, e2b_json_member(&value, 0, "c"), &number));
    assert_true(number == 5368709120);
    /* Which of its members a service writes as text its readers know; they ask for the text. */
    assert_false(e2b_json_value_int64(&value, e2b_json_member(&value, 0, "a"), &number));
    const char *text = string_at(e2b_json_member(&value, 0, "a"));
    assert_true(e2b_parse_i64((e2b_str){text, strlen(text)}, &number));
    assert_true(number == 5368709120);
    text = string_at(e2b_json_member(&value, 0, "d"));
    assert_false(e2b_parse_i64((e2b_str){text, strlen(text)}, &number));
}

/* ---- Limits ------------------------------------------------------------------ */

static void tokens_to_the_limit(void **state)
{
    (void)state;
    for (size_t count = E2B_TOKEN_COUNT - 1; count <= E2B_TOKEN_COUNT + 1; count++) {
        char text[256];
        size_t len = 0;
        text[len++] = '[';
        for (size_t i = 1; i < count; i++) {
            text[len++] = '1';
            text[len++] = i + 1 < count ? ',' : ']';
        }
        bool fits = count <= E2B_TOKEN_COUNT;
        assert_int_equal(parse(text, len), fits ? E2B_OK : E2B_LIMIT);
        assert_int_equal(value.count, fits ? count : 0);
        assert_int_equal(parse_cut(text, len), E2B_OK);
        assert_int_equal(value.count, fits ? count : E2B_TOKEN_COUNT);
    }
}

static void no_token_behind_the_last(void **state)
{
    (void)state;
    int *guarded = (int *)(void *)guarded_copy(tokens, sizeof tokens);
    char text[4095];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = i % 2 == 0 ? ',' : '0';
    }
    text[0] = '[';
    text[sizeof text - 1] = ']';
    assert_int_equal(e2b_json_parse(&value, guarded, (e2b_str){text, sizeof text}, false), E2B_LIMIT);
    assert_int_equal(e2b_json_parse(&value, guarded, (e2b_str){text, sizeof text - 1}, true), E2B_OK);
    assert_int_equal(value.count, E2B_TOKEN_COUNT);
}

static void depth(void **state)
{
    (void)state;
    size_t len = 1000000;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, '[', len);
    assert_int_equal(parse(text, len), E2B_PROTOCOL);
    assert_int_equal(parse_cut(text, len), E2B_PROTOCOL);
    assert_int_equal(parse_cut(text, 32), E2B_OK);
    assert_int_equal(value.count, 32);
    assert_int_equal(parse_cut(text, 33), E2B_PROTOCOL);
    memcpy(text, "{\"a\":", 5);
    assert_int_equal(parse_cut(text, len), E2B_PROTOCOL);
    free(text);
}

#if SIZE_MAX > INT_MAX
static void longer_than_an_int(void **state)
{
    (void)state;
    assert_int_equal(parse("{}", (size_t)INT_MAX + 1), E2B_LIMIT);
}
#endif

/* ---- Cut texts ---------------------------------------------------------------- */

/* What is whole before the cut is there and right; nothing else is. */
static void cut_everywhere(void **state)
{
    (void)state;
    static const char text[] = "{\"code\":\"not_found\",\"n\":1234 ,\"details\":[{\"type\":\"x\\u00e9\"}],\"message\":\"gone\"}";
    size_t len = sizeof text - 1;
    size_t code_end = (size_t)(strstr(text, "\"not_found\"") - text) + 11;
    size_t n_end = (size_t)(strstr(text, "1234") - text) + 4;
    size_t details_start = (size_t)(strstr(text, "[{") - text);
    for (size_t cut = 0; cut <= len; cut++) {
        const char *piece = guarded_copy(text, cut);
        int64_t number = 0;
        assert_int_equal(parse_cut(piece, cut), E2B_OK);
        assert_int_equal(e2b_json_value_is_object(&value, 0), cut >= 1);
        size_t code = e2b_json_member(&value, 0, "code");
        assert_int_equal(code != 0, cut >= code_end);
        assert_true(code == 0 || strcmp(string_at(code), "not_found") == 0);
        size_t n = e2b_json_member(&value, 0, "n");
        /* A number is whole once something stands behind it. */
        assert_int_equal(n != 0, cut > n_end);
        assert_true(n == 0 || (e2b_json_value_int64(&value, n, &number) && number == 1234));
        size_t details = e2b_json_member(&value, 0, "details");
        assert_int_equal(details != 0, cut > details_start);
        assert_int_equal(e2b_json_member(&value, 0, "message") != 0, cut >= len - 1);
        walk_everything();
        assert_int_equal(parse(piece, cut), cut == len ? E2B_OK : E2B_PROTOCOL);
    }
}

static void cut_is_no_licence(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_good_count; i++) {
        for (size_t cut = 0; cut <= json_good[i].len && json_good[i].text != json_list_body; cut++) {
            assert_int_equal(parse_cut(guarded_copy(json_good[i].text, cut), cut), E2B_OK);
        }
    }
    static const char *const bad[] = {"{\"a\"}", "[1,,", "{\"a\":tx", "[\"\\x", "[\"\n", "{} x", "[\"\xff", "{\"\\ud800x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(parse_cut(bad[i], strlen(bad[i])), E2B_PROTOCOL);
    }
    assert_int_equal(parse_cut("[\"a\0b", 5), E2B_PROTOCOL);
    assert_int_equal(parse_cut("[1,\0", 4), E2B_PROTOCOL);
}

static void text_into_a_small_place(void **state)
{
    (void)state;
    char small[4];
    e2b_text out = {small, sizeof small, 0, 0};
    assert_int_equal(parse_string("[\"abcdef\"]"), E2B_OK);
    assert_true(e2b_json_value_text(&value, 1, &out));
    assert_int_equal(out.total, 6);
    assert_memory_equal(small, "abcd", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_not_json),
        cmocka_unit_test(takes_what_is_json),
        cmocka_unit_test(every_text_over_an_alphabet),
        cmocka_unit_test(members_of_an_answer),
        cmocka_unit_test(the_last_of_the_same_name),
        cmocka_unit_test(not_an_object),
        cmocka_unit_test(long_names),
        cmocka_unit_test(outermost_scalars),
        cmocka_unit_test(numbers_as_text),
        cmocka_unit_test(tokens_to_the_limit),
        cmocka_unit_test(no_token_behind_the_last),
        cmocka_unit_test(depth),
#if SIZE_MAX > INT_MAX
        cmocka_unit_test(longer_than_an_int),
#endif
        cmocka_unit_test(cut_everywhere),
        cmocka_unit_test(cut_is_no_licence),
        cmocka_unit_test(text_into_a_small_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
