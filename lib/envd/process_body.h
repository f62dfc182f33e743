/* process_body: the requests of process.Process, in JSON and in protobuf. */
#ifndef E2B_ENVD_PROCESS_BODY_H
#define E2B_ENVD_PROCESS_BODY_H

#include "base/text.h"
#include "e2b.h"

typedef struct e2b_start_body {
    const char *const *argv;
    size_t argc;
    const char *tail; /* one more argument after argv; NULL: none */
    const e2b_process_options *options;
} e2b_start_body;

/* Which process: a pid, or a tag if that is 0. */
typedef struct e2b_selector_body {
    uint32_t pid;
    const char *tag;
    int32_t signal;       /* SendSignal */
    const uint8_t *input; /* SendInput */
    size_t input_len;
} e2b_selector_body;

/* e2b_write functions; the subject is the struct above. */
void e2b_start_json(e2b_text *text, const void *start);
void e2b_start_proto(e2b_text *text, const void *start);
void e2b_selector_json(e2b_text *text, const void *selector); /* Connect, CloseStdin */
void e2b_selector_proto(e2b_text *text, const void *selector);
void e2b_signal_json(e2b_text *text, const void *selector);
void e2b_signal_proto(e2b_text *text, const void *selector);
void e2b_input_json(e2b_text *text, const void *selector);
void e2b_input_proto(e2b_text *text, const void *selector);

/* What can't be sent, in words; NULL: nothing. */
const char *e2b_start_wrong(const e2b_start_body *start);
const char *e2b_selector_wrong(const e2b_selector_body *selector);

#endif
