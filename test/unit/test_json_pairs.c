#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check_str.h"
#include "e2b.h"
#include "incremental.h"
#include "json_documents.h"
#include "json_reference.h"

/* A walk of `in` written as name=value; or value; each, and "!" at the end. Each byte of the result is in `log`. */
static char log_text[4096];
static size_t log_len;

static void log_str(e2b_str str, char end)
{
    assert_true(log_len + str.len + 2 < sizeof log_text);
    if (str.len > 0) {
        memcpy(log_text + log_len, str.ptr, str.len);
    }
    log_len += str.len;
    log_text[log_len++] = end;
    log_text[log_len] = '\0';
}

/* How many items there were; the walk stays at its end. */
static size_t walk(const char *in, size_t len, bool pairs)
{
    char *text = guarded_copy(in, len);
    e2b_str whole = {text, len}, name = {NULL, 0}, value = {NULL, 0};
    size_t position = 0, count = 0;
    log_len = 0;
    log_text[0] = '\0';
    while (pairs ? e2b_json_pairs(whole, &position, &name, &value) : e2b_json_strings(whole, &position, &value)) {
        if (pairs) {
            log_str(name, '=');
        }
        log_str(value, ';');
        count++;
        assert_true(position <= len);
    }
    assert_int_equal(position, len);
    assert_false(pairs ? e2b_json_pairs(whole, &position, &name, &value) : e2b_json_strings(whole, &position, &value));
    return count;
}

static void expect(const char *in, bool pairs, const char *items)
{
    walk(in, strlen(in), pairs);
    assert_string_equal(log_text, items);
}

static void objects(void **state)
{
    (void)state;
    expect("{}", true, "");
    expect(" { } ", true, "");
    expect("{\"a\":\"b\"}", true, "a=b;");
    expect(" {\"a\" : \"b\"\n,\t\"c\":\"\" , \"\":\"d\"} ", true, "a=b;c=;=d;");
    expect("{\"a\":\"1\",\"a\":\"2\"}", true, "a=1;a=2;");
    expect("{\"q\\\"\\u00e9\":\"\\\\\\ud83d\\ude00\\n\",\"b\\/\":\"\\u0041z\"}", true, "q\"\xc3\xa9=\\\xf0\x9f\x98\x80\n;b/=Az;");
    expect("{\"{[,:]}\":\"\\\"\",\"x\":\",\"}", true, "{[,:]}=\";x=,;");
    expect("{\"a name of more than twenty-three bytes\\u0021\":\"1\",\"b\":\"2\"}", true,
           "a name of more than twenty-three bytes!=1;b=2;");
}

static void arrays(void **state)
{
    (void)state;
    expect("[]", false, "");
    expect(" [ ] ", false, "");
    expect("[\"a\"]", false, "a;");
    expect(" [\"-l\" ,\t\"-c\", \"echo \\\"\\u00e9\\\"\",\"\"]", false, "-l;-c;echo \"\xc3\xa9\";;");
    expect("[\"[\\\"\",\"]\",\",\"]", false, "[\";];,;");
}

static void a_nul_is_a_byte_like_others(void **state)
{
    (void)state;
    char text[] = "{\"a\\u0000b\":\"\\u0000\"}";
    e2b_str name, value;
    size_t position = 0;
    assert_true(e2b_json_pairs((e2b_str){text, sizeof text - 1}, &position, &name, &value));
    check_str(name, (e2b_str){"a\0b", 3});
    check_str(value, (e2b_str){"\0", 1});
}

static void metadata_of_an_answer(void **state)
{
    (void)state;
    const char *start = strstr(json_info_body, "\"metadata\":") + 11;
    walk(start, (size_t)(strchr(start, '}') - start) + 1, true);
    assert_string_equal(log_text, "a b=c&d=e/f,\xc3\xa9\";job=42;libe2b.create=00112233445566778899aabbccddeeff;");
}

/* What was right before the bad place is given; nothing behind it. */
static void bad_texts_end_the_walk(void **state)
{
    (void)state;
    static const char *const bad_objects[][2] = {
        {"", ""},
        {" ", ""},
        {"[]", ""},
        {"[\"a\",\"b\"]", ""},
        {"[{\"a\":\"b\"}]", ""},
        {"\"a\"", ""},
        {"\"a\":\"b\"", ""},
        {"1", ""},
        {"1 {\"a\":\"b\"}", ""},
        {"{", ""},
        {"{\"a\"", ""},
        {"{\"a\":", ""},
        {"{\"a\":\"b", ""},
        {"{\"a\":\"b\\", ""},
        {"{\"a\":\"b\\\"", ""},
        {"{\"a\" \"b\"}", ""},
        {"{\"a\":1}", ""},
        {"{\"a\":null,\"b\":\"c\"}", ""},
        {"{\"a\":{\"b\":\"c\"}}", ""},
        {"{\"a\":[\"b\"]}", ""},
        {"{\"a\":\"b\" \"c\":\"d\"}", "a=b;"},
        {"{\"a\":\"b\",\"c\":2}", "a=b;"},
        {"{\"a\":\"b\",}", "a=b;"},
        {"{\"a\":\"b\",,\"c\":\"d\"}", "a=b;"},
        {"{\"a\":\"b\"],\"c\":\"d\"}", "a=b;"},
        {"{\"a\":\"b\"}{\"c\":\"d\"}", "a=b;"},
        {"{\"a\":\"b\"},\"c\":\"d\"}", "a=b;"},
        {"{\"a\":\"b\":\"c\"}", "a=b;"},
        {"{\"a\":\"\\x\"}", ""},
        {"{\"\\ud800\":\"b\"}", ""},
        {"{\"a\":\"b\",\"c\":\"\xff\"}", "a=b;"},
        {"{\"a\":\"b\",\"c\":\"\xe2\x82\"}", "a=b;"},
        {"{\"a\":\"b\",\"c\":\"\n\"}", "a=b;"},
    };
    static const char *const bad_arrays[][2] = {
        {"{}", ""},
        {"{\"a\":\"b\"}", ""},
        {"{[\"a\"]}", ""},
        {"\"a\" \"b\"", ""},
        {"\"a\",\"b\"", ""},
        {"[1]", ""},
        {"[[\"a\"]]", ""},
        {"[\"a\",1,\"b\"]", "a;"},
        {"[\"a\" \"b\"]", "a;"},
        {"[\"a\":\"b\"]", "a;"},
        {"[\"a\",\"b", "a;"},
        {"[\"a\",]", "a;"},
        {"[\"a\"],\"b\"]", "a;"},
        {"[\"a\",\"\\u12\",\"b\"]", "a;"},
    };
    for (size_t i = 0; i < sizeof bad_objects / sizeof bad_objects[0]; i++) {
        expect(bad_objects[i][0], true, bad_objects[i][1]);
    }
    for (size_t i = 0; i < sizeof bad_arrays / sizeof bad_arrays[0]; i++) {
        expect(bad_arrays[i][0], false, bad_arrays[i][1]);
    }
}

/* Cut anywhere, the walk gives the members that are whole. */
static void cut_everywhere(void **state)
{
    (void)state;
    static const char text[] = "{\"a\\n\":\"b\\u00e9\" , \"c\":\"d\"}";
    size_t first = (size_t)(strchr(text, ',') - text) - 1, second = sizeof text - 2;
    for (size_t cut = 0; cut < sizeof text; cut++) {
        assert_int_equal(walk(text, cut, true), cut >= second ? 2 : cut >= first ? 1 : 0);
    }
}

/* How many strings (pairs) of a flat array (object) are whole: as many as there
 * are places where a closing bracket would make it JSON. */
static size_t whole_items(const char *text, size_t len, char close)
{
    size_t count = 0;
    for (size_t end = 1; end <= len; end++) {
        char closed[16];
        memcpy(closed, text, end);
        closed[end] = close;
        count += text[end - 1] == '"' && json_reference(closed, end + 1, 1, false) ? 1 : 0;
    }
    return count;
}

static void every_text_over_an_alphabet(void **state)
{
    (void)state;
    static const char alphabet[] = "{[}]\",:\\";
    for (unsigned long n = 0; n < 2ul * 8 * 8 * 8 * 8 * 8 * 8; n += test_sampled() ? 7 : 1) {
        char text[7];
        unsigned long rest = n;
        for (size_t i = sizeof text; i > 0; i--) {
            text[i - 1] = alphabet[rest % 8];
            rest /= 8;
        }
        bool object = text[0] == '{';
        assert_int_equal(walk(text, sizeof text, object), whole_items(text, sizeof text, object ? '}' : ']'));
    }
}

static void any_number_of_members(void **state)
{
    (void)state;
    size_t count = 100000, size = count * 24 + 2, len = 0, position = 0;
    char *text = malloc(size + 1);
    assert_non_null(text);
    text[len++] = '{';
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(text + len, size - len, "%s\"k%zu\":\"\\tv%zu\"", i > 0 ? "," : "", i, i);
    }
    text[len++] = '}';
    e2b_str name, value;
    for (size_t i = 0; i < count; i++) {
        char wanted[32];
        assert_true(e2b_json_pairs((e2b_str){text, len}, &position, &name, &value));
        snprintf(wanted, sizeof wanted, "k%zu", i);
        check_str(name, str_of(wanted));
        snprintf(wanted, sizeof wanted, "\tv%zu", i);
        check_str(value, str_of(wanted));
    }
    assert_false(e2b_json_pairs((e2b_str){text, len}, &position, &name, &value));
    free(text);
}

static void a_position_behind_the_end(void **state)
{
    (void)state;
    e2b_str name, value;
    size_t position = 3;
    assert_false(e2b_json_pairs((e2b_str){"{}", 2}, &position, &name, &value));
    position = SIZE_MAX;
    assert_false(e2b_json_strings((e2b_str){"[]", 2}, &position, &value));
    position = 0;
    assert_false(e2b_json_pairs((e2b_str){NULL, 0}, &position, &name, &value));
}

/* What a walk gave stays as it is while the walk goes on. */
static void earlier_items_stay(void **state)
{
    (void)state;
    char text[] = "{\"a\\u0062\":\"\\u0063d\",\"\\u0065f\":\"g\\u0068\"}";
    e2b_str whole = {text, sizeof text - 1}, names[2], values[2];
    size_t position = 0;
    assert_true(e2b_json_pairs(whole, &position, &names[0], &values[0]));
    assert_true(e2b_json_pairs(whole, &position, &names[1], &values[1]));
    assert_ptr_equal(names[0].ptr, text + 2);
    check_str(names[0], str_of("ab"));
    check_str(values[0], str_of("cd"));
    check_str(names[1], str_of("ef"));
    check_str(values[1], str_of("gh"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects),
        cmocka_unit_test(arrays),
        cmocka_unit_test(a_nul_is_a_byte_like_others),
        cmocka_unit_test(metadata_of_an_answer),
        cmocka_unit_test(bad_texts_end_the_walk),
        cmocka_unit_test(cut_everywhere),
        cmocka_unit_test(every_text_over_an_alphabet),
        cmocka_unit_test(any_number_of_members),
        cmocka_unit_test(a_position_behind_the_end),
        cmocka_unit_test(earlier_items_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
