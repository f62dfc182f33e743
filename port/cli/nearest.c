#include "nearest.h"

#include <string.h>

#define LONGEST 24

/* Insertions, deletions and replacements from one word to the other. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 0; i < a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_len; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j + 1] + 1 < best)
                best = row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[b_len];
}

const char *nearest(const char *typed, size_t len, const char *const *words, size_t count)
{
    const char *best = NULL;
    size_t best_distance = 3;

    if (len < 2 || len > LONGEST)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t edits = distance(typed, len, words[i], strlen(words[i]));
        /* Replacing a short word whole says nothing. */
        if (edits < best_distance && edits < len) {
            best = words[i];
            best_distance = edits;
        }
    }
    return best;
}
