#include "envd/process_reader.h"

#include <string.h>

#include "base/utf8.h"

void e2b_process_reader_start(e2b_process_reader *reader, uint8_t codec)
{
    memset(reader, 0, sizeof *reader);
    reader->codec = codec;
}

bool e2b_process_member(e2b_process_reader *reader, uint8_t member)
{
    /* One of a kind in an event, by the protocol's oneof. */
    if (reader->member != E2B_MEMBER_NONE && member != E2B_MEMBER_OTHER) return false;
    if (member == E2B_MEMBER_OTHER) return true;
    reader->member = member;
    reader->field = 0;
    if (member == E2B_MEMBER_START) return !reader->ended;
    return reader->started && !reader->ended;
}

bool e2b_process_payload(e2b_process_reader *reader, uint8_t field)
{
    if (reader->seen) return false;
    reader->seen = field;
    return true;
}

void e2b_process_words_begin(e2b_process_reader *reader, uint8_t field)
{
    if (field == E2B_END_ERROR && reader->seen == E2B_END_STATUS && reader->status_len) return;
    reader->seen = field;
    reader->status_len = 0;
}

void e2b_process_words(e2b_process_reader *reader, uint8_t field, const char *bytes, size_t len)
{
    if (reader->seen != field) return;
    size_t room = sizeof reader->status - reader->status_len;
    if (len > room) len = room;
    memcpy(reader->status + reader->status_len, bytes, len);
    reader->status_len = (uint8_t)(reader->status_len + len);
}

int32_t e2b_process_read(e2b_process_reader *reader, uint8_t *in, size_t len, size_t *used, int32_t *kind, e2b_str *data)
{
    *used = 0;
    if (reader->broken) return E2B_READ_BAD;
    int32_t result = reader->codec == E2B_CODEC_PROTO ? e2b_process_read_proto(reader, in, len, used, kind, data)
                                                      : e2b_process_read_json(reader, in, len, used, kind, data);
    if (result == E2B_READ_BAD) reader->broken = true;
    return result;
}

bool e2b_process_message_end(e2b_process_reader *reader)
{
    bool whole = reader->codec == E2B_CODEC_PROTO ? e2b_process_end_proto(reader) : e2b_process_end_json(reader);
    if (reader->member == E2B_MEMBER_START && !reader->pid) whole = false;
    if (!whole) reader->broken = true;
    if (reader->broken) return false;
    if (reader->member == E2B_MEMBER_START) reader->started = true;
    if (reader->member == E2B_MEMBER_END) {
        reader->ended = true;
        reader->status_len = (uint8_t)e2b_utf8_printable(reader->status, reader->status_len);
    }
    memset(&reader->as, 0, sizeof reader->as);
    reader->member = E2B_MEMBER_NONE;
    reader->field = reader->seen = reader->in_event = 0;
    return true;
}
