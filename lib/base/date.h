/* date: moments and durations as text. UTC only; no time zone state. */
#ifndef E2B_BASE_DATE_H
#define E2B_BASE_DATE_H

#include "base/text.h"

/* RFC 3339, 0 to 9 fraction digits (cut to milliseconds), 'Z' or a numeric
 * offset: milliseconds since 1970 UTC. A leap second is taken for the second
 * after it. False for anything else. */
bool e2b_parse_date(e2b_str text, int64_t *ms);
/* 2026-03-04T05:06:07Z, with .123 if there are milliseconds. Years 0 to 9999;
 * what lies outside becomes the first or last moment of them. */
void e2b_text_date(e2b_text *text, int64_t ms);

/* "90s", "10m", "1h30m", "2d", "250ms", "90" (seconds): milliseconds. Units
 * from the largest to the smallest, each at most once. False for anything
 * else, for no text, and beyond UINT32_MAX - 1. */
bool e2b_parse_duration(e2b_str text, uint32_t *ms);
/* The same form in the largest units: "1h30m", "1m30s" for 90 seconds, "0s", "250ms". */
void e2b_text_duration(e2b_text *text, uint64_t ms);

#endif
