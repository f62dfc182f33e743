/* proto_request: the daemon's process requests out of protobuf, as JSON of the
 * same message. Written from the field numbers alone; shares nothing with lib/. */
#ifndef PROTO_REQUEST_H
#define PROTO_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `method`: Start, Connect, SendInput, CloseStdin or SendSignal. The JSON is
 * NUL-terminated, in no particular form. False for anything that is not
 * exactly such a message. */
bool proto_request(const char *method, const uint8_t *bytes, size_t len, char *json, size_t size);

#endif
