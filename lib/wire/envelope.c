#include "wire/envelope.h"

enum { FLAG_COMPRESSED = 1, FLAG_LAST = 2 };

e2b_err e2b_envelope_read(e2b_envelope *envelope, const uint8_t *in, size_t len, size_t *used)
{
    for (*used = 0; *used < len && !e2b_envelope_open(envelope); ++*used) {
        uint8_t byte = in[*used];
        if (envelope->have == 0) {
            if (envelope->last) return E2B_PROTOCOL;
            /* Text that is in no envelope has such bits too. */
            if (byte & ~(FLAG_LAST | FLAG_COMPRESSED)) return E2B_PROTOCOL;
            if (byte & FLAG_COMPRESSED) return E2B_COMPRESSED;
            envelope->last = byte == FLAG_LAST;
        } else {
            envelope->left = envelope->left << 8 | byte;
        }
        envelope->have++;
    }
    return E2B_OK;
}

bool e2b_envelope_open(const e2b_envelope *envelope)
{
    return envelope->have == 5;
}

void e2b_envelope_take(e2b_envelope *envelope, size_t count)
{
    envelope->left -= (uint32_t)count;
}

void e2b_envelope_close(e2b_envelope *envelope)
{
    envelope->have = 0;
}

bool e2b_envelope_is_last(const e2b_envelope *envelope)
{
    return envelope->last != 0;
}
