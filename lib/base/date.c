#include "base/date.h"

#include "base/number.h"

#define MS_A_SECOND 1000
#define SECONDS_A_DAY 86400
#define DAYS_A_YEAR 365
#define DAYS_0000_TO_1970 719528

static bool leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Years are 0 to 9999. Days from the first of January of year 0. */
static int64_t days_before_year(int64_t year)
{
    int64_t past = year - 1;
    return year == 0 ? 0 : DAYS_A_YEAR * year + past / 4 - past / 100 + past / 400 + 1;
}

static int64_t days_of_month(int64_t year, int64_t month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && leap(year) ? 1 : 0);
}

/* ---- Reading a date ---------------------------------------------------------- */

/* Takes exactly `count` digits. */
static bool take_number(e2b_str *text, size_t count, int64_t *value)
{
    uint64_t number;
    if (text->len < count || !e2b_parse_u64((e2b_str){text->ptr, count}, &number)) {
        return false;
    }
    *value = (int64_t)number;
    text->ptr += count;
    text->len -= count;
    return true;
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

static bool take_letter(e2b_str *text, char upper)
{
    return take_char(text, upper) || take_char(text, (char)(upper - 'A' + 'a'));
}

static bool take_day(e2b_str *text, int64_t *days)
{
    int64_t year, month, day;
    if (!take_number(text, 4, &year) || !take_char(text, '-') || !take_number(text, 2, &month) ||
        !take_char(text, '-') || !take_number(text, 2, &day)) {
        return false;
    }
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) {
        return false;
    }
    *days = days_before_year(year) - DAYS_0000_TO_1970 + day - 1;
    for (int64_t past = 1; past < month; past++) {
        *days += days_of_month(year, past);
    }
    return true;
}

/* The time of day; *second may be 60. */
static bool take_time(e2b_str *text, int64_t *minutes, int64_t *second)
{
    int64_t hour, minute;
    if (!take_number(text, 2, &hour) || !take_char(text, ':') || !take_number(text, 2, &minute) ||
        !take_char(text, ':') || !take_number(text, 2, second)) {
        return false;
    }
    *minutes = hour * 60 + minute;
    return hour <= 23 && minute <= 59 && *second <= 60;
}

static bool take_fraction(e2b_str *text, int64_t *ms)
{
    size_t digits = 0;
    int64_t digit;
    *ms = 0;
    if (!take_char(text, '.')) {
        return true;
    }
    for (int64_t unit = 100; digits < 9 && take_number(text, 1, &digit); unit /= 10) {
        *ms += digit * unit;
        digits++;
    }
    return digits > 0;
}

/* 'Z' or +hh:mm: minutes to take off. */
static bool take_offset(e2b_str *text, int64_t *minutes)
{
    int64_t hours, rest;
    *minutes = 0;
    if (take_letter(text, 'Z')) {
        return true;
    }
    bool west = take_char(text, '-');
    if ((!west && !take_char(text, '+')) || !take_number(text, 2, &hours) || !take_char(text, ':') ||
        !take_number(text, 2, &rest)) {
        return false;
    }
    *minutes = (west ? -1 : 1) * (hours * 60 + rest);
    return hours <= 23 && rest <= 59;
}

bool e2b_parse_date(e2b_str text, int64_t *ms)
{
    int64_t days, minutes, second, fraction, offset;
    if (!take_day(&text, &days) || !take_letter(&text, 'T') || !take_time(&text, &minutes, &second) ||
        !take_fraction(&text, &fraction) || !take_offset(&text, &offset) || text.len != 0) {
        return false;
    }
    int64_t seconds = days * SECONDS_A_DAY + (minutes - offset) * 60 + second;
    /* A leap second ends a day of UTC and nothing else. It is taken for the first second of the next. */
    if (second == 60 && seconds % SECONDS_A_DAY != 0) {
        return false;
    }
    *ms = seconds * MS_A_SECOND + fraction;
    return true;
}

/* ---- Writing a date ---------------------------------------------------------- */

static void text_padded(e2b_text *text, int64_t value, int64_t unit)
{
    for (; unit > 0; unit /= 10) {
        e2b_text_char(text, (char)('0' + value / unit % 10));
    }
}

static void text_day(e2b_text *text, int64_t days)
{
    int64_t year = days / DAYS_A_YEAR; /* at most seven too many before year 10,000 */
    int64_t month = 1;
    while (days_before_year(year) > days) {
        year--;
    }
    days -= days_before_year(year);
    while (days >= days_of_month(year, month)) {
        days -= days_of_month(year, month);
        month++;
    }
    text_padded(text, year, 1000);
    e2b_text_char(text, '-');
    text_padded(text, month, 10);
    e2b_text_char(text, '-');
    text_padded(text, days + 1, 10);
}

void e2b_text_date(e2b_text *text, int64_t ms)
{
    const int64_t day = (int64_t)SECONDS_A_DAY * MS_A_SECOND;
    const int64_t first = -DAYS_0000_TO_1970 * day;
    const int64_t last = (days_before_year(10000) - DAYS_0000_TO_1970) * day - 1;
    ms = ms < first ? first : ms > last ? last : ms;
    int64_t since = ms - first;
    int64_t second = since % day / MS_A_SECOND;
    text_day(text, since / day);
    e2b_text_char(text, 'T');
    text_padded(text, second / 3600, 10);
    e2b_text_char(text, ':');
    text_padded(text, second / 60 % 60, 10);
    e2b_text_char(text, ':');
    text_padded(text, second % 60, 10);
    if (since % MS_A_SECOND != 0) {
        e2b_text_char(text, '.');
        text_padded(text, since % MS_A_SECOND, 100);
    }
    e2b_text_char(text, 'Z');
}

/* ---- Durations --------------------------------------------------------------- */

/* From the largest to the smallest; a duration names each at most once, in this order. */
typedef struct duration_unit {
    char name[3];
    uint32_t ms;
} duration_unit;

#define UNIT_COUNT 5
#define UNIT_SECONDS 3
static const duration_unit units[UNIT_COUNT] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1},
};

/* The unit that the letters at the text's start name, or UNIT_COUNT. */
static size_t take_unit(e2b_str *text)
{
    char name[3] = {0, 0, 0};
    size_t length = 0;
    while (length < text->len && text->ptr[length] >= 'a' && text->ptr[length] <= 'z') {
        if (length == 2) {
            return UNIT_COUNT;
        }
        name[length] = text->ptr[length];
        length++;
    }
    text->ptr += length;
    text->len -= length;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (name[0] == units[i].name[0] && name[1] == units[i].name[1]) {
            return i;
        }
    }
    return UNIT_COUNT;
}

static bool take_count(e2b_str *text, uint64_t *count)
{
    size_t digits = 0;
    while (digits < text->len && text->ptr[digits] >= '0' && text->ptr[digits] <= '9') {
        digits++;
    }
    if (!e2b_parse_u64((e2b_str){text->ptr, digits}, count) || *count > UINT32_MAX) {
        return false;
    }
    text->ptr += digits;
    text->len -= digits;
    return true;
}

bool e2b_parse_duration(e2b_str text, uint32_t *ms)
{
    /* A part is below 2^32 * 86,400,000: five of them are far from the sum's limit. */
    uint64_t sum = 0;
    size_t next = 0;
    do {
        uint64_t count;
        size_t unit = UNIT_SECONDS;
        if (!take_count(&text, &count)) {
            return false;
        }
        if (text.len > 0 || next > 0) {
            unit = take_unit(&text);
        }
        if (unit == UNIT_COUNT || unit < next) {
            return false;
        }
        sum += count * units[unit].ms;
        next = unit + 1;
    } while (text.len > 0);
    if (sum >= UINT32_MAX) {
        return false;
    }
    *ms = (uint32_t)sum;
    return true;
}

void e2b_text_duration(e2b_text *text, uint64_t ms)
{
    if (ms == 0) {
        e2b_text_string(text, "0s");
    }
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (ms >= units[i].ms) {
            e2b_text_u64(text, ms / units[i].ms);
            e2b_text_string(text, units[i].name);
            ms %= units[i].ms;
        }
    }
}
