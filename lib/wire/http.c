#include "wire/http.h"

#include <string.h>

enum { STAGE_START, STAGE_HEAD, STAGE_BODY, STAGE_DONE, STAGE_BAD };

/* Where in a line of framing the next byte stands. */
enum {
    LINE_FIRST,   /* first byte of the status line */
    LINE_STATUS,  /* inside it */
    LINE_START,   /* first byte of a field line */
    LINE_NAME,
    LINE_VALUE,
    LINE_CR,      /* CR seen at the end of a field line */
    LINE_LAST_CR, /* CR seen at the start of a line: the head's end */
    CHUNK_DATA_END, /* the CR after a chunk's data */
    CHUNK_DATA_LF,
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_LF
};

enum { FIELD_OTHER, FIELD_RETRY_AFTER, FIELD_CONTENT_ENCODING, FIELD_TRANSFER_ENCODING, FIELD_NEXT_TOKEN };

void e2b_http_start(e2b_http *http, bool head_request, char *next_token, size_t next_token_size)
{
    memset(http, 0, sizeof *http);
    http->head_request = head_request;
    http->next_token = next_token;
    http->next_token_size = (uint16_t)next_token_size;
    if (next_token) next_token[0] = '\0';
    llhttp_init(&http->parser, HTTP_RESPONSE, NULL);
    http->parser.data = http;
}

bool e2b_http_started(const e2b_http *http)
{
    /* An end before the first byte makes it bad too. */
    bool untouched = http->stage == STAGE_START || (http->stage == STAGE_BAD && http->err == E2B_NO_REPLY);
    return !untouched || http->informational > 0;
}

static int32_t bad(e2b_http *http, e2b_err err)
{
    http->stage = STAGE_BAD;
    http->err = err;
    return E2B_HTTP_BAD;
}

static bool is_token(unsigned char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return c && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

/* ---- Fields ---------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Collects a name or value; one too long to be of interest is marked by a length beyond the array. */
static void collect(e2b_http *http, const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (http->word_len >= sizeof http->word) {
            http->word_len = sizeof http->word + 1;
            return;
        }
        http->word[http->word_len++] = lower(at[i]);
    }
}

static bool word_is(const e2b_http *http, const char *word)
{
    size_t len = strlen(word);
    return http->word_len == len && memcmp(http->word, word, len) == 0;
}

static int on_name(llhttp_t *parser, const char *at, size_t len)
{
    collect(parser->data, at, len);
    return 0;
}

static int on_name_complete(llhttp_t *parser)
{
    e2b_http *http = parser->data;
    http->field = FIELD_OTHER;
    if (word_is(http, "retry-after")) http->field = FIELD_RETRY_AFTER;
    if (word_is(http, "content-encoding")) http->field = FIELD_CONTENT_ENCODING;
    if (word_is(http, "connect-content-encoding")) http->field = FIELD_CONTENT_ENCODING;
    if (word_is(http, "transfer-encoding")) http->field = FIELD_TRANSFER_ENCODING;
    if (word_is(http, "x-next-token") && http->next_token) http->field = FIELD_NEXT_TOKEN;
    http->word_len = 0;
    if (http->field == FIELD_NEXT_TOKEN) http->next_token_len = 0;
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t len)
{
    e2b_http *http = parser->data;
    if (http->field != FIELD_NEXT_TOKEN) {
        if (http->field != FIELD_OTHER) collect(http, at, len);
        return 0;
    }
    if (len >= (size_t)(http->next_token_size - http->next_token_len)) {
        http->err = E2B_LIMIT;
        return -1;
    }
    memcpy(http->next_token + http->next_token_len, at, len);
    http->next_token_len = (uint16_t)(http->next_token_len + len);
    http->next_token[http->next_token_len] = '\0';
    return 0;
}

static void note_retry_after(e2b_http *http)
{
    uint32_t seconds = 0;
    if (http->word_len == 0 || http->word_len > sizeof http->word) return;
    for (size_t i = 0; i < http->word_len; i++) {
        if (http->word[i] < '0' || http->word[i] > '9') return; /* the date form needs a calendar both sides agree on */
        if (seconds < 100000) seconds = seconds * 10 + (uint32_t)(http->word[i] - '0');
    }
    http->retry_after_s = seconds > 86400 ? 86400 : seconds;
}

/* Blanks behind a value are not part of it. */
static void trim_next_token(e2b_http *http)
{
    while (http->next_token_len > 0 && (http->next_token[http->next_token_len - 1] == ' ' ||
                                        http->next_token[http->next_token_len - 1] == '\t'))
        http->next_token[--http->next_token_len] = '\0';
}

static int on_value_complete(llhttp_t *parser)
{
    e2b_http *http = parser->data;
    if (http->field == FIELD_NEXT_TOKEN) trim_next_token(http);
    while (http->word_len > 0 && http->word_len <= sizeof http->word &&
           (http->word[http->word_len - 1] == ' ' || http->word[http->word_len - 1] == '\t'))
        http->word_len--;
    if (http->field == FIELD_RETRY_AFTER) note_retry_after(http);
    if (http->field == FIELD_CONTENT_ENCODING && http->word_len && !word_is(http, "identity")) http->has_encoding = true;
    if (http->field == FIELD_TRANSFER_ENCODING) {
        if (!word_is(http, "chunked") || http->chunked) {
            http->err = E2B_PROTOCOL;
            return -1;
        }
        http->chunked = true;
    }
    http->field = FIELD_OTHER;
    http->word_len = 0;
    return 0;
}

/* ---- Message --------------------------------------------------------------- */

static int on_headers_complete(llhttp_t *parser)
{
    e2b_http *http = parser->data;
    http->status = parser->status_code;
    http->err = E2B_PROTOCOL;
    if (parser->http_major != 1 || parser->http_minor > 1) return -1;
    if (http->status < 100 || http->status > 599) return -1;
    http->err = E2B_LIMIT;
    if (!http->chunked && parser->content_length > UINT64_C(1) << 53) return -1;
    http->err = E2B_OK;
    bool no_body = http->head_request || http->status < 200 || http->status == 204 || http->status == 304;
    http->reading_until_end = !no_body && llhttp_message_needs_eof(parser) != 0;
    return no_body ? 1 : 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t len)
{
    e2b_http *http = parser->data;
    (void)at;
    http->body_bytes += len;
    return HPE_PAUSED;
}

static int on_message_complete(llhttp_t *parser)
{
    e2b_http *http = parser->data;
    http->complete = true;
    /* llhttp forgets the answer to this once it has gone on. */
    http->keep_alive = llhttp_should_keep_alive(parser) != 0;
    return HPE_PAUSED;
}

/* Runs llhttp over bytes that passed our own checks; *used says how far it came. */
static bool execute(e2b_http *http, const char *in, size_t len, size_t *used)
{
    llhttp_settings_t settings;
    memset(&settings, 0, sizeof settings);
    settings.on_header_field = on_name;
    settings.on_header_field_complete = on_name_complete;
    settings.on_header_value = on_value;
    settings.on_header_value_complete = on_value_complete;
    settings.on_headers_complete = on_headers_complete;
    settings.on_body = on_body;
    settings.on_message_complete = on_message_complete;
    http->parser.settings = &settings;
    llhttp_errno_t result = llhttp_execute(&http->parser, in, len);
    *used = result == HPE_OK ? len : (size_t)(llhttp_get_error_pos(&http->parser) - in);
    if (result == HPE_PAUSED) llhttp_resume(&http->parser);
    http->parser.settings = NULL;
    return result == HPE_OK || result == HPE_PAUSED;
}

/* ---- Heads and trailers ------------------------------------------------------ */

/* One byte of a head or trailer section. 1: it was the section's last. */
static int head_byte(e2b_http *http, unsigned char c)
{
    if (c < 0x20 ? (c != '\r' && c != '\n' && c != '\t') : c == 0x7f) return -1;
    switch (http->line) {
    case LINE_FIRST:
        if (c != 'H') return -1;
        http->line = LINE_STATUS;
        return 0;
    case LINE_START:
        if (c == '\r') {
            http->line = LINE_LAST_CR;
            return 0;
        }
        if (!is_token(c)) return -1;
        if (http->fields >= E2B_HTTP_FIELDS) return -2;
        http->fields++;
        http->line = LINE_NAME;
        return 0;
    case LINE_NAME:
        if (c == ':') http->line = LINE_VALUE;
        else if (!is_token(c)) return -1;
        return 0;
    case LINE_STATUS:
    case LINE_VALUE:
        if (c == '\n') return -1;
        if (c == '\r') http->line = LINE_CR;
        return 0;
    case LINE_CR:
        http->line = LINE_START;
        return c == '\n' ? 0 : -1;
    default: /* LINE_LAST_CR */
        return c == '\n' ? 1 : -1;
    }
}

/* How many of the bytes belong to the section under way; *last if it ends with them. */
static e2b_err head_part(e2b_http *http, const char *in, size_t len, size_t *part, bool *last)
{
    *last = false;
    for (*part = 0; *part < len && !*last;) {
        int step = head_byte(http, (unsigned char)in[*part]);
        if (step == -1) return E2B_PROTOCOL;
        if (step == -2 || ++http->head_bytes > E2B_HTTP_HEAD_BYTES) return E2B_LIMIT;
        ++*part;
        *last = step == 1;
    }
    return E2B_OK;
}

static int32_t begin_next_head(e2b_http *http)
{
    if (++http->informational > E2B_HTTP_INFORMATIONAL) return bad(http, E2B_LIMIT);
    llhttp_init(&http->parser, HTTP_RESPONSE, NULL);
    http->parser.data = http;
    http->line = LINE_FIRST;
    http->head_bytes = 0;
    http->fields = 0;
    http->complete = http->has_encoding = http->chunked = false;
    http->retry_after_s = 0;
    http->status = 0; /* not known yet */
    if (http->next_token) http->next_token[0] = '\0';
    return E2B_HTTP_MORE;
}

static int32_t read_head(e2b_http *http, const char *in, size_t len, size_t *used)
{
    size_t part, executed;
    bool last;
    e2b_err err = head_part(http, in, len, &part, &last);
    *used = part;
    /* What llhttp finds wrong before that place counts first. */
    if (!execute(http, in, part, &executed)) return bad(http, http->err ? http->err : E2B_PROTOCOL);
    if (err) return bad(http, err);
    if (!last) return E2B_HTTP_MORE;
    /* An upgrade or an early end would leave bytes of the head unparsed. */
    if (executed != part || http->status == 101) return bad(http, E2B_PROTOCOL);
    if (http->status < 200) return begin_next_head(http);
    if (http->has_encoding) return bad(http, E2B_COMPRESSED);
    http->stage = STAGE_BODY;
    http->next_token = NULL; /* its owner may move, and trailers don't count */
    http->line = CHUNK_SIZE;
    http->head_bytes = 0;
    http->fields = 0;
    http->word_len = 0;
    return E2B_HTTP_HEAD;
}

/* ---- Chunk framing ----------------------------------------------------------- */

/* llhttp says where the chunks are; this checks the bytes between them, which
 * it lets pass in any number and in looser forms. head_bytes: the line's length. */
static e2b_err chunk_byte(e2b_http *http, unsigned char c)
{
    switch (http->line) {
    case CHUNK_DATA_END:
        http->line = CHUNK_DATA_LF;
        return c == '\r' ? E2B_OK : E2B_PROTOCOL;
    case CHUNK_DATA_LF:
        http->line = CHUNK_SIZE;
        return c == '\n' ? E2B_OK : E2B_PROTOCOL;
    case CHUNK_SIZE:
    case CHUNK_EXTENSION:
        if (++http->head_bytes > E2B_HTTP_CHUNK_LINE) return E2B_LIMIT;
        if (c == '\r') http->line = CHUNK_LF;
        else if (http->line == CHUNK_EXTENSION) return c == '\t' || (c >= 0x20 && c != 0x7f) ? E2B_OK : E2B_PROTOCOL;
        else if (c == ';') http->line = CHUNK_EXTENSION;
        else if (c <= ' ' || c >= 0x7f) return E2B_PROTOCOL; /* digits are llhttp's to check */
        else if (c != '0') http->chunk_holds_data = true;
        return E2B_OK;
    default: /* CHUNK_LF */
        if (c != '\n') return E2B_PROTOCOL;
        http->line = http->chunk_holds_data ? CHUNK_DATA_END : LINE_START; /* size 0: trailers follow */
        http->chunk_holds_data = false;
        http->head_bytes = 0;
        return E2B_OK;
    }
}

/* The budget grows with the body that came before, so that it does not matter
 * how much arrives at once. */
static e2b_err check_framing(e2b_http *http, const char *in, size_t len, uint64_t body_before)
{
    for (size_t i = 0; i < len; i++) {
        if (http->line < CHUNK_DATA_END) {
            size_t part;
            bool last;
            return head_part(http, in + i, len - i, &part, &last);
        }
        e2b_err err = chunk_byte(http, (unsigned char)in[i]);
        if (err) return err;
        if (++http->framing_bytes > E2B_HTTP_FRAMING_BYTES + 8 * body_before) return E2B_LIMIT;
    }
    return E2B_OK;
}

static int32_t read_body(e2b_http *http, const char *in, size_t len, size_t *used, e2b_str *body)
{
    uint64_t before = http->body_bytes;
    bool executed = execute(http, in, len, used);
    size_t piece = (size_t)(http->body_bytes - before);
    /* A pause comes at the end of a piece of body, so the framing is what lies before it. */
    if (http->chunked) {
        e2b_err err = check_framing(http, in, *used - piece, before);
        if (err) return bad(http, err);
    }
    if (!executed) return bad(http, E2B_PROTOCOL);
    if (piece) {
        body->ptr = in + *used - piece;
        body->len = piece;
        return E2B_HTTP_BODY;
    }
    return E2B_HTTP_MORE;
}

/* ---- The engine -------------------------------------------------------------- */

int32_t e2b_http_read(e2b_http *http, const char *in, size_t len, size_t *used, e2b_str *body)
{
    *used = 0;
    if (http->stage == STAGE_BAD) return E2B_HTTP_BAD;
    if (http->stage == STAGE_DONE) return E2B_HTTP_DONE;
    if (http->stage == STAGE_BODY && http->complete) {
        http->stage = STAGE_DONE;
        return E2B_HTTP_DONE;
    }
    int32_t found = E2B_HTTP_MORE;
    /* A pause after the last piece of a body leaves the message's end to be
     * found without a further byte. */
    bool look = http->stage == STAGE_BODY;
    while (found == E2B_HTTP_MORE && (*used < len || look)) {
        size_t part = 0;
        look = false;
        if (http->stage == STAGE_BODY) {
            found = read_body(http, in + *used, len - *used, &part, body);
        } else {
            http->stage = STAGE_HEAD;
            found = read_head(http, in + *used, len - *used, &part);
        }
        *used += part;
        if (found == E2B_HTTP_MORE && http->stage == STAGE_BODY && http->complete) {
            http->stage = STAGE_DONE;
            found = E2B_HTTP_DONE;
        }
    }
    return found;
}

int32_t e2b_http_end(e2b_http *http)
{
    if (http->stage == STAGE_BAD) return E2B_HTTP_BAD;
    if (http->stage == STAGE_DONE || (http->stage == STAGE_BODY && (http->complete || http->reading_until_end))) {
        http->stage = STAGE_DONE;
        return E2B_HTTP_DONE;
    }
    return bad(http, e2b_http_started(http) ? E2B_TRUNCATED : E2B_NO_REPLY);
}
