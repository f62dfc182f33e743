/* process_messages: the process reader under the incremental harness, in
 * either codec. Messages are put one after another, each in an envelope, and
 * what is found in them is logged:
 *
 *     start 7
 *     out 6869          (also err, pty)
 *     end 0 exited 'exit status 0'
 *
 * then "whole", "cut off" or "bad".
 */
#ifndef PROCESS_MESSAGES_H
#define PROCESS_MESSAGES_H

#include <stddef.h>

/* The log for JSON messages, the last argument NULL. */
const char *json_messages(const char *first, ...);
/* The same for protobuf messages, each in hex digits. */
const char *proto_messages(const char *first, ...);
/* One JSON message with any bytes, after a start of process 7. */
const char *json_message(const char *bytes, size_t len);

#endif
