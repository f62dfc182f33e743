#include "duration.h"

#include <string.h>

/* Milliseconds of the unit at `text`, and how long its name is. 0: no unit. */
static uint64_t unit(const char *text, size_t *length)
{
    *length = 1;
    if (text[0] == 'm' && text[1] == 's') {
        *length = 2;
        return 1;
    }
    switch (text[0]) {
    case 's': return 1000;
    case 'm': return 60 * 1000;
    case 'h': return 60 * 60 * 1000;
    case 'd': return 24 * 60 * 60 * 1000;
    default: return 0;
    }
}

static bool parse(const char *text, uint64_t *ms)
{
    uint64_t before = UINT64_MAX; /* units go from large to small: "10m2h" is a slip */
    size_t length;

    *ms = 0;
    do {
        uint64_t number = 0;
        if (*text < '0' || *text > '9')
            return false;
        for (; *text >= '0' && *text <= '9'; text++) {
            number = number * 10 + (uint64_t)(*text - '0');
            if (number > UINT32_MAX)
                return false;
        }
        if (*text == '\0' && before == UINT64_MAX) {
            *ms = number * 1000;
            return true;
        }
        uint64_t size = unit(text, &length);
        if (size == 0 || size >= before)
            return false;
        before = size;
        *ms += number * size;
        text += length;
    } while (*text);
    return true;
}

bool duration_ms(const char *text, uint32_t *ms)
{
    uint64_t value;

    if (!parse(text, &value) || value >= UINT32_MAX)
        return false;
    *ms = (uint32_t)value;
    return true;
}

bool duration_s(const char *text, uint32_t *seconds)
{
    uint64_t value;

    if (!parse(text, &value) || value / 1000 >= UINT32_MAX)
        return false;
    *seconds = (uint32_t)(value / 1000 + (value % 1000 != 0));
    return true;
}
