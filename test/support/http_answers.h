/* http_answers: the HTTP engine under the incremental harness. */
#ifndef HTTP_ANSWERS_H
#define HTTP_ANSWERS_H

#include "wire/http.h"

typedef struct answer_plan {
    bool head_request;
    size_t token_size;  /* of the place for X-Next-Token; 0: none */
    size_t whole_from;  /* from here on any cut is a proper end; 0: none is */
} answer_plan;

/* The log for one answer, cut in every way, and for the uncut one alone:
 *
 *     head 200 retry 0 token abc
 *     body 6869
 *     complete keep        (or close)
 *     done 48              (or "whole", "cut off"; or the error and "bad")
 */
const char *check_answer(const answer_plan *plan, const char *in, size_t len);
const char *read_answer(const answer_plan *plan, const char *in, size_t len);

#endif
