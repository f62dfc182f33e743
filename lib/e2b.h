/* e2b.h: drive E2B sandboxes from C, without a heap.
 *
 * Conventions, for everything below.
 *   - Every fallible call returns e2b_err: E2B_OK (0) or one of the codes of
 *     the list. e2b_reason() says in words what happened.
 *   - All memory is the caller's. Nothing is allocated, nothing has to be
 *     freed, nothing grows. Structs are valid when zeroed; they are complete
 *     here so that they can be embedded, with the public fields first.
 *   - Options are structs whose zero value is the sensible default, passed as
 *     NULL or with designated initialisers. Their strings and arrays are
 *     borrowed for the call, unless a field says otherwise.
 *   - Times are _ms or _s by name. In limits, 0 is the default and
 *     E2B_NO_LIMIT is none.
 *   - A client and everything opened on it belong to one thread at a time.
 *     They stay where they are in memory while anything opened on them is
 *     open; handles (e2b_process, lists) may be moved between calls.
 *   - Calls block, at most up to their limit, unless they say they don't.
 */
#ifndef E2B_H
#define E2B_H

#include "e2b_error.h"
#include "e2b_port.h"

#ifdef __cplusplus
extern "C" {
#endif

#define E2B_VERSION "0.1.0"

/* ---- The client ------------------------------------------------------------ */

/* For the three-valued options: 0 is "not said". */
#define E2B_YES 1
#define E2B_NO 2

#define E2B_NO_LIMIT 0xffffffffu

/* The codec of process streams. JSON is what every server has; the binary one
 * (protobuf) is served several times faster by the real daemon. */
#define E2B_CODEC_JSON 0
#define E2B_CODEC_PROTO 1

/* Time limits. Public in the client and changeable between calls. 0: the default named here. */
typedef struct e2b_limits {
    uint32_t connect_ms;  /* name, addresses and TLS: 10,000 */
    uint32_t request_ms;  /* a unary call in all: 60,000 */
    uint32_t open_ms;     /* a stream until its process has started: 60,000 */
    uint32_t run_ms;      /* the command of e2b_run: 60,000 */
    uint32_t idle_ms;     /* a stream without a byte before the process is looked for: 120,000 */
    uint32_t transfer_ms; /* an upload or download without progress: 60,000 */
    uint32_t settle_ms;   /* how long after its last byte a lost create may still take effect: 80,000 */
    uint32_t kept_ms;     /* a kept connection older than this is not used again: 30,000 */
    uint32_t fresh_ms;    /* a call that must not be repeated uses a kept connection only this long: 5,000 */
    uint32_t drain_ms;    /* how long to wait for the last bytes of a finished stream before its connection is used again: 50 */
    uint32_t poll_ms;     /* first pause between two looks of settle, doubled up to eight times itself: 1,000 */
} e2b_limits;

typedef struct e2b_client_options {
    const char *api_key;      /* "e2b_" and lower-case hex digits */
    const char *domain;       /* NULL or "": e2b.app */
    const char *api_url;      /* NULL or "": https://api.<domain>. Beats domain and debug */
    const char *sandbox_url;  /* NULL or "": by domain. Beats domain and debug for all sandbox traffic */
    const char *api_address;     /* numeric address to connect to instead of resolving the API's name */
    const char *sandbox_address; /* the same for sandbox traffic */
    int32_t validate_api_key; /* E2B_NO: send a key of any shape */
    int32_t debug;            /* E2B_YES: a local envd on port 49983, no control plane for create and connect */
    uint16_t connections;     /* 0: 1. As many slots are carved from the memory */
    int32_t codec;            /* E2B_CODEC_JSON or E2B_CODEC_PROTO */
    const char *user_agent;   /* NULL: "libe2b/<version>" */
    volatile int *cancel;     /* not NULL: set it to nonzero, from a signal handler or another thread, and every wait
                               * ends with E2B_CANCELLED; the caller clears it. Kill and settle go on. Kept, not copied */
    e2b_limits limits;
} e2b_client_options;

typedef struct e2b_client {
    e2b_error error;         /* the latest failure */
    e2b_error cleanup_error; /* the latest failure of kill, close and what else cleans up */
    e2b_limits limits;

    /* The library's. */
    e2b_port *port;
    volatile int *cancel;
    e2b_str api_key, user_agent, domain;
    e2b_str api_host, api_path, api_address;
    e2b_str sandbox_host, sandbox_path, sandbox_address; /* host empty: by domain */
    struct e2b_conn *conns;
    e2b_wait_item *waits;
    uint64_t *wait_space;
    void *tokens;
    uint32_t buffer_size;
    uint32_t next_destination;
    uint16_t api_port, sandbox_port;
    uint16_t conn_count;
    uint8_t api_tls, sandbox_tls;
    uint8_t codec, debug, routes; /* routes: 0 unknown, 1 newer, 2 older */
    uint8_t cleaning, latest_is_cleanup;
    int32_t open_error; /* the port's number for the latest attempt to open a link */
} e2b_client;

/* Memory for a client with `connections` slots of `buffer` bytes each (1,024
 * at least, 16 KiB for speed): a constant expression for a static array. */
#define E2B_CONN_MEMORY 400u
#define E2B_TOKEN_COUNT 48u
#define E2B_CLIENT_STRINGS 512u
#define E2B_CLIENT_MEMORY(connections, buffer)                                                      \
    ((size_t)(connections) * ((size_t)(buffer) + E2B_CONN_MEMORY + sizeof(e2b_wait_item) + 8u) +     \
     8u * E2B_WAIT_SPARE + E2B_TOKEN_COUNT * 20u + E2B_CLIENT_STRINGS + 15u)

/* Sets a client up in `memory`, which it keeps until e2b_client_close; no
 * I/O. Options are copied. What the memory holds beyond the fixed parts is
 * divided evenly into the connections' buffers.
 *   E2B_NO_MEMORY   below the minimum; client->error.needed says how much
 *   E2B_NO_API_KEY  none given (not in debug mode)
 *   E2B_INVALID     a key, URL, domain, address or number of the wrong shape
 *   E2B_UNSUPPORTED the port lacks a required function */
e2b_err e2b_client_init(e2b_client *client, e2b_port *port, const e2b_client_options *options, void *memory, size_t size);

/* Closes every connection and gives the memory back; the port may be closed
 * then. Open handles become stale, and every call on the client is E2B_CLOSED.
 * Safe on a zeroed client. */
void e2b_client_close(e2b_client *client);

/* The words for `err`: those of whichever of client->error and
 * client->cleanup_error holds it, of the later one if both do, else the
 * list's. Never NULL; client may be NULL or zeroed. */
const char *e2b_reason(const e2b_client *client, e2b_err err);

/* ---- Sandboxes ------------------------------------------------------------- */

/* A name and its value: metadata, environment variables, headers. */
typedef struct e2b_pair {
    const char *name;
    const char *value;
} e2b_pair;

#define E2B_SANDBOX_NONE 0  /* nothing was made */
#define E2B_SANDBOX_MAYBE 1 /* a create was sent and its answer is lost: settle or kill it */
#define E2B_SANDBOX_LIVE 2  /* it was made (or named by the caller) and not seen gone */
#define E2B_SANDBOX_GONE 3  /* it is proven not to exist */

typedef struct e2b_sandbox {
    char id[65];
    char access_token[129];  /* of envd; secret. "" if the sandbox is open */
    char traffic_token[65];  /* for user ports with restricted ingress; secret. "" if there is none */
    char domain[254];        /* what the service said, else the client's */
    char envd_version[24];
    char create_tag[33];     /* metadata libe2b.create; "" if left out */
    int32_t state;           /* E2B_SANDBOX_... */

    /* The library's. */
    e2b_client *client;
    uint64_t sent_ms; /* when the create request's last byte left */
    uint32_t destination;
    uint16_t version[3];
    bool secret; /* an access token exists, even if it did not fit */
} e2b_sandbox;

typedef struct e2b_egress_proxy {
    const char *address; /* host:port; NULL: no proxy */
    const char *username;
    const char *password;
} e2b_egress_proxy;

/* For requests to `domain`, headers to set. The host must be allowed as well. */
typedef struct e2b_network_rule {
    const char *domain;
    const e2b_pair *headers;
    size_t header_count;
} e2b_network_rule;

typedef struct e2b_network {
    int32_t allow_public_traffic; /* E2B_NO: user ports need the traffic token */
    const char *const *allow_out; /* addresses, CIDR blocks, host names */
    size_t allow_out_count;
    const char *const *deny_out; /* addresses and CIDR blocks; "0.0.0.0/0" is everything */
    size_t deny_out_count;
    e2b_egress_proxy egress_proxy;
    const char *mask_request_host;
    const e2b_network_rule *rules;
    size_t rule_count;
} e2b_network;

typedef struct e2b_volume_mount {
    const char *name;
    const char *path;
} e2b_volume_mount;

typedef struct e2b_iam_token {
    const char *name;
    const char *audience;
    const char *token_type; /* NULL: "JWT-SVID" */
} e2b_iam_token;

typedef struct e2b_sandbox_options {
    const char *template_name;  /* NULL: "base". A name, namespace/name, name:tag or an id */
    uint32_t timeout_s;         /* 0: the service's default, 300 */
    int32_t auto_pause;         /* when the time is over: E2B_YES pauses, E2B_NO kills; unset: kills */
    int32_t auto_pause_memory;  /* E2B_NO: pause keeps the disk only; needs auto_pause, excludes auto_resume */
    int32_t auto_resume;        /* E2B_YES: traffic wakes a paused sandbox; needs auto_pause */
    int32_t secure;             /* E2B_NO: no access token; only the older route can do that */
    int32_t internet_access;    /* E2B_NO: deny all egress */
    const e2b_network *network;
    const e2b_pair *metadata;
    size_t metadata_count;
    const e2b_pair *env;
    size_t env_count;
    const char *mcp_json;       /* a JSON object, passed through */
    const e2b_iam_token *iam_tokens;
    size_t iam_token_count;
    const e2b_volume_mount *volume_mounts;
    size_t volume_mount_count;
    bool untagged;              /* leaves the create tag out: a lost create can't be found again */
} e2b_sandbox_options;

/* Creates a sandbox and fills *sandbox. One request, never repeated. A tag is
 * drawn and put into the metadata before anything is sent, so that a create
 * whose answer was lost can be found: then the state is MAYBE, and
 * e2b_sandbox_kill or e2b_sandbox_settle deals with it.
 *   E2B_STATE      *sandbox is LIVE or MAYBE; nothing is sent
 *   E2B_TOO_SMALL  the token does not fit; the state is LIVE, kill works
 *   errors that may have been executed: the state is MAYBE, or NONE when the
 *   service itself said no */
e2b_err e2b_sandbox_create(e2b_client *client, e2b_sandbox *sandbox, const e2b_sandbox_options *options);

/* Finds out what became of a create whose answer was lost, looking at once
 * and then after 1, 2, 4, 8, 8 ... s, the last time `wait_ms` from now at the
 * latest (E2B_NO_LIMIT: until it is known); each look has limits.request_ms of
 * its own. Ends LIVE (with token), GONE, or still MAYBE, which is
 * E2B_OK too. GONE is said only when nothing matches limits.settle_ms after
 * the request's last byte: a server may finish that late. OK without I/O in
 * every other state. Writes to client->cleanup_error. */
e2b_err e2b_sandbox_settle(e2b_sandbox *sandbox, uint32_t wait_ms);

/* Names an existing sandbox by its id without any I/O: enough for kill,
 * timeout, pause and info. For processes use attach, connect or resume.
 * E2B_INVALID for an id of the wrong shape. */
e2b_err e2b_sandbox_refer(e2b_client *client, e2b_sandbox *sandbox, const char *id);

/* Attaches to a sandbox with a GET, which changes nothing: neither its life
 * nor its state. Gives token, version and domain. E2B_NOT_RUNNING if it is paused. */
e2b_err e2b_sandbox_attach(e2b_client *client, e2b_sandbox *sandbox, const char *id);

typedef struct e2b_connect_options {
    uint32_t timeout_s; /* 0: the service's default, 300. Lengthens the life of a running sandbox, never shortens it */
    int32_t memory;     /* E2B_NO: boot from the disk only */
} e2b_connect_options;

/* Connects to a sandbox with a POST: wakes it if it is paused, lengthens its
 * life if it is running. E2B_NOT_FOUND if there is none. After any error but
 * E2B_INVALID the struct names the sandbox as after e2b_sandbox_refer: it may
 * have been woken, and kill works. */
e2b_err e2b_sandbox_connect(e2b_client *client, e2b_sandbox *sandbox, const char *id, const e2b_connect_options *options);

/* The same for a sandbox already at hand, after a pause. */
e2b_err e2b_sandbox_resume(e2b_sandbox *sandbox, const e2b_connect_options *options);

/* Ends the sandbox `timeout_s` from now, sooner or later than before. 0 is
 * E2B_INVALID: kill it instead. The service cuts values above the account's maximum. */
e2b_err e2b_sandbox_set_timeout(e2b_sandbox *sandbox, uint32_t timeout_s);

/* Pauses. memory: E2B_NO keeps only the disk. A sandbox already paused is E2B_OK. */
e2b_err e2b_sandbox_pause(e2b_sandbox *sandbox, int32_t memory);

/* Kills, and is safe to repeat: a sandbox that is not there is E2B_OK and GONE.
 * On MAYBE it settles first and blocks until LIVE or limits.settle_ms are
 * over. On NONE and GONE it is OK without I/O. Not stopped by the cancel flag.
 * Writes to client->cleanup_error. */
e2b_err e2b_sandbox_kill(e2b_sandbox *sandbox);

/* Whether envd answers: E2B_OK, E2B_NOT_RUNNING, or what stood in the way. GET /health. */
e2b_err e2b_sandbox_health(e2b_sandbox *sandbox);

/* "PORT-ID.DOMAIN" of a port of the sandbox, NUL-terminated, into `out`. E2B_TOO_SMALL. No I/O. */
e2b_err e2b_sandbox_host(const e2b_sandbox *sandbox, uint16_t port, char *out, size_t size);

/* ---- Info and lists -------------------------------------------------------- */

/* Caller memory that results are put into, with mark and release. */
typedef struct e2b_arena {
    uint8_t *memory;
    size_t size;
    size_t used;
} e2b_arena;

void e2b_arena_init(e2b_arena *arena, void *memory, size_t size);
/* `size` bytes aligned to `align` (a power of two), or NULL if they are not left. */
void *e2b_arena_take(e2b_arena *arena, size_t size, size_t align);
size_t e2b_arena_mark(const e2b_arena *arena);
void e2b_arena_release(e2b_arena *arena, size_t mark);

#define E2B_STATE_UNKNOWN 0
#define E2B_STATE_RUNNING 1
#define E2B_STATE_PAUSED 2

typedef struct e2b_sandbox_info {
    char id[65];
    char template_id[65];
    char alias[129];
    char envd_version[24];
    int32_t state; /* E2B_STATE_... */
    int64_t started_ms; /* since 1970 UTC; changes on resume */
    int64_t end_ms;     /* running: when it expires; paused: when it was paused */
    int32_t cpu_count, memory_mb, disk_mb;
    int32_t internet_access; /* info only: 0 not said, E2B_YES, E2B_NO */
    int32_t on_timeout_pause; /* info only: 0 not said, E2B_YES, E2B_NO */
    int32_t auto_resume;      /* info only */
    e2b_str metadata; /* the JSON object as it came, in the arena; walk it with e2b_json_pairs. Empty without an arena */
    e2b_str network;  /* info only: the JSON object as it came, in the arena */
} e2b_sandbox_info;

/* Asks for one sandbox. arena may be NULL; then metadata and network are left
 * out. E2B_TOO_SMALL: they did not fit it; the rest is filled. */
e2b_err e2b_sandbox_get_info(e2b_sandbox *sandbox, e2b_sandbox_info *info, e2b_arena *arena);

/* Walks a JSON object of strings, such as metadata: *position is 0 at first.
 * Gives name and value unescaped into the text itself, which is why it must be
 * writable, as it is in an arena, and can be walked only once. False at the
 * end, and at anything that is no string. */
bool e2b_json_pairs(e2b_str object, size_t *position, e2b_str *name, e2b_str *value);

typedef struct e2b_list_options {
    const e2b_pair *metadata; /* all must match */
    size_t metadata_count;
    bool running, paused;     /* neither: both */
    uint32_t limit;           /* of a page, 1 to 100; 0: the service's default */
    int64_t started_after_ms; /* since 1970 UTC, that moment included; 0: all */
    const char *template_name;
    int32_t ascending;        /* E2B_YES: oldest first */
    e2b_arena *arena;         /* metadata of each item goes here and stays until the next call; NULL: left out */
} e2b_list_options;

/* A list in progress, any length in this memory. Holds a connection while a page is being read. */
typedef struct e2b_sandbox_list {
    e2b_client *client;
    e2b_list_options options; /* borrowed strings and arrays: they live until close */
    char next_token[256];
    size_t arena_mark;
    uint32_t generation;
    e2b_err err;
    uint16_t slot;
    uint8_t stage;
} e2b_sandbox_list;

/* Opens a list; pages are asked for as they are needed. No I/O. */
e2b_err e2b_sandbox_list_open(e2b_client *client, e2b_sandbox_list *list, const e2b_list_options *options);
/* The next sandbox; at the end E2B_OK and an empty info->id. E2B_TOO_SMALL:
 * this one's metadata did not fit the arena; the rest is filled and the list
 * goes on. Every other error is final for the list. */
e2b_err e2b_sandbox_list_next(e2b_sandbox_list *list, e2b_sandbox_info *info);
void e2b_sandbox_list_close(e2b_sandbox_list *list);

/* ---- Processes ------------------------------------------------------------- */

typedef struct e2b_process_options {
    const char *user;     /* NULL: the sandbox's default user */
    const char *cwd;      /* NULL: the service's default */
    const e2b_pair *env;
    size_t env_count;
    const char *tag;      /* a label to find the process by; not unique */
    bool input;           /* keep standard input open for e2b_process_send; needs two connections */
    uint32_t timeout_ms;  /* the command's own limit: the service kills it then. 0: none (e2b_run: limits.run_ms) */
} e2b_process_options;

#define E2B_EVENT_NONE 0      /* nothing yet */
#define E2B_EVENT_OUT 1       /* data: standard output */
#define E2B_EVENT_ERR 2       /* data: standard error */
#define E2B_EVENT_PTY 3       /* data: of a terminal */
#define E2B_EVENT_SENT 4      /* what was sent has been taken; its memory is yours again */
#define E2B_EVENT_INPUT_END 5 /* input failed (code, taken); output goes on. E2B_SERVER: the process closed its
                               * input; E2B_NOT_FOUND: it has ended; E2B_NO_REPLY: the connection was lost, or was
                               * needed for a signal or a kill */
#define E2B_EVENT_END 6       /* the process ended: exit_code, exited, status */

typedef struct e2b_event {
    int32_t kind;
    e2b_str data;      /* OUT, ERR, PTY: in the connection's buffer, until the next call on this handle */
    int32_t exit_code; /* END: -1 or 128+n when a signal ended it */
    bool exited;       /* END: false when a signal ended it */
    e2b_str status;    /* END: the service's words, until the handle is used again */
    e2b_err code;      /* INPUT_END: why */
    uint64_t taken;    /* INPUT_END: bytes of the lent piece that surely reached the process's pipe, read or not */
} e2b_event;

#define E2B_EXIT_UNKNOWN 0
#define E2B_EXIT_UNCONFIRMED 1 /* the end event came, the stream's proper end did not */
#define E2B_EXIT_CONFIRMED 2

/* How far a streaming JSON reader has come. The library's. */
typedef struct e2b_json_reader {
    uint32_t objects; /* one bit a level: object or array */
    uint8_t depth, state, expect, key_len;
    uint8_t text_state, pad[3];
    uint16_t high, code; /* a surrogate, a \u escape under way */
    char key[24]; /* the latest key, or the text of a number or literal */
} e2b_json_reader;

/* The prefix of a Connect envelope, and how much of its payload is left. The library's. */
typedef struct e2b_envelope {
    uint32_t left;
    uint8_t have; /* bytes of the prefix */
    uint8_t last;
} e2b_envelope;

/* How far the reading of one protobuf message has come. The library's. */
typedef struct e2b_proto_reader {
    uint64_t value;
    uint32_t left[3];
    uint32_t field;
    uint8_t level, state, shift, wire;
} e2b_proto_reader;

/* One process event being read, and what the events before it said. The library's. */
typedef struct e2b_process_reader {
    union {
        e2b_json_reader json;
        e2b_proto_reader proto;
    } as;
    int32_t exit_code;
    uint32_t pid;
    uint8_t codec, member, field, seen;
    uint8_t carry[4]; /* characters of a base64 group cut off by the piece's end */
    uint8_t carry_len, padded, status_len, in_event;
    bool started, ended, exited, broken;
    char status[44];
} e2b_process_reader;

/* One live process, or what is left of it. */
typedef struct e2b_process {
    uint32_t pid;
    int32_t exit_code;
    bool exited;
    uint8_t exit_known; /* E2B_EXIT_... */

    /* The library's. */
    uint8_t stage, input_stage, look_stage;
    uint8_t input_event; /* SENT or INPUT_END, not given out yet */
    bool end_wanted;     /* end the input after what was sent */
    e2b_err err;       /* the first error; final */
    e2b_err input_err; /* what ended the input */
    uint16_t slot, input_slot, look_slot;
    uint32_t generation, input_generation, look_generation;
    e2b_sandbox *sandbox;
    uint64_t look_ms; /* when the look began */
    const uint8_t *lent;
    size_t lent_len, lent_taken;
    uint32_t piece_len;
    e2b_envelope envelope;
    e2b_process_reader reader;
} e2b_process;

/* Starts argv[0] with its arguments, no shell. Blocks until the process has
 * started or limits.open_ms are over. Writes the whole struct.
 *   E2B_BUSY     no connection is left for a stream (one of N is kept for calls)
 *   E2B_INVALID  empty argv, NUL or a bad name in a string, input with one connection
 * Never repeated: after an error that may have been executed the process may be running. */
e2b_err e2b_process_start(e2b_sandbox *sandbox, e2b_process *process, const char *const *argv, size_t argc,
                          const e2b_process_options *options);

/* Starts a line of shell text as the official SDKs do: /bin/bash -l -c TEXT. */
e2b_err e2b_process_shell(e2b_sandbox *sandbox, e2b_process *process, const char *command,
                          const e2b_process_options *options);

/* Connects to a process that runs, by pid, or by tag if pid is 0. Output from
 * now on; what was printed while nobody listened is gone. options: timeout_ms
 * (of this stream only) and input. E2B_NOT_FOUND. */
e2b_err e2b_process_connect(e2b_sandbox *sandbox, e2b_process *process, uint32_t pid, const char *tag,
                            const e2b_process_options *options);

/* The next event; waits at most `wait_ms` (0: not at all) and then gives NONE,
 * earlier if a signal or a descriptor of the caller's own ended the port's wait.
 * Also drives the sending of input. END comes once the stream has ended
 * properly; after it the same END again. Any error is final for the handle and
 * returned again. E2B_TRUNCATED with process->exit_known UNCONFIRMED: the exit
 * code came, the stream's end did not. E2B_CANCELLED alone is not final: it
 * ended a wait, and the handle goes on. */
e2b_err e2b_process_next(e2b_process *process, e2b_event *event, uint32_t wait_ms);

/* Waits until some of `count` processes of one client have news, or wait_ms
 * are over, or the port's wait was ended early. The ready ones are moved to the front; *ready says how many. Ready
 * means that next(..., 0) won't wait. */
e2b_err e2b_wait(e2b_client *client, e2b_process **processes, size_t count, uint32_t wait_ms, size_t *ready);

/* Lends `size` bytes of input. Returns at once; they stay lent until the
 * SENT or INPUT_END event, END, or an error of the stream.
 *   E2B_BUSY   an earlier piece is still under way
 *   E2B_STATE  started without input, or its input was ended
 *   what ended the input, when it has failed */
e2b_err e2b_process_send(e2b_process *process, const void *data, size_t size);

/* Ends the input once what was sent has been taken. Returns at once. No event
 * on success. E2B_UNSUPPORTED with an envd older than 0.5.2. */
e2b_err e2b_process_end_input(e2b_process *process);

#define E2B_SIGNAL_KILL 9
#define E2B_SIGNAL_TERM 15

/* Signals that process alone, not its children. The answer does not wait for
 * its death. E2B_NOT_FOUND: it has ended. Where no connection is free it takes
 * that of an input piece, and that input ends: with input, three connections
 * keep the two apart. A kill does the same. */
e2b_err e2b_process_signal(e2b_process *process, int32_t signal);
/* The same for any process of the sandbox, by pid, or by tag if pid is 0. */
e2b_err e2b_sandbox_signal(e2b_sandbox *sandbox, uint32_t pid, const char *tag, int32_t signal);

/* Gives the connection back. A live process goes on. Safe on a zeroed or ended handle. */
void e2b_process_close(e2b_process *process);

/* A place for output: the caller gives ptr and size, the call fills the rest. */
typedef struct e2b_output {
    char *ptr;
    size_t size;
    size_t len;     /* bytes stored */
    uint64_t total; /* bytes there were */
} e2b_output;

typedef struct e2b_run_result {
    e2b_output out, err;
    int32_t exit_code; /* with E2B_OK and E2B_TOO_SMALL: the command's; -1 or 128+n when a signal ended it */
    bool exited;       /* false when a signal ended it */
} e2b_run_result;

/* Runs a line of shell text to its end. Output beyond a buffer is counted and
 * dropped: then E2B_TOO_SMALL, with everything else filled; output of which
 * nothing is wanted (size 0, or result NULL) is dropped without that. A
 * non-zero exit code is not an error. The command is killed after
 * options->timeout_ms (0: limits.run_ms): E2B_COMMAND_TIMEOUT. After any other
 * error that may have been executed, E2B_CANCELLED too, it may still be running. */
e2b_err e2b_run(e2b_sandbox *sandbox, const char *command, const e2b_process_options *options, e2b_run_result *result);

typedef struct e2b_process_info {
    uint32_t pid;
    e2b_str cmd, cwd, tag; /* in the arena; empty without one */
    e2b_str args, env;     /* the JSON array and object as they came, in the arena. env may hold secrets */
} e2b_process_info;

/* The processes of a sandbox, any number in this memory. Holds a connection until its end or close. */
typedef struct e2b_process_list {
    e2b_sandbox *sandbox;
    e2b_arena *arena;
    size_t arena_mark;
    uint32_t generation;
    e2b_err err;
    uint16_t slot;
    uint8_t stage;
} e2b_process_list;

/* arena may be NULL: then only pids. Each item's strings stay until the next call. */
e2b_err e2b_process_list_open(e2b_sandbox *sandbox, e2b_process_list *list, e2b_arena *arena);
/* The next process; at the end E2B_OK and pid 0. E2B_TOO_SMALL: this item's
 * strings did not fit; the pid is there and the list goes on. */
e2b_err e2b_process_list_next(e2b_process_list *list, e2b_process_info *info);
void e2b_process_list_close(e2b_process_list *list);

/* Walks a JSON array of strings, such as args: like e2b_json_pairs. */
bool e2b_json_strings(e2b_str array, size_t *position, e2b_str *value);

#ifdef __cplusplus
}
#endif
#endif
