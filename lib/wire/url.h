/* url: the http and https URLs that a client is configured with. */
#ifndef E2B_WIRE_URL_H
#define E2B_WIRE_URL_H

#include "e2b.h"

typedef struct e2b_url {
    e2b_str host; /* without brackets */
    e2b_str path; /* without a trailing slash; "" for the root */
    uint16_t port; /* 0: the scheme's default */
    bool tls;
} e2b_url;

/* scheme://host[:port][/path], nothing else: no user, query or fragment. The
 * parts point into `text`. */
bool e2b_url_parse(e2b_str text, e2b_url *url);

/* A DNS name: labels of letters, digits and hyphens, at most 253 bytes. */
bool e2b_host_name_valid(e2b_str name);

/* What looks like a numeric address: IPv4, or IPv6 without brackets, perhaps with a zone. */
bool e2b_address_valid(e2b_str text);

/* Printable ASCII without blanks, at least one byte: fit for a header field or a request line. */
bool e2b_word_valid(e2b_str text);

#endif
