#include "memory_request.h"

#include <string.h>

enum { LINE, NAME, LENGTH, SKIP, BODY, CHUNK_SIZE, CHUNK_EXTENSION, CHUNK, CHUNK_END, TRAILER, TRAILER_LINE };

#define MAY_BE_LENGTH 1u
#define MAY_BE_CHUNKED 2u

static const char length_name[] = "content-length:";
static const char encoding_name[] = "transfer-encoding:";

static uint8_t lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 32) : byte;
}

static void begin_line(e2b_memory_framing *framing)
{
    framing->phase = NAME;
    framing->column = 0;
    framing->candidates = MAY_BE_LENGTH | MAY_BE_CHUNKED;
}

static unsigned end_request(e2b_memory_framing *framing)
{
    framing->phase = LINE;
    framing->column = 0;
    framing->requests++;
    return E2B_MEMORY_REQUEST;
}

static unsigned end_head(e2b_memory_framing *framing)
{
    framing->heads++;
    framing->phase = framing->chunked ? CHUNK_SIZE : BODY;
    if (framing->chunked)
        framing->left = 0;
    else if (framing->left == 0)
        return E2B_MEMORY_HEAD | end_request(framing);
    return E2B_MEMORY_HEAD;
}

static unsigned feed_name(e2b_memory_framing *framing, uint8_t byte)
{
    if (byte == '\n') {
        if (framing->column == 0)
            return end_head(framing);
        begin_line(framing);
        return 0;
    }
    if (byte == '\r')
        return 0;
    /* The two names differ in their first letter: after it at most one is left. */
    if ((framing->candidates & MAY_BE_LENGTH) && lower(byte) != (uint8_t)length_name[framing->column])
        framing->candidates &= (uint8_t)~MAY_BE_LENGTH;
    if ((framing->candidates & MAY_BE_CHUNKED) && lower(byte) != (uint8_t)encoding_name[framing->column])
        framing->candidates &= (uint8_t)~MAY_BE_CHUNKED;
    framing->column++;
    if (framing->candidates == 0) {
        framing->phase = SKIP;
    } else if (framing->candidates == MAY_BE_LENGTH && framing->column == sizeof length_name - 1) {
        framing->phase = LENGTH;
        framing->left = 0;
    } else if (framing->candidates == MAY_BE_CHUNKED && framing->column == sizeof encoding_name - 1) {
        framing->phase = SKIP;
        framing->chunked = 1;
    }
    return 0;
}

static void feed_chunk_size(e2b_memory_framing *framing, uint8_t byte)
{
    uint8_t digit = lower(byte);
    if (digit >= '0' && digit <= '9')
        framing->left = framing->left * 16 + (uint64_t)(digit - '0');
    else if (digit >= 'a' && digit <= 'f')
        framing->left = framing->left * 16 + (uint64_t)(digit - 'a' + 10);
    else if (byte == '\n')
        framing->phase = framing->left > 0 ? CHUNK : TRAILER;
    else
        framing->phase = CHUNK_EXTENSION;
}

static unsigned feed_byte(e2b_memory_framing *framing, uint8_t byte)
{
    switch (framing->phase) {
    case LINE:
        /* Blank lines before a request are allowed. */
        if (framing->column == 0 && (byte == '\r' || byte == '\n'))
            break;
        if (framing->column == 0) {
            framing->left = 0;
            framing->chunked = 0;
        }
        framing->column = 1;
        if (byte == '\n')
            begin_line(framing);
        break;
    case NAME:
        return feed_name(framing, byte);
    case LENGTH:
        if (byte >= '0' && byte <= '9')
            framing->left = framing->left * 10 + (uint64_t)(byte - '0');
        if (byte == '\n')
            begin_line(framing);
        break;
    case SKIP:
        if (byte == '\n')
            begin_line(framing);
        break;
    case CHUNK_SIZE:
        feed_chunk_size(framing, byte);
        break;
    case CHUNK_EXTENSION:
        if (byte == '\n')
            framing->phase = framing->left > 0 ? CHUNK : TRAILER;
        break;
    case CHUNK_END:
        if (byte == '\n')
            framing->phase = CHUNK_SIZE;
        break;
    case TRAILER:
        if (byte == '\n')
            return end_request(framing);
        if (byte != '\r')
            framing->phase = TRAILER_LINE;
        break;
    default:
        if (byte == '\n')
            framing->phase = TRAILER;
        break;
    }
    return 0;
}

size_t e2b_memory_framing_feed(e2b_memory_framing *framing, const uint8_t *data, size_t size, unsigned *event)
{
    size_t used = 0;
    *event = 0;
    while (used < size && *event == 0) {
        if (framing->phase == BODY || framing->phase == CHUNK) {
            size_t part = size - used;
            if (part > framing->left)
                part = (size_t)framing->left;
            framing->left -= part;
            used += part;
            if (framing->left > 0)
                continue;
            if (framing->phase == CHUNK)
                framing->phase = CHUNK_END;
            else
                *event = end_request(framing);
        } else {
            *event = feed_byte(framing, data[used++]);
        }
    }
    return used;
}
