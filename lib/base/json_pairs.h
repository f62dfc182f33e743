/* json_pairs: flat JSON objects and arrays of strings, walked where they lie.
 *
 * e2b_json_pairs and e2b_json_strings are public, in e2b.h. Between two calls
 * nothing is kept but the position behind the latest value, so any number of
 * members is walked without tokens or recursion, and each byte is read once.
 * A text whose strings hold escapes is changed by the walk: one walk per text.
 */
#ifndef E2B_BASE_JSON_PAIRS_H
#define E2B_BASE_JSON_PAIRS_H

#include "e2b.h"

#endif
