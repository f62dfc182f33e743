#include "base/marker.h"

#include <string.h>

bool e2b_marker_init(e2b_marker *scanner, e2b_str marker, void *kept, size_t kept_size)
{
    memset(scanner, 0, sizeof *scanner);
    if (marker.len == 0 || marker.len > E2B_MARKER_MAX) {
        return false;
    }
    memcpy(scanner->marker, marker.ptr, marker.len);
    scanner->marker_len = (uint8_t)marker.len;
    scanner->kept = kept;
    scanner->kept_size = kept_size;
    uint8_t border = 0;
    for (size_t i = 1; i < marker.len; i++) {
        while (border > 0 && scanner->marker[i] != scanner->marker[border]) {
            border = scanner->fallback[border - 1];
        }
        if (scanner->marker[i] == scanner->marker[border]) {
            border++;
        }
        scanner->fallback[i] = border;
    }
    return true;
}

/* Appends noise to the ring, over the oldest bytes when it is full. */
static void keep(e2b_marker *scanner, const uint8_t *bytes, size_t count)
{
    size_t size = scanner->kept_size;
    if (count > size) {
        scanner->dropped += count - size;
        bytes += count - size;
        count = size;
    }
    if (count == 0) {
        return;
    }
    size_t room = size - scanner->kept_len;
    if (count > room) {
        scanner->dropped += count - room;
        scanner->kept_len -= count - room;
        scanner->kept_at += count - room;
        scanner->kept_at -= scanner->kept_at < size ? 0 : size;
    }
    size_t to = scanner->kept_at + scanner->kept_len;
    to -= to < size ? 0 : size;
    size_t first = count < size - to ? count : size - to;
    memcpy(scanner->kept + to, bytes, first);
    memcpy(scanner->kept, bytes + first, count - first);
    scanner->kept_len += count;
}

/* Extends the match by the stream's next byte, or falls back to the longest
 * shorter one. What falls out at the match's start is noise. True: the whole
 * marker is there. */
static bool match(e2b_marker *scanner, uint8_t byte)
{
    while (scanner->marker[scanner->matched] != byte) {
        if (scanner->matched == 0) {
            keep(scanner, &byte, 1);
            return false;
        }
        uint8_t border = scanner->fallback[scanner->matched - 1];
        keep(scanner, scanner->marker, (size_t)(scanner->matched - border));
        scanner->matched = border;
    }
    scanner->matched++;
    return scanner->matched == scanner->marker_len;
}

/* Where the marker stands in the piece, else the first place where it could
 * still begin, which is less than its length before the end. A candidate is
 * compared whole, so the work is bounded by a short multiple of the length. */
static size_t search(const e2b_marker *scanner, e2b_str piece)
{
    size_t at = 0;
    while (piece.len - at >= scanner->marker_len) {
        size_t places = piece.len - at - scanner->marker_len + 1;
        const char *candidate = memchr(piece.ptr + at, scanner->marker[0], places);
        if (candidate == NULL) {
            return at + places;
        }
        at = (size_t)(candidate - piece.ptr);
        if (memcmp(candidate, scanner->marker, scanner->marker_len) == 0) {
            break;
        }
        at++;
    }
    return at;
}

e2b_str e2b_marker_feed(e2b_marker *scanner, e2b_str piece)
{
    const e2b_str nothing = {NULL, 0};
    if (scanner->found) {
        return piece;
    }
    while (piece.len > 0) {
        if (scanner->matched == 0 && piece.len >= scanner->marker_len) {
            size_t noise = search(scanner, piece);
            keep(scanner, (const uint8_t *)piece.ptr, noise);
            piece.ptr += noise;
            piece.len -= noise;
            if (piece.len == 0) {
                break;
            }
        }
        scanner->found = match(scanner, (uint8_t)piece.ptr[0]);
        piece.ptr++;
        piece.len--;
        if (scanner->found) {
            return piece;
        }
    }
    return nothing;
}

void e2b_marker_end(e2b_marker *scanner)
{
    if (!scanner->found) {
        keep(scanner, scanner->marker, scanner->matched);
        scanner->matched = 0;
    }
}

void e2b_marker_noise(const e2b_marker *scanner, e2b_str pieces[2])
{
    const char *kept = (const char *)scanner->kept;
    size_t to_end = scanner->kept_size - scanner->kept_at;
    size_t first = scanner->kept_len < to_end ? scanner->kept_len : to_end;
    pieces[0] = (e2b_str){kept, 0};
    pieces[1] = (e2b_str){kept, scanner->kept_len - first};
    if (first > 0) {
        pieces[0] = (e2b_str){kept + scanner->kept_at, first};
    }
}
