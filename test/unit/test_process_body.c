#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check_str.h"
#include "envd/process_body.h"

static char written[1 << 18];

/* Whole, then in windows of a few sizes: the same, and counted right. */
static e2b_str write_body(void (*write)(e2b_text *, const void *), const void *subject)
{
    e2b_text whole = {written, sizeof written, 0, 0}, count = {NULL, 0, 0, 0};
    write(&whole, subject);
    write(&count, subject);
    assert_int_equal(count.total, whole.total);
    assert_true(e2b_text_fits(&whole));
    for (size_t size = 1; size < 20; size += 3) {
        char window[20];
        for (uint64_t skip = 0; skip < whole.total; skip += whole.total / 40 + 1) {
            e2b_text part = {window, size, skip, 0};
            write(&part, subject);
            assert_memory_equal(window, written + skip, e2b_text_stored(&part));
        }
    }
    return (e2b_str){written, (size_t)whole.total};
}

static void check_json(void (*write)(e2b_text *, const void *), const void *subject, const char *expected)
{
    check_str(write_body(write, subject), str_of(expected));
}

static void check_proto(void (*write)(e2b_text *, const void *), const void *subject, const char *hex)
{
    e2b_str body = write_body(write, subject);
    char found[1024];
    assert_true(body.len * 2 < sizeof found);
    for (size_t i = 0; i < body.len; i++) sprintf(found + 2 * i, "%02x", (unsigned char)body.ptr[i]);
    found[2 * body.len] = '\0';
    assert_string_equal(found, hex);
}

static e2b_start_body start_of(const char *const *argv, size_t argc, const char *tail, const e2b_process_options *options)
{
    return (e2b_start_body){argv, argc, tail, options};
}

static void starts(void **state)
{
    (void)state;
    static const char *const shell[] = {"/bin/bash", "-l", "-c", "echo hi"};
    static const e2b_pair env[] = {{"A", "b"}, {"C", ""}};
    e2b_process_options none = {0}, some = {.env = env, .env_count = 1, .cwd = "/tmp"},
                        all = {.env = env, .env_count = 2, .cwd = "", .tag = "t", .input = true, .user = "u", .timeout_ms = 5};
    e2b_start_body start = start_of(shell, 4, NULL, &some);
    check_json(e2b_start_json, &start,
               "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"echo hi\"],\"envs\":{\"A\":\"b\"},\"cwd\":\"/tmp\"},\"stdin\":false}");
    check_proto(e2b_start_proto, &start,
                "0a2a0a092f62696e2f6261736812022d6c12022d6312076563686f2068691a060a014112016222042f746d702000");
    /* A command as the tail is the same as one in argv. */
    start = start_of(shell, 3, "echo hi", &some);
    check_proto(e2b_start_proto, &start,
                "0a2a0a092f62696e2f6261736812022d6c12022d6312076563686f2068691a060a014112016222042f746d702000");
    check_json(e2b_start_json, &start,
               "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"echo hi\"],\"envs\":{\"A\":\"b\"},\"cwd\":\"/tmp\"},\"stdin\":false}");
    start = start_of(shell, 1, NULL, &none);
    check_json(e2b_start_json, &start, "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[]},\"stdin\":false}");
    check_proto(e2b_start_proto, &start, "0a0b0a092f62696e2f626173682000");
    start = start_of(shell, 1, "", &none);
    check_json(e2b_start_json, &start, "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"\"]},\"stdin\":false}");
    check_proto(e2b_start_proto, &start, "0a0d0a092f62696e2f6261736812002000");
    start = start_of(shell, 1, NULL, &all);
    check_json(e2b_start_json, &start,
               "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[],\"envs\":{\"A\":\"b\",\"C\":\"\"},\"cwd\":\"\"},\"tag\":\"t\",\"stdin\":true}");
    check_proto(e2b_start_proto, &start, "0a1c0a092f62696e2f626173681a060a01411201621a050a0143120022001a01742001");
}

/* Whatever a command holds stays inside its string. */
static void quoting(void **state)
{
    (void)state;
    static const char *const argv[] = {"a\"b\\c\n\x01\x7f\xc3\xa9</script>"};
    e2b_process_options none = {0};
    e2b_start_body start = start_of(argv, 1, NULL, &none);
    e2b_str body = write_body(e2b_start_json, &start);
    assert_null(memchr(body.ptr, '\n', body.len));
    assert_null(memchr(body.ptr, 1, body.len));
    body.len = strlen("{\"process\":{\"cmd\":\"a\\\"b\\\\c\\n\\u0001");
    check_str(body, str_of("{\"process\":{\"cmd\":\"a\\\"b\\\\c\\n\\u0001"));
}

static void selectors(void **state)
{
    (void)state;
    e2b_selector_body by_pid = {.pid = 1234}, by_tag = {.tag = "t\""}, largest = {.pid = UINT32_MAX};
    check_json(e2b_selector_json, &by_pid, "{\"process\":{\"pid\":1234}}");
    check_proto(e2b_selector_proto, &by_pid, "0a0308d209");
    check_json(e2b_selector_json, &by_tag, "{\"process\":{\"tag\":\"t\\\"\"}}");
    check_proto(e2b_selector_proto, &by_tag, "0a0412027422");
    check_json(e2b_selector_json, &largest, "{\"process\":{\"pid\":4294967295}}");
    check_proto(e2b_selector_proto, &largest, "0a0608ffffffff0f");
}

static void signals(void **state)
{
    (void)state;
    e2b_selector_body kill = {.pid = 7, .signal = E2B_SIGNAL_KILL}, term = {.tag = "t", .signal = E2B_SIGNAL_TERM};
    check_json(e2b_signal_json, &kill, "{\"process\":{\"pid\":7},\"signal\":\"SIGNAL_SIGKILL\"}");
    check_proto(e2b_signal_proto, &kill, "0a0208071009");
    check_json(e2b_signal_json, &term, "{\"process\":{\"tag\":\"t\"},\"signal\":\"SIGNAL_SIGTERM\"}");
    check_proto(e2b_signal_proto, &term, "0a03120174100f");
}

static void input(void **state)
{
    (void)state;
    const uint8_t bytes[] = {'h', 'i', '\n', 0, 0xff};
    e2b_selector_body piece = {.pid = 7, .input = bytes, .input_len = 3};
    check_json(e2b_input_json, &piece, "{\"process\":{\"pid\":7},\"input\":{\"stdin\":\"aGkK\"}}");
    check_proto(e2b_input_proto, &piece, "0a02080712050a0368690a");
    piece.input_len = 5;
    check_json(e2b_input_json, &piece, "{\"process\":{\"pid\":7},\"input\":{\"stdin\":\"aGkKAP8=\"}}");
    check_proto(e2b_input_proto, &piece, "0a02080712070a0568690a00ff");
    piece.input_len = 0;
    check_json(e2b_input_json, &piece, "{\"process\":{\"pid\":7},\"input\":{\"stdin\":\"\"}}");
    check_proto(e2b_input_proto, &piece, "0a02080712020a00");
}

/* Lengths of two and three bytes in front of what they count. */
static void long_values(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(32768);
    memset(bytes, 'x', 32768);
    e2b_selector_body piece = {.pid = 7, .input = bytes, .input_len = 200};
    e2b_str body = write_body(e2b_input_proto, &piece);
    assert_memory_equal(body.ptr, "\x0a\x02\x08\x07\x12\xcb\x01\x0a\xc8\x01x", 11);
    assert_int_equal(body.len, 10 + 200);
    piece.input_len = 32768;
    body = write_body(e2b_input_proto, &piece);
    assert_memory_equal(body.ptr, "\x0a\x02\x08\x07\x12\x84\x80\x02\x0a\x80\x80\x02x", 13);
    assert_int_equal(body.len, 12 + 32768);
    body = write_body(e2b_input_json, &piece);
    assert_int_equal(body.len, strlen("{\"process\":{\"pid\":7},\"input\":{\"stdin\":\"\"}}") + 43692);
    free(bytes);
}

static const char *wrong_of(const char *const *argv, size_t argc, const char *tail, const e2b_process_options *options)
{
    e2b_start_body start = start_of(argv, argc, tail, options);
    return e2b_start_wrong(&start);
}

static void what_cannot_be_sent(void **state)
{
    (void)state;
    static const char *const good[] = {"ls", "\xc3\xa9", "", "a\nb"}, *const empty[] = {""}, *const none[] = {NULL},
                             *const broken[] = {"ls", "\xff"}, *const missing[] = {"ls", NULL};
    e2b_process_options options = {0};
    char user[130];
    assert_null(wrong_of(good, 4, NULL, &options));
    assert_null(wrong_of(good, 1, "tail \xe2\x82\xac", &options));
    assert_non_null(wrong_of(good, 0, NULL, &options));
    assert_non_null(wrong_of(NULL, 1, NULL, &options));
    assert_non_null(wrong_of(none, 1, NULL, &options));
    assert_non_null(wrong_of(empty, 1, NULL, &options));
    assert_non_null(wrong_of(broken, 2, NULL, &options));
    assert_non_null(wrong_of(missing, 2, NULL, &options));
    assert_non_null(wrong_of(good, 1, "\xed\xa0\x80", &options));
    static const char *const users[] = {"", "a b", "a:b", "a\n", "a\r\nX: y", "a\x7f", "\t"};
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        assert_non_null(wrong_of(good, 1, NULL, &(e2b_process_options){.user = users[i]}));
    memset(user, 'u', sizeof user);
    user[129] = '\0';
    assert_non_null(wrong_of(good, 1, NULL, &(e2b_process_options){.user = user}));
    user[128] = '\0';
    assert_null(wrong_of(good, 1, NULL, &(e2b_process_options){.user = user}));
    assert_non_null(wrong_of(good, 1, NULL, &(e2b_process_options){.cwd = "\xc0\x80"}));
    assert_non_null(wrong_of(good, 1, NULL, &(e2b_process_options){.tag = "\x80"}));
    static const e2b_pair pairs[] = {{NULL, "x"}, {"", "x"}, {"A=B", "x"}, {"A", NULL}, {"\xff", "x"}, {"A", "\xff"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_non_null(wrong_of(good, 1, NULL, &(e2b_process_options){.env = &pairs[i], .env_count = 1}));
    assert_non_null(wrong_of(good, 1, NULL, &(e2b_process_options){.env_count = 1}));
}

static void which_cannot_be_meant(void **state)
{
    (void)state;
    assert_null(e2b_selector_wrong(&(e2b_selector_body){.pid = 7}));
    assert_null(e2b_selector_wrong(&(e2b_selector_body){.tag = "\xc3\xa9"}));
    assert_non_null(e2b_selector_wrong(&(e2b_selector_body){.tag = ""}));
    assert_non_null(e2b_selector_wrong(&(e2b_selector_body){.tag = NULL}));
    assert_non_null(e2b_selector_wrong(&(e2b_selector_body){.tag = "\xff"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts), cmocka_unit_test(quoting), cmocka_unit_test(selectors), cmocka_unit_test(signals),
        cmocka_unit_test(input), cmocka_unit_test(long_values), cmocka_unit_test(what_cannot_be_sent),
        cmocka_unit_test(which_cannot_be_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
