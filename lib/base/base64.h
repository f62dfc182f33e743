/* base64: standard alphabet with padding, streaming, strict.
 *
 * Strict: no byte outside the alphabet, a length that is a multiple of four,
 * '=' only as the last one or two characters. Non-zero trailing bits are
 * accepted. A decoder that says yes to cut input loses data in silence; this
 * one says no at e2b_base64_end.
 */
#ifndef E2B_BASE_BASE64_H
#define E2B_BASE_BASE64_H

#include "e2b.h"

/* Zeroed is ready. `wrapped`: space, tab, CR and LF are skipped. */
typedef struct e2b_base64 {
    uint32_t bits;
    uint8_t have;    /* characters of the group under way, 0 to 3, '=' included */
    uint8_t padding; /* '=' seen */
    bool wrapped;
    bool bad;
} e2b_base64;

/* Decodes `len` characters, appends to `out`, and says how many bytes in
 * *out_len. `out` needs (len + state->have) / 4 * 3 bytes. out may be `in`
 * itself if state->have is 0 at the call. False: bad, final. */
bool e2b_base64_decode(e2b_base64 *state, const char *in, size_t len, uint8_t *out, size_t *out_len);

/* The input has ended: true if the last group was complete. */
bool e2b_base64_end(const e2b_base64 *state);

/* The fast path of process output: `len` is a multiple of 4, no padding, no
 * white space, in place allowed. Returns the characters decoded before the
 * first group that needs a closer look (out gets 3/4 of that). */
size_t e2b_base64_decode_plain(const char *in, size_t len, uint8_t *out);

/* Encodes into exactly e2b_base64_length(len) characters, no NUL. */
size_t e2b_base64_length(size_t len);
void e2b_base64_encode(const void *in, size_t len, char *out);

#endif
