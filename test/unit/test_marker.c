/* The marker scanner against a search over the whole stream. */
#include "base/marker.h"
#include "check_str.h"
#include "incremental.h"
#include "vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- A reference that is slow and obvious: where the marker ends, or none ------ */

static bool reference_find(e2b_str stream, e2b_str marker, size_t *end)
{
    for (size_t at = 0; at + marker.len <= stream.len; at++) {
        if (memcmp(stream.ptr + at, marker.ptr, marker.len) == 0) {
            *end = at + marker.len;
            return true;
        }
    }
    return false;
}

/* The scanner's answers, collected. */
typedef struct collected {
    char payload[8192], noise[8192];
    size_t payload_len, noise_len;
} collected;

static void collect_payload(collected *all, e2b_str payload)
{
    assert_true(payload.len <= sizeof all->payload - all->payload_len);
    if (payload.len > 0) {
        memcpy(all->payload + all->payload_len, payload.ptr, payload.len);
    }
    all->payload_len += payload.len;
}

static void collect_noise(collected *all, const e2b_marker *scanner)
{
    e2b_str pieces[2];
    e2b_marker_noise(scanner, pieces);
    all->noise_len = 0;
    for (int i = 0; i < 2; i++) {
        if (pieces[i].len > 0) {
            memcpy(all->noise + all->noise_len, pieces[i].ptr, pieces[i].len);
        }
        all->noise_len += pieces[i].len;
    }
}

/* Everything there is to say about a stream that was fed and has ended. */
static void check_result(const e2b_marker *scanner, collected *all, e2b_str stream, e2b_str marker)
{
    size_t end = 0;
    bool found = reference_find(stream, marker, &end);
    e2b_str noise = {stream.ptr, found ? end - marker.len : stream.len};
    size_t kept = noise.len < scanner->kept_size ? noise.len : scanner->kept_size;
    collect_noise(all, scanner);
    assert_int_equal(scanner->found, found);
    assert_int_equal(scanner->dropped, noise.len - kept);
    check_str((e2b_str){all->noise, all->noise_len}, (e2b_str){noise.ptr + noise.len - kept, kept});
    check_str((e2b_str){all->payload, all->payload_len},
              found ? (e2b_str){stream.ptr + end, stream.len - end} : (e2b_str){NULL, 0});
}

/* ---- Every small input ------------------------------------------------------------ */

static void scan_in_two(e2b_str stream, size_t cut, e2b_str marker, size_t kept_size)
{
    static collected all;
    char kept[16];
    e2b_marker scanner;
    all.payload_len = 0;
    assert_true(e2b_marker_init(&scanner, marker, kept_size > 0 ? kept : NULL, kept_size));
    collect_payload(&all, e2b_marker_feed(&scanner, (e2b_str){stream.ptr, cut}));
    collect_payload(&all, e2b_marker_feed(&scanner, (e2b_str){stream.ptr + cut, stream.len - cut}));
    e2b_marker_end(&scanner);
    check_result(&scanner, &all, stream, marker);
}

static void test_every_small_input(void **unused)
{
    (void)unused;
    static const char *const markers[] = {"a",    "b",    "aa",    "ab",    "aab",     "aba",
                                          "abab", "aaaa", "abaab", "ababb", "aabaaab", "aabaaaa"};
    size_t longest = test_sampled() ? 8 : 12;
    for (size_t m = 0; m < sizeof markers / sizeof markers[0]; m++) {
        for (size_t len = 0; len <= longest; len++) {
            for (unsigned int bits = 0; bits < 1u << len; bits++) {
                char stream[12];
                for (size_t i = 0; i < len; i++) {
                    stream[i] = (bits >> i & 1) != 0 ? 'b' : 'a';
                }
                for (size_t cut = 0; cut <= len; cut++) {
                    scan_in_two((e2b_str){stream, len}, cut, str_of(markers[m]), (bits + cut) % 6);
                }
            }
        }
    }
}

/* ---- Every cut --------------------------------------------------------------------- */

typedef struct scan {
    e2b_marker scanner;
    char kept[8];
} scan;

static void reset(void *state, const void *context)
{
    scan *s = state;
    const e2b_str *marker = context;
    assert_true(e2b_marker_init(&s->scanner, *marker, s->kept, sizeof s->kept));
}

static int feed(void *state, char *in, size_t len, size_t *used, incremental_log *log)
{
    e2b_str payload = e2b_marker_feed(&((scan *)state)->scanner, (e2b_str){in, len});
    /* Handed through, not copied. */
    assert_true(payload.len == 0 || payload.ptr + payload.len == in + len);
    log_data(log, "payload", payload.ptr, payload.len);
    *used = len;
    return INCREMENTAL_MORE;
}

static bool end(void *state, incremental_log *log)
{
    const e2b_marker *scanner = &((scan *)state)->scanner;
    e2b_str noise[2];
    e2b_marker_end(&((scan *)state)->scanner);
    e2b_marker_noise(scanner, noise);
    log_event(log, "%s, %u dropped", scanner->found ? "found" : "never found", (unsigned int)scanner->dropped);
    log_data(log, "noise", noise[0].ptr, noise[0].len);
    log_data(log, "noise", noise[1].ptr, noise[1].len);
    log_event(log, "end");
    return true;
}

static bool is_whole(const void *context, const char *in, size_t len)
{
    (void)context;
    (void)in;
    (void)len;
    return true;
}

static void test_every_cut(void **unused)
{
    (void)unused;
    static const struct {
        const char *marker, *stream;
    } rows[] = {
        {"vf-start-01", "welcome\nvf-start-0vf-vf-start-00vf-start-01payload vf-start-01 again"},
        {"aaab", "aaaaaaaaaaaaaaaaaaaaabaaab"},
        {"abcabd", "abcabcabcabcabdabcabd"},
        {"abcabd", "abcabcabcabcabcab"},
        {"x", "....x"},
        {"x", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        e2b_str marker = str_of(rows[i].marker);
        incremental_parser parser = {sizeof(scan), reset, feed, end, is_whole, &marker};
        incremental_check(&parser, rows[i].stream, strlen(rows[i].stream));
    }
}

/* ---- Vectors ------------------------------------------------------------------------ */

/* What a consumer of one stream sees: its items, adjacent data joined. */
static void check_stream(const vector_file *vectors, const char *stream)
{
    static collected all;
    static char kept[4096];
    char name[64] = "expected.";
    e2b_marker scanner;
    e2b_str marker = vector_value(vectors, "input.marker");
    all.payload_len = 0;
    assert_true(e2b_marker_init(&scanner, marker, kept, sizeof kept));
    for (size_t i = 0; i < vector_count(vectors, "input.events"); i += 2) {
        if (str_equal(vector_at(vectors, "input.events", i), str_of(stream))) {
            char bytes[4096];
            e2b_str hex = vector_at(vectors, "input.events", i + 1);
            assert_true(hex.len < sizeof bytes);
            memcpy(bytes, hex.ptr, hex.len);
            collect_payload(&all, e2b_marker_feed(&scanner, vector_bytes((e2b_str){bytes, hex.len})));
        }
    }
    e2b_marker_end(&scanner);
    collect_noise(&all, &scanner);

    char data[8192];
    size_t data_len = 0, flushed = 0, errors = 0, ends = 0;
    strcat(strcat(name, stream), ".items");
    for (size_t i = 0; i < vector_count(vectors, name); i++) {
        e2b_str kind = vector_at(vectors, name, i);
        if (str_equal(kind, str_of("data"))) {
            e2b_str bytes = vector_bytes(vector_at(vectors, name, ++i));
            memcpy(data + data_len, bytes.ptr, bytes.len);
            data_len += bytes.len;
        } else if (str_equal(kind, str_of("flush"))) {
            /* The noise stays when the marker never came; nothing of it may be lost. */
            check_str((e2b_str){all.noise, all.noise_len}, vector_bytes(vector_at(vectors, name, ++i)));
            assert_int_equal(scanner.dropped, 0);
            flushed++;
        } else if (str_equal(kind, str_of("error"))) {
            errors++;
        } else {
            assert_true(str_equal(kind, str_of("eof")));
            ends++;
        }
    }
    check_str((e2b_str){all.payload, all.payload_len}, (e2b_str){data, data_len});
    assert_int_equal(flushed, !scanner.found && all.noise_len > 0);
    assert_int_equal(errors, vector_is(vectors, "input.end", "error"));
    assert_int_equal(ends, 1);
    name[strlen(name) - strlen("items")] = '\0';
    assert_int_equal(vector_is(vectors, strcat(name, "marker_seen"), "true"), scanner.found);
}

static void test_vectors(void **unused)
{
    (void)unused;
    vector_file vectors;
    size_t rows = 0;
    vectors_open(&vectors, "marker_stream");
    while (vectors_next(&vectors)) {
        check_stream(&vectors, "stdout");
        check_stream(&vectors, "stderr");
        rows++;
    }
    vectors_close(&vectors);
    assert_int_equal(rows, 93);
}

/* ---- Limits --------------------------------------------------------------------------- */

static void test_marker_lengths(void **unused)
{
    (void)unused;
    char marker[E2B_MARKER_MAX + 1];
    e2b_marker scanner;
    memset(marker, 'm', sizeof marker);
    assert_false(e2b_marker_init(&scanner, (e2b_str){NULL, 0}, NULL, 0));
    assert_false(e2b_marker_init(&scanner, (e2b_str){marker, E2B_MARKER_MAX + 1}, NULL, 0));
    for (size_t len = 1; len <= E2B_MARKER_MAX; len++) {
        e2b_str payload;
        assert_true(e2b_marker_init(&scanner, (e2b_str){marker, len}, NULL, 0));
        payload = e2b_marker_feed(&scanner, (e2b_str){marker, len - 1});
        assert_int_equal(payload.len, 0);
        assert_false(scanner.found);
        payload = e2b_marker_feed(&scanner, (e2b_str){marker, 2});
        assert_true(scanner.found);
        check_str(payload, str_of("m"));
        check_str(e2b_marker_feed(&scanner, str_of("mmmm")), str_of("mmmm"));
        assert_int_equal(scanner.dropped, 0);
    }
}

/* Rings of every size keep exactly the newest bytes, whatever the pieces are. */
static void test_ring_sizes(void **unused)
{
    (void)unused;
    static const char noise[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static collected all;
    for (size_t size = 0; size <= sizeof noise; size++) {
        for (size_t piece = 1; piece < sizeof noise; piece++) {
            char *kept = guarded_copy(noise, size);
            e2b_marker scanner;
            all.payload_len = 0;
            assert_true(e2b_marker_init(&scanner, str_of("!"), size > 0 ? kept : NULL, size));
            for (size_t at = 0; at < sizeof noise - 1; at += piece) {
                size_t count = sizeof noise - 1 - at < piece ? sizeof noise - 1 - at : piece;
                collect_payload(&all, e2b_marker_feed(&scanner, (e2b_str){noise + at, count}));
                e2b_marker copy = scanner;
                check_result(&copy, &all, (e2b_str){noise, at + count}, str_of("!"));
            }
        }
    }
}

/* A kept ring that would count the same bytes twice after a second end. */
static void test_end_twice(void **unused)
{
    (void)unused;
    static collected all;
    char kept[16];
    e2b_marker scanner;
    assert_true(e2b_marker_init(&scanner, str_of("marker"), kept, sizeof kept));
    e2b_marker_feed(&scanner, str_of("noise mark"));
    collect_noise(&all, &scanner);
    check_str((e2b_str){all.noise, all.noise_len}, str_of("noise "));
    e2b_marker_end(&scanner);
    e2b_marker_end(&scanner);
    collect_noise(&all, &scanner);
    check_str((e2b_str){all.noise, all.noise_len}, str_of("noise mark"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_small_input), cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_vectors),           cmocka_unit_test(test_marker_lengths),
        cmocka_unit_test(test_ring_sizes),        cmocka_unit_test(test_end_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
