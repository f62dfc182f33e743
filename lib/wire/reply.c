#include "wire/reply.h"

static const char not_json[] = "the answer is not JSON: check the URL";

e2b_err e2b_reply_next(e2b_reply *reply, e2b_json_item *item)
{
    e2b_conn *conn = reply->call->conn;
    for (;;) {
        uint8_t *piece;
        size_t length, used;
        e2b_err err = e2b_call_body(reply->call, &piece, &length);
        if (err) return err;
        if (!length) {
            item->kind = E2B_JSON_DONE;
            return e2b_json_finish(&conn->reader) ? E2B_OK : e2b_call_fail(reply->call, E2B_PROTOCOL, not_json);
        }
        int32_t kind = e2b_json_read(&conn->reader, (const char *)piece, length, &used, item);
        if (reply->capture) e2b_text_bytes(reply->capture, piece, used);
        e2b_conn_take(conn, used);
        if (kind == E2B_JSON_BAD) return e2b_call_fail(reply->call, E2B_PROTOCOL, not_json);
        if (kind != E2B_JSON_MORE && kind != E2B_JSON_DONE) return E2B_OK;
    }
}

e2b_err e2b_reply_capture(e2b_reply *reply, const e2b_json_item *begin, e2b_text *text)
{
    uint8_t depth = begin->depth;
    e2b_json_item item;
    e2b_err err;
    e2b_text_char(text, begin->kind == E2B_JSON_OBJECT ? '{' : '[');
    reply->capture = text;
    do {
        err = e2b_reply_next(reply, &item);
    } while (!err && !(item.kind == E2B_JSON_END && item.depth == depth));
    reply->capture = NULL;
    return err;
}
