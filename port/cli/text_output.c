#include "text_output.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

#define DIGITS 24

static struct {
    char buffer[16 * 1024];
    size_t len;
    int error;
} out;

e2b_str str_of(const char *text)
{
    return (e2b_str){ text, strlen(text) };
}

int write_all(int fd, const void *bytes, size_t size, size_t *written)
{
    const char *from = bytes;

    while (*written < size) {
        ssize_t count = write(fd, from + *written, size - *written);
        if (count >= 0) {
            *written += (size_t)count;
            /* A signal that comes after part of it was taken shows only in the count. */
            if (*written < size)
                return EINTR;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd ready = { .fd = fd, .events = POLLOUT };
            if (poll(&ready, 1, -1) < 0)
                return errno;
        } else {
            return errno;
        }
    }
    return 0;
}

static void flush(void)
{
    size_t written = 0;

    while (!out.error && written < out.len) {
        int error = write_all(STDOUT_FILENO, out.buffer, out.len, &written);
        if (error != EINTR || signals_count() > 0)
            out.error = error;
    }
    out.len = 0;
}

void out_bytes(const char *bytes, size_t size)
{
    while (size > 0 && !out.error) {
        size_t part = sizeof out.buffer - out.len;
        if (part > size)
            part = size;
        memcpy(out.buffer + out.len, bytes, part);
        out.len += part;
        bytes += part;
        size -= part;
        if (out.len == sizeof out.buffer)
            flush();
    }
}

bool out_working(void)
{
    return out.error == 0;
}

int out_finish(void)
{
    flush();
    return out.error;
}

void out_text(const char *text)
{
    out_bytes(text, strlen(text));
}

/* The decimal digits of `number`, at the end of `digits`. */
static const char *decimal(char digits[DIGITS], int64_t number)
{
    uint64_t value = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    size_t at = DIGITS - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    if (number < 0)
        digits[--at] = '-';
    return digits + at;
}

void out_number(int64_t number)
{
    char digits[DIGITS];

    out_text(decimal(digits, number));
}

/* Also DEL and, in UTF-8, U+0080 to U+009F, which terminals obey as well. */
static bool is_control(const char *text, size_t at)
{
    unsigned char byte = (unsigned char)text[at];

    if (byte < 0x20 || byte == 0x7f)
        return true;
    return byte >= 0x80 && byte <= 0x9f && at > 0 && (unsigned char)text[at - 1] == 0xc2;
}

void out_plain(e2b_str text)
{
    for (size_t i = 0; i < text.len; i++)
        out_bytes(is_control(text.ptr, i) ? "?" : text.ptr + i, 1);
}

void out_column(e2b_str text, size_t width)
{
    size_t columns = 0;

    out_plain(text);
    for (size_t i = 0; i < text.len; i++)
        columns += ((unsigned char)text.ptr[i] & 0xc0) != 0x80;
    do
        out_text(" ");
    while (++columns < width);
}

static void out_padded(int64_t number, int64_t smallest)
{
    for (; smallest > number && smallest > 1; smallest /= 10)
        out_text("0");
    out_number(number);
}

/* The civil date of a day, counted in years that begin in March, so that the
 * leap day comes last. */
void out_date(int64_t ms)
{
    int64_t days = ms / 86400000, rest = ms % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    int64_t since = days + 719468;
    int64_t era = (since >= 0 ? since : since - 146096) / 146097;
    int64_t day = since - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    int64_t month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5;
    year += era * 400 + (month >= 10);
    month += month < 10 ? 3 : -9;

    out_padded(year, 1000);
    out_text("-");
    out_padded(month, 10);
    out_text("-");
    out_padded(day + 1, 10);
    out_text("T");
    out_padded(rest / 3600000, 10);
    out_text(":");
    out_padded(rest / 60000 % 60, 10);
    out_text(":");
    out_padded(rest / 1000 % 60, 10);
    if (rest % 1000) {
        out_text(".");
        out_padded(rest % 1000, 100);
    }
    out_text("Z");
}

void line_plain(cli_line *line, const char *text, size_t limit)
{
    /* The last byte is kept for the newline. */
    for (size_t i = 0; text[i] && i < limit && line->len < sizeof line->text - 1; i++)
        line->text[line->len++] = is_control(text, i) ? '?' : text[i];
}

void line_text(cli_line *line, const char *text)
{
    line_plain(line, text, SIZE_MAX);
}

void line_number(cli_line *line, int64_t number)
{
    char digits[DIGITS];

    line_text(line, decimal(digits, number));
}

void line_end(cli_line *line)
{
    size_t written = 0;

    line->text[line->len++] = '\n';
    while (write_all(STDERR_FILENO, line->text, line->len, &written) == EINTR)
        continue;
    line->len = 0;
}
