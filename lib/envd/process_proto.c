/* process_proto: process events in protobuf.
 *
 *     StartResponse { ProcessEvent event = 1 }
 *     ProcessEvent  { oneof: start = 1, data = 2, end = 3, keepalive = 4 }
 *     start { uint32 pid = 1 }    data { bytes: stdout = 1, stderr = 2, pty = 3 }
 *     end { sint32 exit_code = 1, bool exited = 2, string status = 3, error = 4 }
 */
#include "envd/process_reader.h"

enum { STATE_TAG, STATE_VARINT, STATE_LENGTH, STATE_BYTES, STATE_SKIP };
enum { WIRE_VARINT, WIRE_64, WIRE_LENGTH, WIRE_32 = 5 };

/* Level 0 is the message (bounded by the envelope), 1 the event, 2 a member of it. */

static bool spend(e2b_proto_reader *proto, uint32_t count)
{
    for (uint8_t level = 1; level <= proto->level; level++) {
        if (proto->left[level] < count) return false;
        proto->left[level] -= count;
    }
    return true;
}

/* Leaves every message that has been used up. */
static void leave(e2b_process_reader *reader)
{
    e2b_proto_reader *proto = &reader->as.proto;
    while (proto->level && proto->left[proto->level] == 0) proto->level--;
}

/* The wire type that a known field must have; of another field any. */
static int wire_of(const e2b_process_reader *reader)
{
    const e2b_proto_reader *proto = &reader->as.proto;
    int any = proto->wire;
    if (proto->level == 0) return proto->field == 1 ? WIRE_LENGTH : any;
    if (proto->level == 1) return proto->field <= 4 ? WIRE_LENGTH : any;
    switch (reader->member) {
    case E2B_MEMBER_START: return proto->field == 1 ? WIRE_VARINT : any;
    case E2B_MEMBER_DATA: return proto->field <= 3 ? WIRE_LENGTH : any;
    default: return proto->field <= 2 ? WIRE_VARINT : proto->field <= 4 ? WIRE_LENGTH : any;
    }
}

static bool begin_tag(e2b_process_reader *reader)
{
    e2b_proto_reader *proto = &reader->as.proto;
    uint64_t tag = proto->value;
    if (tag >> 3 == 0 || tag > UINT32_MAX) return false;
    proto->field = (uint32_t)(tag >> 3);
    proto->wire = (uint8_t)(tag & 7);
    proto->value = 0;
    proto->shift = 0;
    if (wire_of(reader) != proto->wire) return false;
    switch (proto->wire) {
    case WIRE_VARINT: proto->state = STATE_VARINT; return true;
    case WIRE_LENGTH: proto->state = STATE_LENGTH; return true;
    case WIRE_64: proto->left[0] = 8; proto->state = STATE_SKIP; return true;
    case WIRE_32: proto->left[0] = 4; proto->state = STATE_SKIP; return true;
    default: return false; /* groups */
    }
}

static bool take_varint(e2b_process_reader *reader)
{
    e2b_proto_reader *proto = &reader->as.proto;
    uint64_t value = proto->value;
    proto->state = STATE_TAG;
    proto->value = 0;
    proto->shift = 0;
    if (proto->level < 2) return true;
    if (reader->member == E2B_MEMBER_START && proto->field == 1) {
        reader->pid = (uint32_t)value;
        return value > 0 && value <= UINT32_MAX;
    }
    if (reader->member != E2B_MEMBER_END) return true;
    if (proto->field == E2B_END_CODE) {
        if (value > UINT32_MAX) return false;
        uint32_t zigzag = (uint32_t)value;
        int64_t number = (int64_t)(zigzag >> 1);
        reader->exit_code = (int32_t)(zigzag & 1 ? -number - 1 : number);
    }
    if (proto->field == E2B_END_EXITED) reader->exited = value != 0;
    return true;
}

static bool enter(e2b_process_reader *reader, uint32_t length)
{
    e2b_proto_reader *proto = &reader->as.proto;
    proto->level++;
    proto->left[proto->level] = length;
    proto->state = STATE_TAG;
    if (proto->level == 2) return e2b_process_member(reader, (uint8_t)proto->field);
    if (reader->member) return false; /* two events in one message */
    return true;
}

/* left[0] counts the bytes of the string under way: level 0 needs no bound. */
static bool take_length(e2b_process_reader *reader)
{
    e2b_proto_reader *proto = &reader->as.proto;
    uint64_t length = proto->value;
    proto->value = 0;
    proto->shift = 0;
    if (length > INT32_MAX || (proto->level && length > proto->left[proto->level])) return false;
    bool known = proto->level == 0 ? proto->field == 1
               : proto->level == 1 ? proto->field >= 1 && proto->field <= 3 : false;
    if (known) return enter(reader, (uint32_t)length);
    proto->left[0] = (uint32_t)length;
    proto->state = STATE_SKIP;
    if (proto->level < 2) return true;
    if (reader->member == E2B_MEMBER_DATA && proto->field >= 1 && proto->field <= 3) {
        reader->field = (uint8_t)proto->field;
        proto->state = STATE_BYTES;
        return e2b_process_payload(reader, reader->field);
    }
    if (reader->member == E2B_MEMBER_END && (proto->field == E2B_END_STATUS || proto->field == E2B_END_ERROR)) {
        reader->field = (uint8_t)proto->field;
        proto->state = STATE_BYTES;
        e2b_process_words_begin(reader, reader->field);
    }
    return true;
}

/* One byte of a tag, number or length. */
static bool take_byte(e2b_process_reader *reader, uint8_t byte)
{
    e2b_proto_reader *proto = &reader->as.proto;
    if (!spend(proto, 1) || proto->shift > 63) return false;
    proto->value |= (uint64_t)(byte & 0x7f) << proto->shift;
    proto->shift = (uint8_t)(proto->shift + 7);
    if (byte & 0x80) return true;
    if (proto->state == STATE_TAG) return begin_tag(reader);
    return proto->state == STATE_VARINT ? take_varint(reader) : take_length(reader);
}

static int32_t give(e2b_process_reader *reader, const uint8_t *in, size_t len, int32_t *kind, e2b_str *data)
{
    if (reader->member == E2B_MEMBER_END) {
        e2b_process_words(reader, reader->field, (const char *)in, len);
        return E2B_READ_MORE;
    }
    *kind = reader->field == E2B_DATA_OUT ? E2B_EVENT_OUT : reader->field == E2B_DATA_ERR ? E2B_EVENT_ERR : E2B_EVENT_PTY;
    *data = (e2b_str){(const char *)in, len};
    return E2B_READ_DATA;
}

/* What was decided without a byte of its own: empty strings and messages end at once. */
static void settle(e2b_process_reader *reader)
{
    e2b_proto_reader *proto = &reader->as.proto;
    if (proto->state >= STATE_BYTES && proto->left[0] == 0) proto->state = STATE_TAG;
    if (proto->state == STATE_TAG && proto->shift == 0) leave(reader);
}

int32_t e2b_process_read_proto(e2b_process_reader *reader, uint8_t *in, size_t len, size_t *used, int32_t *kind, e2b_str *data)
{
    e2b_proto_reader *proto = &reader->as.proto;
    for (*used = 0; *used < len;) {
        int32_t result = E2B_READ_MORE;
        if (proto->state < STATE_BYTES) {
            if (!take_byte(reader, in[(*used)++])) return E2B_READ_BAD;
        } else {
            size_t rest = len - *used;
            uint32_t part = rest < proto->left[0] ? (uint32_t)rest : proto->left[0];
            if (!spend(proto, part)) return E2B_READ_BAD;
            proto->left[0] -= part;
            if (proto->state == STATE_BYTES) result = give(reader, in + *used, part, kind, data);
            *used += part;
        }
        settle(reader);
        if (result != E2B_READ_MORE) return result;
    }
    return E2B_READ_MORE;
}

bool e2b_process_end_proto(e2b_process_reader *reader)
{
    const e2b_proto_reader *proto = &reader->as.proto;
    return proto->state == STATE_TAG && proto->shift == 0 && proto->level == 0;
}
