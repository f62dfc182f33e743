/* json_text: the inside of JSON strings, unescaped and checked as it comes.
 * Private to the JSON files of this floor; its state is the text fields of an
 * e2b_json_reader.
 */
#ifndef E2B_BASE_JSON_TEXT_H
#define E2B_BASE_JSON_TEXT_H

#include "base/text.h"
#include "e2b.h"

/* A key of more bytes is only known to be too long. */
#define E2B_JSON_KEY_SIZE 23
#define E2B_JSON_KEY_TOO_LONG 255

/* A new string begins. */
void e2b_json_text_begin(e2b_json_reader *reader);

/* Appends a piece of the string unescaped to `out`. False, and from then on
 * until the next string, if it is not valid. Never appends more than was taken
 * in since the string began. */
bool e2b_json_unescape(e2b_json_reader *reader, const char *in, size_t len, e2b_text *out);

/* Whether the string may end here: no escape, pair or sequence is half done. */
bool e2b_json_text_whole(const e2b_json_reader *reader);

/* A new key begins; a piece of it, unescaped into reader->key. */
void e2b_json_key_begin(e2b_json_reader *reader);
bool e2b_json_key_piece(e2b_json_reader *reader, const char *in, size_t len);

#endif
