/* text_output: bytes to descriptors, and the buffer that results leave through.
 *
 * Without stdio, whose buffers come from the heap and whose errors get lost. */
#ifndef E2B_CLI_TEXT_OUTPUT_H
#define E2B_CLI_TEXT_OUTPUT_H

#include "e2b.h"

/* Writes until all is written, the descriptor fails, or a signal arrives.
 * *written says how far it came. 0, or an errno value; EINTR means: look at
 * the signals, then go on with the rest. */
int write_all(int fd, const void *bytes, size_t size, size_t *written);

/* ---- Results, on standard output. Buffered; nothing fails here, see out_finish. */
void out_bytes(const char *bytes, size_t size);
void out_text(const char *text);
void out_number(int64_t number);
/* As a person may see it: control characters, which could move a terminal's cursor, become '?'. */
void out_plain(e2b_str text);
/* At least `width` columns, blanks on the right. */
void out_column(e2b_str text, size_t width);
/* 2026-03-04T05:06:07Z, with milliseconds if there are any. */
void out_date(int64_t ms);
/* Whether writing is still of use. False after a failure. */
bool out_working(void);
/* Writes what is left. 0, or the errno value of the first failure. */
int out_finish(void);

/* ---- One line for standard error, written whole by line_end. */
typedef struct cli_line {
    char text[1024];
    size_t len;
} cli_line;

void line_text(cli_line *line, const char *text);
/* With control characters as '?', cut at `limit` bytes. */
void line_plain(cli_line *line, const char *text, size_t limit);
void line_number(cli_line *line, int64_t number);
void line_end(cli_line *line);

e2b_str str_of(const char *text);

#endif
