/* json_read: JSON read item by item from a stream, any length, in the 40 bytes
 * of an e2b_json_reader.
 *
 * The reader checks the grammar of RFC 8259 strictly: brackets, commas,
 * colons, number and literal forms, depth, and that nothing but white space
 * follows the value. Inside strings it only looks for the end (with memchr: a
 * payload is never walked byte by byte); e2b_json_text checks what is inside
 * when somebody wants it. So a string that nobody asked for may hold anything.
 *
 * Fed in any pieces it gives the same items, except that a string may come in
 * more or fewer TEXT pieces. Zeroed is ready. BAD is final.
 */
#ifndef E2B_BASE_JSON_READ_H
#define E2B_BASE_JSON_READ_H

#include "base/text.h"
#include "e2b.h"

#define E2B_JSON_DEPTH 32 /* containers inside each other; one more is BAD */

#define E2B_JSON_MORE 0   /* all input used, more is needed */
#define E2B_JSON_OBJECT 1 /* { */
#define E2B_JSON_ARRAY 2  /* [ */
#define E2B_JSON_END 3    /* } or ] */
#define E2B_JSON_KEY 4    /* a member's name, see e2b_json_key_is; its value follows */
#define E2B_JSON_TEXT 5   /* a piece of a string value; item.last with the closing quote */
#define E2B_JSON_SCALAR 6 /* a number, true, false or null */
#define E2B_JSON_DONE 7   /* the value is complete and its white space used; all input used */
#define E2B_JSON_BAD 8

typedef struct e2b_json_item {
    int32_t kind;
    uint8_t depth; /* containers around it: 0 for the outermost value and its END, 1 for that value's keys and members */
    bool last;     /* TEXT */
    e2b_str raw;   /* TEXT: as it stands in the input, escapes and all; may be empty */
} e2b_json_item;

/* Takes in up to `len` bytes, says in *used how many, and gives the next item;
 * call again with the rest. At the end of a complete outermost value: DONE, on
 * the call after its last item (with len 0 if nothing follows). A bare number
 * at the outermost level ends only with e2b_json_finish. */
int32_t e2b_json_read(e2b_json_reader *reader, const char *in, size_t len, size_t *used, e2b_json_item *item);

/* The input has ended: true if it was one whole value. */
bool e2b_json_finish(e2b_json_reader *reader);

/* After KEY, until the next KEY or SCALAR: whether the key, unescaped, is
 * `name` (at most 23 bytes; a longer key equals nothing). */
bool e2b_json_key_is(const e2b_json_reader *reader, const char *name);

/* Appends a TEXT item unescaped to `out`. False if it is not valid JSON text
 * (control bytes, bad escapes, lone surrogates, bad UTF-8; with item->last
 * also an incomplete one). To be called for every piece of a string in turn,
 * or for none. */
bool e2b_json_text(e2b_json_reader *reader, const e2b_json_item *item, e2b_text *out);

/* After SCALAR. False if it is something else or out of range. Whole numbers
 * may be written with fraction or exponent (5.0, 5e3). */
bool e2b_json_int64(const e2b_json_reader *reader, int64_t *value);
bool e2b_json_bool(const e2b_json_reader *reader, bool *value);
bool e2b_json_is_null(const e2b_json_reader *reader);

#endif
