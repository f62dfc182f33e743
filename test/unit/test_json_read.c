#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The reader itself, with the bytes counted that its searches look at. */
static size_t searched;

static void *counted_memchr(const void *in, int byte, size_t len)
{
    char *found = memchr(in, byte, len);
    searched += found != NULL ? (size_t)(found - (const char *)in) + 1 : len;
    return found;
}

#undef memchr
#define memchr counted_memchr
#include "../../lib/base/json_read.c"
#undef memchr

#include "incremental.h"
#include "json_documents.h"
#include "json_reference.h"

static char unescaped[1 << 17];

/* ---- The parser for the harness ------------------------------------------- */

/* What to do with string values. */
enum { TAKE, SKIP, ALTERNATE };

typedef struct read_state {
    e2b_json_reader reader;
    int mode;
    bool bad, skipping;
    size_t items;
} read_state;

static void read_reset(void *state, const void *context)
{
    ((read_state *)state)->mode = *(const int *)context;
}

static void log_scalar(read_state *s, incremental_log *log)
{
    int64_t number = 0;
    bool truth = false;
    bool is_number = e2b_json_int64(&s->reader, &number);
    bool is_bool = e2b_json_bool(&s->reader, &truth);
    log_event(log, "scalar %u %s %d %lld %d %d %d", s->reader.key_len, s->reader.key, is_number, (long long)number,
              is_bool, truth, e2b_json_is_null(&s->reader));
}

/* False if the text is bad. */
static bool log_text(read_state *s, const e2b_json_item *item, incremental_log *log)
{
    if (s->mode == TAKE || (s->mode == ALTERNATE && s->items % 2 == 0)) {
        e2b_text out = {unescaped, sizeof unescaped, 0, 0};
        bool good = e2b_json_text(&s->reader, item, &out);
        log_data(log, "text", unescaped, e2b_text_stored(&out));
        if (!good) {
            return false;
        }
    } else {
        log_data(log, "raw", item->raw.ptr, item->raw.len);
    }
    if (item->last) {
        log_event(log, "text ends at %u", item->depth);
    }
    return true;
}

static int read_feed(void *state, char *in, size_t len, size_t *used, incremental_log *log)
{
    read_state *s = state;
    *used = 0;
    while (!s->bad) {
        e2b_json_item item;
        size_t taken;
        int32_t kind = e2b_json_read(&s->reader, in + *used, len - *used, &taken, &item);
        assert_true(taken <= len - *used);
        assert_int_equal(item.kind, kind);
        *used += taken;
        switch (kind) {
        case E2B_JSON_MORE:
        case E2B_JSON_DONE: assert_int_equal(*used, len); return INCREMENTAL_MORE;
        case E2B_JSON_BAD: s->bad = true; break;
        case E2B_JSON_TEXT:
            s->bad = !log_text(s, &item, log);
            if (!item.last) {
                continue;
            }
            break;
        case E2B_JSON_KEY:
            log_data(log, "key", s->reader.key, s->reader.key_len == 255 ? 0 : s->reader.key_len);
            log_event(log, "key ends at %u, %u bytes", item.depth, s->reader.key_len);
            break;
        case E2B_JSON_SCALAR: log_scalar(s, log); break;
        default: log_event(log, "%d at %u", (int)kind, item.depth); break;
        }
        s->items++;
    }
    return INCREMENTAL_BAD;
}

static bool read_end(void *state, incremental_log *log)
{
    read_state *s = state;
    bool whole = !s->bad && e2b_json_finish(&s->reader);
    if (whole && s->items == 0) {
        log_scalar(s, log);
    }
    return whole;
}

static bool read_is_whole(const void *context, const char *in, size_t len)
{
    return json_reference(in, len, E2B_JSON_DEPTH, *(const int *)context == SKIP);
}

static const int modes[] = {TAKE, SKIP, ALTERNATE};

static incremental_parser parser_of(const int *mode)
{
    incremental_parser parser = {sizeof(read_state), read_reset, read_feed, read_end, read_is_whole, mode};
    return parser;
}

static bool says(const char *log, const char *outcome)
{
    size_t len = strlen(log), tail = strlen(outcome);
    return len >= tail && strcmp(log + len - tail, outcome) == 0;
}

/* ---- Documents in any pieces ----------------------------------------------- */

static void good_in_any_pieces(void **state)
{
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        incremental_parser parser = parser_of(&modes[m]);
        for (size_t i = 0; i < json_good_count; i++) {
            assert_true(json_reference(json_good[i].text, json_good[i].len, E2B_JSON_DEPTH, false));
            assert_true(says(incremental_check(&parser, json_good[i].text, json_good[i].len), "whole\n"));
        }
    }
}

static void bad_in_any_pieces(void **state)
{
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        incremental_parser parser = parser_of(&modes[m]);
        for (size_t i = 0; i < json_bad_count; i++) {
            const char *log = incremental_check(&parser, json_bad[i].text, json_bad[i].len);
            assert_true(says(log, "bad\n") || says(log, "cut off\n"));
            assert_false(json_reference(json_bad[i].text, json_bad[i].len, E2B_JSON_DEPTH, true));
        }
    }
}

/* Bad for whoever asks; who does not ask passes over it. */
static void bad_text_in_any_pieces(void **state)
{
    (void)state;
    incremental_parser take = parser_of(&modes[TAKE]), skip = parser_of(&modes[SKIP]);
    for (size_t i = 0; i < json_bad_text_count; i++) {
        const json_document *bad_text = &json_bad_text[i];
        assert_true(says(incremental_check(&take, bad_text->text, bad_text->len), "bad\n"));
        assert_true(says(incremental_check(&skip, bad_text->text, bad_text->len), "whole\n"));
    }
}

static void items_of_a_document(void **state)
{
    (void)state;
    static const char document[] = " {\"p\\u0069d\" : 5.0, \"a\":[\"x\\n\",\"\",true ,null],\"b\":{}, \"c\":-1e1}\n";
    incremental_parser parser = parser_of(&modes[TAKE]);
    assert_string_equal(incremental_check(&parser, document, sizeof document - 1),
                        "1 at 0\n"
                        "key 706964\nkey ends at 1, 3 bytes\nscalar 3 5.0 1 5 0 0 0\n"
                        "key 61\nkey ends at 1, 1 bytes\n2 at 1\ntext 780a\ntext ends at 2\ntext ends at 2\n"
                        "scalar 4 true 0 0 1 1 0\nscalar 4 null 0 0 0 0 1\n3 at 1\n"
                        "key 62\nkey ends at 1, 1 bytes\n1 at 1\n3 at 1\n"
                        "key 63\nkey ends at 1, 1 bytes\nscalar 4 -1e1 1 -10 0 0 0\n"
                        "3 at 0\nwhole\n");
}

/* ---- Every short text ------------------------------------------------------ */

static bool accepts(const char *text, size_t len, bool take, size_t piece)
{
    e2b_json_reader reader;
    memset(&reader, 0, sizeof reader);
    for (size_t at = 0; at < len;) {
        e2b_json_item item;
        size_t used, count = piece < len - at ? piece : len - at;
        e2b_text nowhere = {NULL, 0, 0, 0};
        int32_t kind = e2b_json_read(&reader, text + at, count, &used, &item);
        if (kind == E2B_JSON_BAD || (kind == E2B_JSON_TEXT && take && !e2b_json_text(&reader, &item, &nowhere))) {
            return false;
        }
        at += used;
    }
    return e2b_json_finish(&reader);
}

static void compare(const char *text, size_t len)
{
    bool strict = json_reference(text, len, E2B_JSON_DEPTH, false);
    bool loose = json_reference(text, len, E2B_JSON_DEPTH, true);
    if (accepts(text, len, true, len) != strict || accepts(text, len, true, 1) != strict ||
        accepts(text, len, false, len) != loose || accepts(text, len, false, 1) != loose) {
        fail_msg("differs from the reference: %.*s", (int)len, text);
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
            compare(text, len);
        }
    }
}

static void every_number_over_an_alphabet(void **state)
{
    (void)state;
    static const char alphabet[] = "-+.eE019 ";
    for (unsigned long n = 0; n < 9ul * 9 * 9 * 9 * 9 * 9; n++) {
        char text[8];
        unsigned long rest = n;
        for (size_t i = 0; i < 6; i++) {
            text[i] = alphabet[rest % 9];
            rest /= 9;
        }
        compare(text, 6);
    }
}

/* Every byte at every place of documents that visit all states, put in and put over. */
static void every_byte_everywhere(void **state)
{
    (void)state;
    static const char *const documents[] = {
        "{\"ab\\n\\u00e9\" : [1, -0.5e+3 ,true,false,null,\"x\\\"\\ud83d\\ude00\xc3\xa9\"], \"\":{ } } ",
        "[\"\",[],{\"a\":10}]", "12", "true", "\"a\"", " [ ] ",
    };
    for (size_t d = 0; d < sizeof documents / sizeof documents[0]; d++) {
        size_t len = strlen(documents[d]);
        for (size_t place = 0; place <= len; place++) {
            for (int c = 0; c < 256; c++) {
                char text[128];
                memcpy(text, documents[d], place);
                text[place] = (char)c;
                memcpy(text + place + 1, documents[d] + place, len - place);
                compare(text, len + 1);
                if (place < len) {
                    memcpy(text, documents[d], len);
                    text[place] = (char)c;
                    compare(text, len);
                }
            }
        }
    }
}

/* ---- Ends ------------------------------------------------------------------ */

static void done_after_the_last_item(void **state)
{
    (void)state;
    e2b_json_reader reader;
    e2b_json_item item;
    size_t used = 9;
    memset(&reader, 0, sizeof reader);
    assert_int_equal(e2b_json_read(&reader, NULL, 0, &used, &item), E2B_JSON_MORE);
    assert_int_equal(used, 0);
    assert_false(e2b_json_finish(&reader));
    assert_int_equal(e2b_json_read(&reader, "[]", 2, &used, &item), E2B_JSON_ARRAY);
    assert_int_equal(used, 1);
    assert_int_equal(e2b_json_read(&reader, "] ", 2, &used, &item), E2B_JSON_END);
    assert_int_equal(used, 1);
    assert_int_equal(e2b_json_read(&reader, NULL, 0, &used, &item), E2B_JSON_DONE);
    assert_int_equal(e2b_json_read(&reader, " \n", 2, &used, &item), E2B_JSON_DONE);
    assert_int_equal(used, 2);
    assert_true(e2b_json_finish(&reader));
    assert_int_equal(e2b_json_read(&reader, " x", 2, &used, &item), E2B_JSON_BAD);
    assert_int_equal(e2b_json_read(&reader, " ", 1, &used, &item), E2B_JSON_BAD);
    assert_int_equal(used, 0);
    assert_false(e2b_json_finish(&reader));
}

static void a_bare_number_ends_with_finish_or_space(void **state)
{
    (void)state;
    e2b_json_reader reader;
    e2b_json_item item;
    size_t used;
    int64_t number = 0;
    memset(&reader, 0, sizeof reader);
    assert_int_equal(e2b_json_read(&reader, "12", 2, &used, &item), E2B_JSON_MORE);
    assert_int_equal(e2b_json_read(&reader, "3", 1, &used, &item), E2B_JSON_MORE);
    assert_true(e2b_json_finish(&reader));
    assert_true(e2b_json_int64(&reader, &number));
    assert_int_equal(number, 123);
    memset(&reader, 0, sizeof reader);
    assert_int_equal(e2b_json_read(&reader, "12\n", 3, &used, &item), E2B_JSON_SCALAR);
    assert_int_equal(used, 2);
    assert_int_equal(e2b_json_read(&reader, "\n", 1, &used, &item), E2B_JSON_DONE);
    memset(&reader, 0, sizeof reader);
    assert_int_equal(e2b_json_read(&reader, "[12", 3, &used, &item), E2B_JSON_ARRAY);
    assert_int_equal(e2b_json_read(&reader, "12", 2, &used, &item), E2B_JSON_MORE);
    assert_false(e2b_json_finish(&reader));
}

/* ---- Depth ----------------------------------------------------------------- */

static bool nests(size_t depth, bool objects)
{
    char text[512];
    size_t len = 0;
    for (size_t i = 0; i < depth; i++) {
        const char *open = objects && i % 2 == 0 ? "{\"a\":" : "[";
        memcpy(text + len, open, strlen(open));
        len += strlen(open);
    }
    text[len++] = '1';
    for (size_t i = depth; i > 0; i--) {
        text[len++] = objects && i % 2 == 1 ? '}' : ']';
    }
    return accepts(text, len, true, len) && accepts(text, len, true, 1);
}

static void depth_to_the_limit(void **state)
{
    (void)state;
    for (int objects = 0; objects < 2; objects++) {
        assert_true(nests(E2B_JSON_DEPTH - 1, objects != 0));
        assert_true(nests(E2B_JSON_DEPTH, objects != 0));
        assert_false(nests(E2B_JSON_DEPTH + 1, objects != 0));
    }
}

/* The reader looks at no byte behind the bracket that is too much. */
static void a_million_brackets(void **state)
{
    (void)state;
    size_t len = 1000000;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, '[', len);
    static const char *const starts[] = {"", "{\"ignored\":"};
    for (size_t i = 0; i < 2; i++) {
        size_t start = strlen(starts[i]), at = 0, used, calls = 0;
        e2b_json_reader reader;
        e2b_json_item item;
        int32_t kind;
        memset(&reader, 0, sizeof reader);
        memcpy(text, starts[i], start);
        do {
            kind = e2b_json_read(&reader, text + at, len - at, &used, &item);
            at += used;
            calls++;
        } while (kind != E2B_JSON_BAD && kind != E2B_JSON_MORE);
        assert_int_equal(kind, E2B_JSON_BAD);
        assert_true(at <= start + E2B_JSON_DEPTH + 1);
        assert_true(calls <= E2B_JSON_DEPTH + 2);
    }
    free(text);
}

/* ---- Work ------------------------------------------------------------------ */

/* Bytes searched for `n` bytes of a repeated pattern in a string, fed in pieces. */
static size_t work(const char *pattern, size_t n, size_t piece, bool in_key)
{
    size_t len = n + 3, at = 0;
    char *text = malloc(len);
    assert_non_null(text);
    text[0] = in_key ? '{' : '[';
    text[1] = '"';
    for (size_t i = 0; i < n; i++) {
        text[i + 2] = pattern[i % strlen(pattern)];
    }
    text[len - 1] = '"';
    e2b_json_reader reader;
    memset(&reader, 0, sizeof reader);
    searched = 0;
    int32_t kind = E2B_JSON_MORE;
    while (at < len) {
        e2b_json_item item;
        size_t used;
        kind = e2b_json_read(&reader, text + at, piece < len - at ? piece : len - at, &used, &item);
        assert_int_not_equal(kind, E2B_JSON_BAD);
        at += used;
    }
    assert_int_equal(kind, in_key ? E2B_JSON_KEY : E2B_JSON_TEXT);
    free(text);
    return searched;
}

static void searching_is_linear(void **state)
{
    (void)state;
    static const char *const patterns[] = {"x", "\\\\", "\\\"", "x\\\"", "\\\"\\\\", "\\n", "aaaaaaaaaaaaaa\\t"};
    static const size_t pieces[] = {SIZE_MAX, 4096, 7, 1};
    size_t n = 4200 * (test_sampled() ? 1 : 10);
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        for (size_t s = 0; s < sizeof pieces / sizeof pieces[0]; s++) {
            for (int in_key = 0; in_key < 2; in_key++) {
                assert_true(work(patterns[p], n, pieces[s], in_key != 0) <= 2 * (n + 1));
                assert_true(work(patterns[p], 2 * n, pieces[s], in_key != 0) <= 2 * (2 * n + 1));
            }
        }
    }
}

/* What one event of 32 KiB output carries: one item, found by two searches, still in the input. */
static void a_long_payload_is_one_piece(void **state)
{
    (void)state;
    size_t len = 44 * 1024;
    char *text = malloc(len + 2);
    assert_non_null(text);
    memset(text, 'A', len + 2);
    text[0] = text[len + 1] = '"';
    e2b_json_reader reader;
    e2b_json_item item;
    size_t used;
    memset(&reader, 0, sizeof reader);
    searched = 0;
    assert_int_equal(e2b_json_read(&reader, text, len + 2, &used, &item), E2B_JSON_TEXT);
    assert_int_equal(used, len + 2);
    assert_true(item.last);
    assert_ptr_equal(item.raw.ptr, text + 1);
    assert_int_equal(item.raw.len, len);
    assert_int_equal(searched, 2 * len + 1);
    free(text);
}

/* ---- Scalars --------------------------------------------------------------- */

typedef struct number_case {
    const char *text;
    bool whole;
    int64_t value;
} number_case;

static void numbers(void **state)
{
    (void)state;
    static const number_case cases[] = {
        {"5368709120", true, 5368709120},
        {"5.36870912e9", true, 5368709120},
        {"5368709120.0", true, 5368709120},
        {"5368709120e0", true, 5368709120},
        {"5.36870912E+9", true, 5368709120},
        {"53687091200e-1", true, 5368709120},
        {"0", true, 0},
        {"-0", true, 0},
        {"0.0", true, 0},
        {"-1", true, -1},
        {"137", true, 137},
        {"255", true, 255},
        {"2147483647", true, INT32_MAX},
        {"2147483648", true, (int64_t)INT32_MAX + 1},
        {"-2147483648", true, INT32_MIN},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"1e19", false, 0},
        {"1e400", false, 0},
        {"0.5", false, 0},
        {"5e-1", false, 0},
        {"5.00000000000000000000", true, 5},   /* 22 bytes */
        {"5.000000000000000000000", true, 5},  /* 23: the longest that is kept */
        {"5.0000000000000000000000", false, 0}, /* 24 */
        {"123456789012345678901234567890", false, 0},
        {"true", false, 0},
        {"null", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        e2b_json_reader reader;
        e2b_json_item item;
        size_t used, len = strlen(cases[i].text);
        int64_t value = 77;
        memset(&reader, 0, sizeof reader);
        memcpy(text, cases[i].text, len);
        text[len] = ' ';
        assert_int_equal(e2b_json_read(&reader, text, len + 1, &used, &item), E2B_JSON_SCALAR);
        assert_int_equal(e2b_json_int64(&reader, &value), cases[i].whole);
        assert_true(value == (cases[i].whole ? cases[i].value : 77));
    }
}

static void literals(void **state)
{
    (void)state;
    static const char *const words[] = {"true", "false", "null", "1"};
    for (size_t i = 0; i < 4; i++) {
        e2b_json_reader reader;
        e2b_json_item item;
        size_t used;
        char text[8];
        bool truth = i != 0;
        memset(&reader, 0, sizeof reader);
        memcpy(text, words[i], strlen(words[i]));
        text[strlen(words[i])] = '\n';
        assert_int_equal(e2b_json_read(&reader, text, strlen(words[i]) + 1, &used, &item), E2B_JSON_SCALAR);
        assert_int_equal(e2b_json_bool(&reader, &truth), i < 2);
        assert_int_equal(truth, i == 0 || i > 1);
        assert_int_equal(e2b_json_is_null(&reader), i == 2);
    }
}

static void forty_bytes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(e2b_json_reader), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_in_any_pieces),
        cmocka_unit_test(bad_in_any_pieces),
        cmocka_unit_test(bad_text_in_any_pieces),
        cmocka_unit_test(items_of_a_document),
        cmocka_unit_test(every_text_over_an_alphabet),
        cmocka_unit_test(every_number_over_an_alphabet),
        cmocka_unit_test(every_byte_everywhere),
        cmocka_unit_test(done_after_the_last_item),
        cmocka_unit_test(a_bare_number_ends_with_finish_or_space),
        cmocka_unit_test(depth_to_the_limit),
        cmocka_unit_test(a_million_brackets),
        cmocka_unit_test(searching_is_linear),
        cmocka_unit_test(a_long_payload_is_one_piece),
        cmocka_unit_test(numbers),
        cmocka_unit_test(literals),
        cmocka_unit_test(forty_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
