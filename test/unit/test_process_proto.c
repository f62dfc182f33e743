#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "envd/process_reader.h"
#include "process_messages.h"

static void expect(const char *message, const char *log)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "start 7\n%s\n", log);
    const char *found = proto_messages("0a040a020807", message, NULL);
    if (strcmp(found, wanted) != 0) fail_msg("%s gave:\n%s", message, found);
}

/* What the official descriptors write. */
static void check_vectors(void **state)
{
    (void)state;
    assert_string_equal(proto_messages("0a050a0308d209", NULL), "start 1234\nwhole\n");
    expect("0a0712050a0368690a", "out 68690a\nwhole");
    expect("0a051203120178", "err 78\nwhole");
    expect("0a022200", "whole");
    expect("0a131a1110011a0d65786974207374617475732030", "end 0 exited 'exit status 0'\nwhole");
    expect("0a241a22080e10011a0d65786974207374617475732037220d65786974207374617475732037", "end 7 exited 'exit status 7'\nwhole");
    expect("0a241a2208011a0e7369676e616c3a206b696c6c6564220e7369676e616c3a206b696c6c6564", "end -1 killed 'signal: killed'\nwhole");
}

/* Of each wire type, at each level. */
static void unknown_fields(void **state)
{
    (void)state;
    expect("", "whole");
    expect("1000", "whole");
    expect("10ffffffffffffffffff01", "whole");
    expect("120301020a", "whole");
    expect("1200", "whole");
    expect("110102030405060708", "whole");
    expect("1501020304", "whole");
    expect("0a022800", "whole");
    expect("0a0d28ffffffffffffffffff012a00", "whole");
    expect("0a0b2900000000000000002a00", "whole");
    expect("0a072d000000002a00", "whole");
    expect("0a0a1208200122010a0a0178", "out 78\nwhole");
    expect("0a0e120c0a0178210102030405060708", "out 78\nwhole");
    expect("0a0a12080a01782501020304", "out 78\nwhole");
    expect("0a0a1a0828012a01096a0100", "end 0 killed ''\nwhole");
    expect("0a091a0728012a0109080e", "end 7 killed ''\nwhole");
    expect("0a080a06080710011a00", "whole");
    /* The largest field number, and one beyond. */
    expect("f8ffffff0f00", "whole");
    expect("f8ffffff1f00", "bad");
    expect("0a00f8ffffff0f00", "whole");
}

static void wrong_wire_types(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "0800", "090000000000000000", "0d00000000",                                   /* event */
        "0a020800", "0a021000", "0a021800", "0a022000", "0a050d00000000", "0a052500000000", "0a09090000000000000000", /* start .. keepalive */
        "0a050a030a0100", "0a070a050d00000000", "0a0b0a09090000000000000000",         /* pid */
        "0a0412020800", "0a0412021000", "0a0412021800", "0a0712050d00000000",         /* stdout, stderr, pty */
        "0a051a030a0100", "0a051a03120100", "0a041a021800", "0a041a022000", "0a071a051d00000000", /* the end's fields */
        "0b", "0c", "0a010b", "0e", "0f", "1b", "1c", "0a0412020b00", "0a0412022b2c", /* groups and what is no type */
        "0000", "0200", "0500000000", "0a020000", "0a0412020200",                      /* field 0 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect(rows[i], "bad");
}

static void lengths_that_do_not_fit(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "0a", "0a01", "0a03", "0a0112", "0a021201", "0a02120100", "0a0512040a0178", "0a0512030a0278", "0a0412030a0178", "0a0612030a0178",
        "12", "1202", "120200", "10", "1080", "11", "1100000000000000", "15000000", "0aff", "0affffffff07", "0affffffff0f",
        "0a0180", "0a02080a", "0a031a0108", "0a041a0208ff", "0a031a0180", "0a0312010a", "0a0412020aff", "0a0412020a01",
        "12ffffffffffffffffff01",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *log = proto_messages("0a040a020807", rows[i], NULL);
        if (!strstr(log, "bad\n")) fail_msg("%s gave:\n%s", rows[i], log);
    }
    /* What was there of the output is given: it is a true prefix. */
    expect("0a0712050a0468690a", "bad");
    expect("0a0812060a046869", "out 6869\nbad");
}

static void varints(void **state)
{
    (void)state;
    /* Longer than need be, up to ten bytes. */
    expect("8a000712050a0368690a",
           "out 68690a\nwhole");
    expect("0a870012050a0368690a", "out 68690a\nwhole");
    expect("0a80808080808080808000", "whole");
    expect("0a8080808080808080808000", "bad");
    expect("10808080808080808080808000", "bad");
    expect("1080808080808080808000", "whole");
    expect("0a0d1a0b088e808080808080808000", "end 7 killed ''\nwhole");
    expect("0a0d1a0b1081808080808080808000", "end 0 exited ''\nwhole");
    expect("0a061a0410808001", "end 0 exited ''\nwhole");
}

static void members_in_any_order(void **state)
{
    (void)state;
    expect("2a000a0712050a0368690a1000", "out 68690a\nwhole");
    expect("0a0e2a0012050a0368690a28012a0100", "out 68690a\nwhole");
    expect("0a0c1a0a2201781001080e1a0179",
           "end 7 exited 'y'\nwhole");
    expect("0a081a06080e08021000", "end 1 killed ''\nwhole");
}

/* A payload of several pieces is one after another, also beside the buffer's end. */
static void a_long_payload(void **state)
{
    (void)state;
    char message[2 * 1100 + 1], wanted[2 * 1100 + 60];
    size_t at = (size_t)sprintf(message, "0a86081283080a8008");
    size_t out = (size_t)sprintf(wanted, "start 7\nout ");
    for (int i = 0; i < 1024; i++) {
        at += (size_t)sprintf(message + at, "%02x", i & 255);
        out += (size_t)sprintf(wanted + out, "%02x", i & 255);
    }
    sprintf(wanted + out, "\nwhole\n");
    assert_string_equal(proto_messages("0a040a020807", message, NULL), wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_vectors), cmocka_unit_test(unknown_fields), cmocka_unit_test(wrong_wire_types),
        cmocka_unit_test(lengths_that_do_not_fit), cmocka_unit_test(varints), cmocka_unit_test(members_in_any_order),
        cmocka_unit_test(a_long_payload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
