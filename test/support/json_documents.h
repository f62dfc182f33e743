/* json_documents: JSON texts that are good, and texts that are bad in every
 * way that a tokeniser lets pass. */
#ifndef JSON_DOCUMENTS_H
#define JSON_DOCUMENTS_H

#include <stddef.h>

typedef struct json_document {
    const char *text;
    size_t len;
} json_document;

extern const json_document json_good[];
extern const size_t json_good_count;

/* Wrong outside of strings, or in a name. */
extern const json_document json_bad[];
extern const size_t json_bad_count;

/* Wrong inside of a string value only. */
extern const json_document json_bad_text[];
extern const size_t json_bad_text_count;

/* What the service answers: info, list, create, an error. */
extern const char json_info_body[], json_list_body[], json_create_body[], json_error_body[];

#endif
