/* The text builder: every window shows the same text, and counting is exact. */
/* For MAP_ANONYMOUS. */
#define _DEFAULT_SOURCE
#include "base/text.h"
#include "check_str.h"
#include "vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* One of each append. Together 194 bytes. */
static void append_all(e2b_text *text)
{
    static const uint8_t bytes[11] = {0x00, 0x01, 0x7f, 0x80, 0xff, 'a', 'b', 'c', 0x0f, 0xf0, 0x5a};
    e2b_text_string(text, "begin ");
    e2b_text_bytes(text, "a\0b", 3);
    e2b_text_bytes(text, NULL, 0);
    e2b_text_str(text, (e2b_str){NULL, 0});
    e2b_text_char(text, '|');
    e2b_text_u64(text, 0);
    e2b_text_char(text, '|');
    e2b_text_u64(text, UINT64_MAX);
    e2b_text_char(text, '|');
    e2b_text_i64(text, INT64_MIN);
    e2b_text_hex(text, bytes, sizeof bytes);
    for (size_t count = 0; count <= sizeof bytes; count++) {
        e2b_text_base64(text, bytes, count);
    }
    e2b_text_percent(text, (e2b_str){"a/\xff", 3}, "%25");
    e2b_text_str(text, (e2b_str){" end", 4});
}

static void test_str_of(void **unused)
{
    (void)unused;
    e2b_str none = e2b_str_of(NULL), some = e2b_str_of("abc");
    assert_true(none.ptr == NULL && none.len == 0);
    assert_int_equal(some.len, 3);
    assert_memory_equal(some.ptr, "abc", 3);
}

static void test_append(void **unused)
{
    (void)unused;
    char buffer[256];
    e2b_text text = {buffer, sizeof buffer, 0, 0};
    append_all(&text);
    assert_true(e2b_text_fits(&text));
    static const char expected[] = "begin a\0b|0|18446744073709551615|-922337203685477580800017f80ff6162630ff05a"
                                   "AA==AAE=AAF/AAF/gA==AAF/gP8=AAF/gP9hAAF/gP9hYg==AAF/gP9hYmM=AAF/gP9hYmMPAAF/"
                                   "gP9hYmMP8A==AAF/gP9hYmMP8Fo=a%252F%25FF end";
    check_str((e2b_str){buffer, e2b_text_stored(&text)}, (e2b_str){expected, sizeof expected - 1});
    assert_int_equal(text.total, sizeof expected - 1);
}

/* Every size of window at every position: what it should show, and not a byte more. */
static void test_every_window(void **unused)
{
    (void)unused;
    char whole[256];
    e2b_text reference = {whole, sizeof whole, 0, 0};
    append_all(&reference);
    size_t length = (size_t)reference.total;
    for (size_t size = 0; size <= length + 1; size++) {
        for (size_t skip = 0; skip <= length + 1; skip++) {
            char window[258];
            memset(window, 0xa5, sizeof window);
            e2b_text text = {window + 1, size, skip, 0};
            append_all(&text);
            size_t expected = skip < length ? length - skip : 0;
            expected = expected < size ? expected : size;
            assert_int_equal(text.total, length);
            assert_int_equal(e2b_text_stored(&text), expected);
            assert_int_equal(e2b_text_fits(&text), skip == 0 && size >= length);
            check_str((e2b_str){window + 1, expected}, (e2b_str){whole + skip, expected});
            assert_int_equal((uint8_t)window[0], 0xa5);
            for (size_t i = 1 + expected; i < sizeof window; i++) {
                assert_int_equal((uint8_t)window[i], 0xa5);
            }
        }
    }
}

static void test_count_only(void **unused)
{
    (void)unused;
    e2b_text text = {NULL, 0, 0, 0};
    assert_true(e2b_text_fits(&text));
    append_all(&text);
    assert_int_equal(text.total, 194);
    assert_int_equal(e2b_text_stored(&text), 0);
    assert_false(e2b_text_fits(&text));
}

/* A text far longer than any buffer is seen through a small window at its end. */
static void test_beyond_32_bits(void **unused)
{
    (void)unused;
    static char block[1u << 20];
    char window[8];
    memset(block, 'x', sizeof block);
    uint64_t blocks = 4097; /* of one MiB: more than 4 GiB */
    e2b_text text = {window, sizeof window, blocks * sizeof block - 4, 0};
    for (uint64_t i = 0; i < blocks; i++) {
        e2b_text_bytes(&text, block, sizeof block);
    }
    e2b_text_string(&text, "the end");
    assert_int_equal(text.total, blocks * sizeof block + 7);
    check_str((e2b_str){window, e2b_text_stored(&text)}, str_of("xxxxthe "));
}

/* What lies outside the window is not even read: here it can't be. */
static void test_unseen_is_not_read(void **unused)
{
    (void)unused;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = 4096 * page;
    uint8_t *memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + size - page, page, PROT_READ | PROT_WRITE), 0);
    memory[size - 1] = 'x';

    char window[64];
    e2b_text text = {window, sizeof window, 0, 0};
    e2b_text_bytes(&text, memory, 0);
    text.skip = size - 1;
    e2b_text_bytes(&text, memory, size);
    check_str((e2b_str){window, e2b_text_stored(&text)}, str_of("x"));

    /* The size is 1 more than a multiple of 3. */
    text = (e2b_text){window, 4, (size / 3) * 4, 0};
    assert_int_equal(size % 3, 1);
    e2b_text_base64(&text, memory, size);
    check_str((e2b_str){window, e2b_text_stored(&text)}, str_of("eA=="));
    e2b_text_base64(&text, memory, size);
    assert_int_equal(text.total, (size / 3 + 1) * 8);
    munmap(memory, size);
}

static void test_terminate(void **unused)
{
    (void)unused;
    for (size_t size = 1; size <= 5; size++) {
        char buffer[6] = "@@@@@";
        e2b_text text = {buffer, size, 0, 0};
        e2b_text_terminate(&text);
        assert_string_equal(buffer, "");
        e2b_text_string(&text, "abc");
        e2b_text_terminate(&text);
        assert_int_equal(strlen(buffer), size > 3 ? 3 : size - 1);
        assert_int_equal(strncmp(buffer, "abc", size - 1 < 3 ? size - 1 : 3), 0);
        assert_int_equal(e2b_text_fits(&text), size >= 3);
        assert_int_equal(buffer[5], 0);
    }
}

static void test_numbers(void **unused)
{
    (void)unused;
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {{0, "0"}, {9, "9"}, {10, "10"}, {-1, "-1"}, {-10, "-10"}, {INT64_MAX, "9223372036854775807"},
                {INT64_MIN + 1, "-9223372036854775807"}, {INT64_MIN, "-9223372036854775808"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buffer[21];
        e2b_text text = {buffer, sizeof buffer, 0, 0};
        e2b_text_i64(&text, rows[i].value);
        check_str((e2b_str){buffer, e2b_text_stored(&text)}, str_of(rows[i].text));
    }
}

/* A text that does not grow may be rewritten where it lies. */
static void test_in_place(void **unused)
{
    (void)unused;
    char buffer[] = "..abcdef";
    e2b_text text = {buffer, sizeof buffer - 1, 0, 0};
    e2b_text_bytes(&text, buffer + 2, 6);
    check_str((e2b_str){buffer, e2b_text_stored(&text)}, str_of("abcdef"));
}

/* Every byte once through each prefix, against printf. */
static void test_percent_all_bytes(void **unused)
{
    (void)unused;
    static const char *const prefixes[] = {"%", "%25", "%2525"};
    for (size_t i = 0; i < 3; i++) {
        for (int byte = 0; byte < 256; byte++) {
            char c = (char)byte, buffer[8], expected[8];
            bool bare = byte != 0 && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", byte);
            if (bare) {
                snprintf(expected, sizeof expected, "%c", byte);
            } else {
                snprintf(expected, sizeof expected, "%s%02X", prefixes[i], (unsigned int)byte);
            }
            e2b_text text = {buffer, sizeof buffer, 0, 0};
            e2b_text_percent(&text, (e2b_str){&c, 1}, prefixes[i]);
            check_str((e2b_str){buffer, e2b_text_stored(&text)}, str_of(expected));
        }
    }
}

/* ---- Vectors: metadata filters, encoded three times -------------------------- */

/* Decodes %HH once, in place; the new length. */
static size_t decode_percent(char *text, size_t length)
{
    size_t to = 0;
    for (size_t i = 0; i < length; i++, to++) {
        text[to] = text[i];
        if (text[i] == '%' && i + 2 < length) {
            char hex[3] = {text[i + 1], text[i + 2], '\0'};
            text[to] = (char)strtoul(hex, NULL, 16);
            i += 2;
        }
    }
    return to;
}

static void test_metadata_vectors(void **unused)
{
    (void)unused;
    static const char key_prefix[] = "input.metadata.";
    vector_file vectors;
    size_t compared = 0;
    vectors_open(&vectors, "query_encoding");
    while (vectors_next(&vectors)) {
        if (!vector_is(&vectors, "input.what", "list_metadata")) {
            continue;
        }
        char buffer[256];
        e2b_text text = {buffer, sizeof buffer, 0, 0};
        bool slash = false;
        for (size_t i = 0; i < vectors.count; i++) {
            const char *name = vectors.fields[i].name;
            if (strncmp(name, key_prefix, sizeof key_prefix - 1) != 0) {
                continue;
            }
            e2b_text_string(&text, text.total > 0 ? "%26" : "");
            e2b_text_percent(&text, str_of(name + sizeof key_prefix - 1), "%2525");
            e2b_text_string(&text, "%3D");
            e2b_text_percent(&text, vectors.fields[i].value, "%2525");
            slash = slash || memchr(vectors.fields[i].value.ptr, '/', vectors.fields[i].value.len) != NULL;
        }
        e2b_str expected = vector_value(&vectors, "expected.as_query_value");
        e2b_str found = {buffer, e2b_text_stored(&text)};
        if (slash) {
            /* The reference leaves a slash bare in the first of its encodings: compare what a server finds. */
            char *other = (char *)(uintptr_t)expected.ptr;
            for (int turn = 0; turn < 3; turn++) {
                found.len = decode_percent(buffer, found.len);
                expected.len = decode_percent(other, expected.len);
            }
        }
        check_str(found, expected);
        compared++;
    }
    vectors_close(&vectors);
    assert_int_equal(compared, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_str_of),         cmocka_unit_test(test_append),         cmocka_unit_test(test_every_window),
        cmocka_unit_test(test_count_only),     cmocka_unit_test(test_beyond_32_bits),
        cmocka_unit_test(test_unseen_is_not_read), cmocka_unit_test(test_terminate),
             cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_in_place),       cmocka_unit_test(test_percent_all_bytes),
        cmocka_unit_test(test_metadata_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
