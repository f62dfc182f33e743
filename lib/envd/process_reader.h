/* process_reader: the events of a process stream, out of messages in either
 * codec, in constant memory: a message of any length passes in pieces.
 *
 * Fed the payload of one message after another:
 *
 *     E2B_READ_MORE   all input used, or nothing of interest in it
 *     E2B_READ_DATA   output: *kind and *data
 *     E2B_READ_BAD    the message breaks the protocol; final. Output that came
 *                     before was given as DATA first
 *
 * and told with e2b_process_message_end where each message ends. What start
 * and end events say is kept in the reader.
 */
#ifndef E2B_ENVD_PROCESS_READER_H
#define E2B_ENVD_PROCESS_READER_H

#include "e2b.h"

#define E2B_READ_MORE 0
#define E2B_READ_DATA 1
#define E2B_READ_BAD 2

/* Members of an event; fields of a member (protobuf's numbers, JSON's names). */
enum { E2B_MEMBER_NONE, E2B_MEMBER_START, E2B_MEMBER_DATA, E2B_MEMBER_END, E2B_MEMBER_OTHER };
enum { E2B_DATA_OUT = 1, E2B_DATA_ERR = 2, E2B_DATA_PTY = 3 };
enum { E2B_END_CODE = 1, E2B_END_EXITED = 2, E2B_END_STATUS = 3, E2B_END_ERROR = 4 };

void e2b_process_reader_start(e2b_process_reader *reader, uint8_t codec);

/* `in` is decoded where it lies: it is written to, and up to 3 bytes before
 * it as well. *data points there. */
int32_t e2b_process_read(e2b_process_reader *reader, uint8_t *in, size_t len, size_t *used, int32_t *kind, e2b_str *data);

/* The message is complete. False: it was cut, or says what may not be said now
 * (output before the start or after the end, two ends). */
bool e2b_process_message_end(e2b_process_reader *reader);

/* For the two codecs. */
int32_t e2b_process_read_json(e2b_process_reader *reader, uint8_t *in, size_t len, size_t *used, int32_t *kind, e2b_str *data);
int32_t e2b_process_read_proto(e2b_process_reader *reader, uint8_t *in, size_t len, size_t *used, int32_t *kind, e2b_str *data);
bool e2b_process_end_json(e2b_process_reader *reader);
bool e2b_process_end_proto(e2b_process_reader *reader);

/* A member of the event begins, in either codec. False: that may not be. */
bool e2b_process_member(e2b_process_reader *reader, uint8_t member);
/* Output of a kind begins. False: the event held some already. */
bool e2b_process_payload(e2b_process_reader *reader, uint8_t field);
/* The end event's status or error begins, and bytes of it. An error counts where
 * there is no status; of two of a kind the last one. */
void e2b_process_words_begin(e2b_process_reader *reader, uint8_t field);
void e2b_process_words(e2b_process_reader *reader, uint8_t field, const char *bytes, size_t len);

#endif
