/* reply: the JSON body of an answer, item by item, in constant memory. */
#ifndef E2B_WIRE_REPLY_H
#define E2B_WIRE_REPLY_H

#include "base/json_read.h"
#include "wire/call.h"

typedef struct e2b_reply {
    e2b_call *call;    /* begun, with its connection held; the reader's state lies in the connection */
    e2b_text *capture; /* not NULL: gets the bytes of the JSON text as they go by */
} e2b_reply;

/* The next item (json_read.h); DONE when the body has ended after one whole
 * value. item->raw lies in the slot's buffer until the next call. Bad JSON is
 * E2B_PROTOCOL. On error the failure is written down and the slot given back. */
e2b_err e2b_reply_next(e2b_reply *reply, e2b_json_item *item);

/* Reads on to the END that matches an OBJECT or ARRAY just given, collecting
 * its text into `text`. */
e2b_err e2b_reply_capture(e2b_reply *reply, const e2b_json_item *begin, e2b_text *text);

#endif
