/* json_output: members of JSON objects on standard output. */
#ifndef E2B_CLI_JSON_OUTPUT_H
#define E2B_CLI_JSON_OUTPUT_H

#include "text_output.h"

/* Every member function writes the comma it needs: none after '{'. */
void json_open(void);  /* { */
void json_close(void); /* } */
void json_member_object(const char *name); /* "name":{ */
void json_string(e2b_str value);
void json_member(const char *name, e2b_str value);
void json_member_number(const char *name, int64_t value);
void json_member_bool(const char *name, bool value);
void json_member_date(const char *name, int64_t ms);
/* JSON text as the library gives it: checked by it, whole. `empty` if there is none. */
void json_member_raw(const char *name, e2b_str json, const char *empty);

/* An array that is written while its items are still arriving. The bracket
 * comes with the first item or the end: a failure before leaves no output, and
 * one later leaves text that no JSON reader takes for the whole list. */
typedef struct cli_json_array {
    bool opened;
} cli_json_array;

void json_array_item(cli_json_array *array);
void json_array_end(cli_json_array *array);

#endif
