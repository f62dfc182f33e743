/* create_body: the request body of a create, for both generations of routes. */
#ifndef E2B_CLOUD_CREATE_BODY_H
#define E2B_CLOUD_CREATE_BODY_H

#include "base/text.h"
#include "e2b.h"

#define E2B_CREATE_TAG "libe2b.create" /* metadata key of the tag a lost create is found by */

typedef struct e2b_create_body {
    const e2b_sandbox_options *options;
    const char *tag; /* "": none */
    bool older;      /* the older route: secure, timeout and internet access always */
} e2b_create_body;

/* An e2b_write over an e2b_create_body. */
void e2b_create_body_write(e2b_text *text, const void *subject);

/* What the SDKs check before sending, and that every string can be sent.
 * NULL, or what is wrong in words. */
const char *e2b_create_options_wrong(const e2b_sandbox_options *options);

#endif
