/* fuzz: what the fuzz targets share. Each target is one file that defines
 * LLVMFuzzerTestOneInput. `make fuzz` links it with libFuzzer; the unit tests
 * link it with replay.c and run it over test/fuzz/regression/.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program with a line that names the promise that was broken. */
#define FUZZ_CHECK(holds) ((holds) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #holds))
void fuzz_broken(const char *file, int line, const char *promise);

/* A copy in memory of exactly that size, so that reading beyond it shows. Free it. */
uint8_t *fuzz_copy(const void *data, size_t size);

/* Bytes of the input, one after another; zeros beyond its end. */
typedef struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
} fuzz_bytes;
uint8_t fuzz_byte(fuzz_bytes *bytes);

/* The length of the next piece of an input: 1 to `left`, all of it for `cut` 0. */
size_t fuzz_piece(uint32_t *cut, size_t left);

/* What a parser found, for comparing two runs over one input. */
typedef struct fuzz_log {
    uint8_t bytes[1 << 16];
    size_t length;
} fuzz_log;
void fuzz_log_add(fuzz_log *log, const void *bytes, size_t length);
void fuzz_log_number(fuzz_log *log, int64_t number);
bool fuzz_log_equal(const fuzz_log *a, const fuzz_log *b);

#endif
