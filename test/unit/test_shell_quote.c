/* Shell quoting: the vectors, and a real shell that reads the words back. */
#include "base/shell_quote.h"
#include "check_str.h"
#include "incremental.h"
#include "vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORDS_MAX 600

/* Words that wait for the shell; their bytes are copied. */
static e2b_str words[WORDS_MAX];
static size_t word_count;

static void add_word(e2b_str word)
{
    if (memchr(word.ptr, 0, word.len) != NULL) {
        return; /* no argument of a program can hold it */
    }
    char *copy = malloc(word.len + 1);
    assert_non_null(copy);
    assert_true(word_count < WORDS_MAX);
    memcpy(copy, word.ptr, word.len);
    words[word_count++] = (e2b_str){copy, word.len};
}

static void check_quoted(e2b_str word, e2b_str expected)
{
    char buffer[2048];
    e2b_text text = {buffer, sizeof buffer, 0, 0};
    e2b_shell_quote(&text, (e2b_str){guarded_copy(word.ptr, word.len), word.len});
    assert_true(e2b_text_fits(&text));
    check_str((e2b_str){buffer, e2b_text_stored(&text)}, expected);
}

static void check_joined(const vector_file *vectors, e2b_str expected)
{
    e2b_str argv[64];
    char buffer[4096];
    e2b_text text = {buffer, sizeof buffer, 0, 0};
    size_t count = vector_count(vectors, "input.argv_hex");
    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++) {
        argv[i] = vector_bytes(vector_at(vectors, "input.argv_hex", i));
        add_word(argv[i]);
    }
    e2b_shell_join(&text, argv, count);
    assert_true(e2b_text_fits(&text));
    check_str((e2b_str){buffer, e2b_text_stored(&text)}, expected);
}

static void test_vectors(void **unused)
{
    (void)unused;
    vector_file vectors;
    size_t quoted = 0, joined = 0;
    vectors_open(&vectors, "shell_quote");
    while (vectors_next(&vectors)) {
        e2b_str expected = vector_bytes(vector_value(&vectors, "expected.quoted_hex"));
        if (vector_is(&vectors, "input.op", "join")) {
            check_joined(&vectors, expected);
            joined++;
        } else {
            e2b_str word = vector_bytes(vector_value(&vectors, "input.text_hex"));
            check_quoted(word, expected);
            add_word(word);
            quoted++;
        }
    }
    vectors_close(&vectors);
    assert_int_equal(quoted, 92);
    assert_int_equal(joined, 16);
}

/* The last statement of a wrapped command is "exec " and the argument vector. */
static void test_command_vectors(void **unused)
{
    (void)unused;
    vector_file vectors;
    vectors_open(&vectors, "command_wrap");
    while (vectors_next(&vectors)) {
        e2b_str argv[16];
        char buffer[1024];
        e2b_text text = {buffer, sizeof buffer, 0, 0};
        size_t count = vector_count(&vectors, "input.argv");
        assert_true(count <= 16);
        for (size_t i = 0; i < count; i++) {
            argv[i] = vector_at(&vectors, "input.argv", i);
        }
        e2b_text_string(&text, "exec ");
        e2b_shell_join(&text, argv, count);
        check_str((e2b_str){buffer, e2b_text_stored(&text)}, vector_value(&vectors, "expected.last_statement"));
    }
    vectors_close(&vectors);
}

/* Each byte alone: bare exactly if it is one of those that the header names. */
static void test_every_byte(void **unused)
{
    (void)unused;
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    for (int byte = 1; byte < 256; byte++) {
        char c = (char)byte, expected[8];
        if (strchr(bare, byte) != NULL) {
            snprintf(expected, sizeof expected, "%c", byte);
        } else if (byte == '\'') {
            strcpy(expected, "''\"'\"''");
        } else {
            snprintf(expected, sizeof expected, "'%c'", byte);
        }
        check_quoted((e2b_str){&c, 1}, str_of(expected));
        add_word((e2b_str){&c, 1});
    }
    check_quoted((e2b_str){NULL, 0}, str_of("''"));
    check_quoted(str_of("~"), str_of("'~'"));
    check_quoted(str_of("a=b"), str_of("a=b"));
}

static void test_join(void **unused)
{
    (void)unused;
    char buffer[32];
    e2b_text text = {buffer, sizeof buffer, 0, 0};
    e2b_shell_join(&text, NULL, 0);
    assert_int_equal(text.total, 0);
    const e2b_str three[] = {{"a", 1}, {NULL, 0}, {"b c", 3}};
    e2b_shell_join(&text, three, 3);
    check_str((e2b_str){buffer, e2b_text_stored(&text)}, str_of("a '' 'b c'"));
}

/* Every short word over the characters that matter, all read back by a shell. */
static void test_short_words(void **unused)
{
    (void)unused;
    static const char alphabet[] = "'a\\\"$\n";
    for (size_t len = 0; len <= 3; len++) {
        size_t count = 1;
        for (size_t i = 0; i < len; i++) {
            count *= sizeof alphabet - 1;
        }
        for (size_t number = 0; number < count; number++) {
            char word[3];
            for (size_t i = 0, rest = number; i < len; i++, rest /= sizeof alphabet - 1) {
                word[i] = alphabet[rest % (sizeof alphabet - 1)];
            }
            if (word_count < WORDS_MAX) {
                add_word((e2b_str){word, len});
            }
        }
    }
}

/* All the words so far, quoted, as arguments of printf in a script of sh. */
static void test_real_shell(void **unused)
{
    (void)unused;
    static char line[65536], back[65536];
    e2b_text text = {line, sizeof line, 0, 0};
    assert_true(word_count > 500);
    e2b_text_string(&text, "printf '%s\\0' ");
    e2b_shell_join(&text, words, word_count);
    e2b_text_char(&text, '\n');
    assert_true(e2b_text_fits(&text));

    const char *folder = getenv("TMPDIR");
    char script[1024], command[1100];
    snprintf(script, sizeof script, "%s/shell_quote.XXXXXX", folder != NULL ? folder : "/tmp");
    int descriptor = mkstemp(script);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(line, 1, e2b_text_stored(&text), file), e2b_text_stored(&text));
    assert_int_equal(fclose(file), 0);

    /* The C locale: bytes that are no characters pass through the shell unharmed. */
    snprintf(command, sizeof command, "LC_ALL=C sh '%s'", script);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    size_t length = fread(back, 1, sizeof back, output);
    assert_int_equal(pclose(output), 0);
    remove(script);

    size_t at = 0;
    for (size_t i = 0; i < word_count; i++) {
        assert_true(at + words[i].len < length);
        check_str((e2b_str){back + at, words[i].len}, words[i]);
        assert_int_equal(back[at + words[i].len], 0);
        at += words[i].len + 1;
    }
    assert_int_equal(at, length);
}

static int free_words(void **unused)
{
    (void)unused;
    while (word_count > 0) {
        free((char *)(uintptr_t)words[--word_count].ptr);
    }
    return 0;
}

int main(void)
{
    /* In this order: the last one takes the words of those before it. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),   cmocka_unit_test(test_command_vectors),
        cmocka_unit_test(test_every_byte), cmocka_unit_test(test_join),
        cmocka_unit_test(test_short_words), cmocka_unit_test(test_real_shell),
    };
    return cmocka_run_group_tests(tests, NULL, free_words);
}
