#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "envd/process_reader.h"
#include "process_messages.h"

/* What holds in both codecs: the order of events and what they say. */

#define START "{\"event\":{\"start\":{\"pid\":7}}}"
#define OUT "{\"event\":{\"data\":{\"stdout\":\"aGkK\"}}}"
#define END "{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}"
#define PING "{\"event\":{\"keepalive\":{}}}"

#define START_P "0a040a020807"
#define OUT_P "0a0712050a0368690a"
#define END_P "0a131a1110011a0d65786974207374617475732030"
#define PING_P "0a022200"

#define EQUAL(json, proto, log)           \
    do {                                  \
        assert_string_equal(json, log);   \
        assert_string_equal(proto, log);  \
    } while (0)

static void a_whole_stream(void **state)
{
    (void)state;
    EQUAL(json_messages(PING, START, PING, OUT, PING, OUT, END, PING, NULL),
          proto_messages(PING_P, START_P, PING_P, OUT_P, PING_P, OUT_P, END_P, PING_P, NULL),
          "start 7\nout 68690a68690a\nend 0 exited 'exit status 0'\nwhole\n");
}

static void order(void **state)
{
    (void)state;
    EQUAL(json_messages(OUT, NULL), proto_messages(OUT_P, NULL), "bad\n");
    EQUAL(json_messages(END, NULL), proto_messages(END_P, NULL), "bad\n");
    EQUAL(json_messages(START, END, OUT, NULL), proto_messages(START_P, END_P, OUT_P, NULL),
          "start 7\nend 0 exited 'exit status 0'\nbad\n");
    EQUAL(json_messages(START, END, END, NULL), proto_messages(START_P, END_P, END_P, NULL),
          "start 7\nend 0 exited 'exit status 0'\nbad\n");
    EQUAL(json_messages(START, END, START, NULL), proto_messages(START_P, END_P, START_P, NULL),
          "start 7\nend 0 exited 'exit status 0'\nbad\n");
}

/* A start without a usable pid, and events that say nothing. */
static void what_is_missing(void **state)
{
    (void)state;
    EQUAL(json_messages("{\"event\":{\"start\":{}}}", NULL), proto_messages("0a020a00", NULL), "bad\n");
    EQUAL(json_messages("{\"event\":{\"start\":{\"pid\":0}}}", NULL), proto_messages("0a040a020800", NULL), "bad\n");
    EQUAL(json_messages("{\"event\":{\"start\":{\"pid\":4294967295}}}", NULL), proto_messages("0a080a0608ffffffff0f", NULL),
          "start 4294967295\nwhole\n");
    EQUAL(json_messages("{\"event\":{\"start\":{\"pid\":4294967296}}}", NULL), proto_messages("0a080a06088080808010", NULL), "bad\n");
    EQUAL(json_messages("{}", "{\"event\":{}}", START, "{\"event\":{\"data\":{}}}", "{\"event\":{\"end\":{}}}", NULL),
          proto_messages("", "0a00", START_P, "0a021200", "0a021a00", NULL), "start 7\nend 0 killed ''\nwhole\n");
    EQUAL(json_messages(START, "{\"event\":{\"data\":{\"stdout\":\"\"}}}", END, NULL), proto_messages(START_P, "0a0412020a00", END_P, NULL),
          "start 7\nend 0 exited 'exit status 0'\nwhole\n");
}

static void three_kinds_of_output(void **state)
{
    (void)state;
    EQUAL(json_messages(START, "{\"event\":{\"data\":{\"stderr\":\"eA==\"}}}", "{\"event\":{\"data\":{\"pty\":\"eQ==\"}}}",
                        "{\"event\":{\"data\":{\"stdout\":\"eng=\"}}}", NULL),
          proto_messages(START_P, "0a051203120178", "0a0512031a0179", "0a0612040a027a78", NULL),
          "start 7\nerr 78\npty 79\nout 7a78\nwhole\n");
    EQUAL(json_messages(START, "{\"event\":{\"data\":{\"stdout\":\"eA==\",\"stderr\":\"eQ==\"}}}", NULL),
          proto_messages(START_P, "0a0812060a0178120179", NULL), "start 7\nout 78\nbad\n");
    EQUAL(json_messages(START, "{\"event\":{\"data\":{\"stdout\":\"eA==\",\"stdout\":\"eQ==\"}}}", NULL),
          proto_messages(START_P, "0a0812060a01780a0179", NULL), "start 7\nout 78\nbad\n");
    EQUAL(json_messages(START, "{\"event\":{\"data\":{\"stdout\":\"\",\"stderr\":\"eQ==\"}}}", NULL),
          proto_messages(START_P, "0a0712050a00120179", NULL), "start 7\nbad\n");
}

/* Characters cut between events come out as the bytes they are. */
static void characters_in_pieces(void **state)
{
    (void)state;
    EQUAL(json_messages(START, "{\"event\":{\"data\":{\"stdout\":\"4g==\"}}}", "{\"event\":{\"data\":{\"stdout\":\"iQ==\"}}}",
                        "{\"event\":{\"data\":{\"stderr\":\"w6nigg==\"}}}", "{\"event\":{\"data\":{\"stdout\":\"pA==\"}}}", NULL),
          proto_messages(START_P, "0a0512030a01e2", "0a0512030a0189", "0a0812061204c3a9e282", "0a0512030a01a4", NULL),
          "start 7\nout e289\nerr c3a9e282\nout a4\nwhole\n");
}

static void one_event_a_message(void **state)
{
    (void)state;
    EQUAL(json_messages("{\"event\":{\"start\":{\"pid\":7},\"data\":{\"stdout\":\"eA==\"}}}", NULL),
          proto_messages("0a090a02080712030a0178", NULL), "bad\n");
    EQUAL(json_messages(START, "{\"event\":{\"data\":{\"stdout\":\"eA==\"},\"end\":{}}}", NULL),
          proto_messages(START_P, "0a0712030a01781a00", NULL), "start 7\nout 78\nbad\n");
    EQUAL(json_messages(START, "{\"event\":{\"data\":{\"stdout\":\"eA==\"}},\"event\":{\"end\":{}}}", NULL),
          proto_messages(START_P, "0a0512030a01780a021a00", NULL), "start 7\nout 78\nbad\n");
    EQUAL(json_messages(START, "{\"event\":{\"data\":{\"stdout\":\"eA==\"}},\"event\":{}}", NULL),
          proto_messages(START_P, "0a0512030a01780a00", NULL), "start 7\nout 78\nbad\n");
    EQUAL(json_messages("{\"event\":{\"keepalive\":{},\"start\":{\"pid\":7}}}", NULL), proto_messages("0a0622000a020807", NULL),
          "start 7\nwhole\n");
}

static void exit_codes(void **state)
{
    (void)state;
    static const struct {
        const char *json, *proto, *log;
    } rows[] = {
        {"7", "080e", "end 7 killed ''\nwhole\n"},
        {"-1", "0801", "end -1 killed ''\nwhole\n"},
        {"137", "089202", "end 137 killed ''\nwhole\n"},
        {"255", "08fe03", "end 255 killed ''\nwhole\n"},
        {"2147483647", "08feffffff0f", "end 2147483647 killed ''\nwhole\n"},
        {"-2147483648", "08ffffffff0f", "end -2147483648 killed ''\nwhole\n"},
        {"2147483648", "088080808010", "bad\n"},
        {"-2147483649", "08ffffffffffffffffff01", "bad\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char json[100], proto[100], expected[100] = "start 7\n";
        size_t len = strlen(rows[i].proto) / 2;
        strcpy(json, "{\"event\":{\"end\":{\"exitCode\":");
        strcat(strcat(json, rows[i].json), "}}}");
        static const char digits[] = "0123456789abcdef";
        char lengths[] = {'0', 'a', '0', digits[len + 2], '1', 'a', '0', digits[len], '\0'};
        strcat(strcpy(proto, lengths), rows[i].proto);
        strcat(expected, rows[i].log);
        assert_string_equal(json_messages(START, json, NULL), expected);
        assert_string_equal(proto_messages(START_P, proto, NULL), expected);
    }
}

/* The words are the status, or the error where there is none. */
static void words(void **state)
{
    (void)state;
    EQUAL(json_messages(START, "{\"event\":{\"end\":{\"exitCode\":7,\"exited\":true,\"status\":\"exit status 7\",\"error\":\"exit status 7\"}}}", NULL),
          proto_messages(START_P, "0a241a22080e10011a0d65786974207374617475732037220d65786974207374617475732037", NULL),
          "start 7\nend 7 exited 'exit status 7'\nwhole\n");
    EQUAL(json_messages(START, "{\"event\":{\"end\":{\"error\":\"no\",\"status\":\"yes\"}}}", NULL),
          proto_messages(START_P, "0a0b1a0922026e6f1a03796573", NULL), "start 7\nend 0 killed 'yes'\nwhole\n");
    EQUAL(json_messages(START, "{\"event\":{\"end\":{\"status\":\"\",\"error\":\"failed to wait\"}}}", NULL),
          proto_messages(START_P, "0a141a121a00220e6661696c656420746f2077616974", NULL),
          "start 7\nend 0 killed 'failed to wait'\nwhole\n");
    EQUAL(json_messages(START, "{\"event\":{\"end\":{\"status\":\"one\",\"status\":\"two\"}}}", NULL),
          proto_messages(START_P, "0a0c1a0a1a036f6e651a0374776f", NULL), "start 7\nend 0 killed 'two'\nwhole\n");
    EQUAL(json_messages(START, "{\"event\":{\"end\":{\"status\":\"yes\",\"error\":\"no\"}}}", NULL),
          proto_messages(START_P, "0a0b1a091a0379657322026e6f", NULL), "start 7\nend 0 killed 'yes'\nwhole\n");
    /* More than is kept, and what no terminal should see. */
    EQUAL(json_messages(START, "{\"event\":{\"end\":{\"status\":\"0123456789012345678901234567890123456789012\xc3\xa9 more\"}}}", NULL),
          proto_messages(START_P, "0a361a341a32303132333435363738393031323334353637383930313233343536373839"
                                  "30313233343536373839303132c3a9206d6f7265", NULL),
          "start 7\nend 0 killed '0123456789012345678901234567890123456789012'\nwhole\n");
    assert_string_equal(json_messages(START, "{\"event\":{\"end\":{\"status\":\"a\\u001b[31m\\u0000b\"}}}", NULL),
                        "start 7\nend 0 killed 'a [31m b'\nwhole\n");
    assert_string_equal(proto_messages(START_P, "0a091a071a0561ff1b0a62", NULL), "start 7\nend 0 killed 'a?  b'\nwhole\n");
}

static void bad_is_final(void **state)
{
    (void)state;
    e2b_process_reader reader;
    uint8_t bytes[] = "xxx{}}";
    size_t used;
    int32_t kind;
    e2b_str data;
    e2b_process_reader_start(&reader, E2B_CODEC_JSON);
    assert_int_equal(e2b_process_read(&reader, bytes + 3, 3, &used, &kind, &data), E2B_READ_BAD);
    assert_false(e2b_process_message_end(&reader));
    assert_int_equal(e2b_process_read(&reader, bytes + 3, 2, &used, &kind, &data), E2B_READ_BAD);
    assert_int_equal(used, 0);
    assert_false(e2b_process_message_end(&reader));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_stream), cmocka_unit_test(order), cmocka_unit_test(what_is_missing),
        cmocka_unit_test(three_kinds_of_output), cmocka_unit_test(characters_in_pieces), cmocka_unit_test(one_event_a_message),
        cmocka_unit_test(exit_codes), cmocka_unit_test(words), cmocka_unit_test(bad_is_final),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
