#include "base/number.h"

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Adds a digit if the result is at most `limit`, which is 9 or more. */
static bool add_digit(uint64_t *value, unsigned int number, uint64_t limit)
{
    if (*value > (limit - number) / 10) {
        return false;
    }
    *value = *value * 10 + number;
    return true;
}

static bool parse_digits(e2b_str text, uint64_t limit, uint64_t *value)
{
    uint64_t sum = 0;
    if (text.len == 0) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (!digit(text.ptr[i]) || !add_digit(&sum, (unsigned int)(text.ptr[i] - '0'), limit)) {
            return false;
        }
    }
    *value = sum;
    return true;
}

/* The largest magnitude: INT64_MIN has no positive counterpart. */
static uint64_t magnitude_limit(bool negative)
{
    return (uint64_t)INT64_MAX + (negative ? 1 : 0);
}

static int64_t with_sign(uint64_t magnitude, bool negative)
{
    if (!negative || magnitude == 0) {
        return (int64_t)magnitude;
    }
    return -(int64_t)(magnitude - 1) - 1;
}

bool e2b_parse_u64(e2b_str text, uint64_t *value)
{
    return parse_digits(text, UINT64_MAX, value);
}

bool e2b_parse_i64(e2b_str text, int64_t *value)
{
    uint64_t magnitude;
    bool negative = text.len > 0 && text.ptr[0] == '-';
    if (negative) {
        text.ptr++;
        text.len--;
    }
    if (!parse_digits(text, magnitude_limit(negative), &magnitude)) {
        return false;
    }
    *value = with_sign(magnitude, negative);
    return true;
}

/* The parts of a JSON number. */
typedef struct number_parts {
    bool negative;
    e2b_str whole, fraction;
    int64_t exponent;
} number_parts;

/* Far beyond what a text in memory could make good with digits. */
#define EXPONENT_LIMIT (INT64_MAX / 4)

static e2b_str take_digits(e2b_str *text)
{
    e2b_str taken = {text->ptr, 0};
    while (text->len > 0 && digit(text->ptr[0])) {
        text->ptr++;
        text->len--;
        taken.len++;
    }
    return taken;
}

static bool take_char(e2b_str *text, char c)
{
    if (text->len == 0 || text->ptr[0] != c) {
        return false;
    }
    text->ptr++;
    text->len--;
    return true;
}

static bool take_exponent(e2b_str *text, int64_t *exponent)
{
    bool negative = take_char(text, '-');
    if (!negative) {
        take_char(text, '+');
    }
    e2b_str digits = take_digits(text);
    for (size_t i = 0; i < digits.len; i++) {
        *exponent = *exponent * 10 + (digits.ptr[i] - '0');
        if (*exponent > EXPONENT_LIMIT / 10) {
            *exponent = EXPONENT_LIMIT / 10;
        }
    }
    if (negative) {
        *exponent = -*exponent;
    }
    return digits.len > 0;
}

static bool split_number(e2b_str text, number_parts *parts)
{
    *parts = (number_parts){false, {NULL, 0}, {NULL, 0}, 0};
    parts->negative = take_char(&text, '-');
    parts->whole = take_digits(&text);
    if (parts->whole.len == 0 || (parts->whole.len > 1 && parts->whole.ptr[0] == '0')) {
        return false;
    }
    if (take_char(&text, '.')) {
        parts->fraction = take_digits(&text);
        if (parts->fraction.len == 0) {
            return false;
        }
    }
    if ((take_char(&text, 'e') || take_char(&text, 'E')) && !take_exponent(&text, &parts->exponent)) {
        return false;
    }
    return text.len == 0;
}

/* Appends `count` zeros. A magnitude above 0 has no room for 20, so it ends early. */
static bool add_zeros(uint64_t *magnitude, int64_t count, uint64_t limit)
{
    for (; count > 0; count--) {
        if (!add_digit(magnitude, 0, limit)) {
            return false;
        }
    }
    return true;
}

/* The digits of both parts as one number without its trailing zeros, and how many those are. */
static bool significant(const number_parts *parts, uint64_t limit, uint64_t *magnitude, int64_t *zeros)
{
    size_t count = parts->whole.len + parts->fraction.len;
    for (size_t i = 0; i < count; i++) {
        char c = i < parts->whole.len ? parts->whole.ptr[i] : parts->fraction.ptr[i - parts->whole.len];
        if (c == '0') {
            (*zeros)++;
            continue;
        }
        if (!add_zeros(magnitude, *zeros, limit) || !add_digit(magnitude, (unsigned int)(c - '0'), limit)) {
            return false;
        }
        *zeros = 0;
    }
    return true;
}

bool e2b_parse_json_integer(e2b_str text, int64_t *value)
{
    number_parts parts;
    uint64_t magnitude = 0;
    int64_t zeros = 0;
    if (!split_number(text, &parts)) {
        return false;
    }
    uint64_t limit = magnitude_limit(parts.negative);
    if (!significant(&parts, limit, &magnitude, &zeros)) {
        return false;
    }
    /* Zero stays zero whatever the exponent. */
    int64_t scale = magnitude > 0 ? parts.exponent - (int64_t)parts.fraction.len + zeros : 0;
    if (scale < 0 || !add_zeros(&magnitude, scale, limit)) {
        return false;
    }
    *value = with_sign(magnitude, parts.negative);
    return true;
}

void e2b_text_512ths(e2b_text *text, uint64_t count)
{
    /* 1/512 is 0.001953125: nine digits hold every fraction exactly. */
    uint32_t fraction = (uint32_t)(count % 512) * 1953125u;
    char digits[9];
    size_t length = sizeof digits;
    for (size_t i = sizeof digits; i > 0; i--) {
        digits[i - 1] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    while (length > 1 && digits[length - 1] == '0') {
        length--;
    }
    e2b_text_u64(text, count / 512);
    e2b_text_char(text, '.');
    e2b_text_bytes(text, digits, length);
}
