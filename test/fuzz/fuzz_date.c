/* Dates, durations and numbers: what is read can be written and read again. */
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/number.h"
#include "fuzz.h"

static void date(e2b_str text)
{
    char out[40];
    int64_t ms, again;
    e2b_text written = {out, sizeof out, 0, 0};
    if (!e2b_parse_date(text, &ms)) return;
    e2b_text_date(&written, ms);
    FUZZ_CHECK(e2b_text_fits(&written));
    /* Offsets lead at most a day beyond the years 0 to 9999. */
    bool clamped = ms < INT64_C(-62167219200000) || ms > INT64_C(253402300799999);
    FUZZ_CHECK(e2b_parse_date((e2b_str){out, e2b_text_stored(&written)}, &again) && (again == ms || clamped));
}

static void duration(e2b_str text)
{
    char out[40];
    uint32_t ms, again;
    e2b_text written = {out, sizeof out, 0, 0};
    if (!e2b_parse_duration(text, &ms)) return;
    FUZZ_CHECK(ms != UINT32_MAX);
    e2b_text_duration(&written, ms);
    FUZZ_CHECK(e2b_text_fits(&written));
    FUZZ_CHECK(e2b_parse_duration((e2b_str){out, e2b_text_stored(&written)}, &again) && again == ms);
}

static void number(e2b_str text)
{
    char string[64];
    int64_t value;
    uint64_t natural;
    if (text.len >= sizeof string) {
        e2b_parse_json_integer(text, &value);
        return;
    }
    memcpy(string, text.ptr, text.len);
    string[text.len] = '\0';
    /* A long double may be too short for what is between 2^53 and 2^63 elsewhere; here only the size is compared. */
    if (e2b_parse_json_integer(text, &value)) {
        long double about = strtold(string, NULL) - (long double)value;
        FUZZ_CHECK(about < 2048 && about > -2048);
    }
    if (e2b_parse_u64(text, &natural)) FUZZ_CHECK(strtoull(string, NULL, 10) == natural);
    if (e2b_parse_i64(text, &value)) FUZZ_CHECK(strtoll(string, NULL, 10) == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);
    e2b_str text = {(const char *)copy, size};
    date(text);
    duration(text);
    number(text);
    if (size >= 8) {
        char out[40];
        int64_t ms;
        e2b_text written = {out, sizeof out, 0, 0};
        memcpy(&ms, copy, sizeof ms);
        e2b_text_date(&written, ms);
        FUZZ_CHECK(e2b_text_fits(&written) && e2b_parse_date((e2b_str){out, e2b_text_stored(&written)}, &ms));
        written = (e2b_text){out, sizeof out, 0, 0};
        e2b_text_duration(&written, (uint64_t)ms);
        FUZZ_CHECK(e2b_text_fits(&written));
    }
    free(copy);
    return 0;
}
