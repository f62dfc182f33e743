/* The list of processes, with a command line of a megabyte in it, through a
 * client of the smallest size. */
#include <stdlib.h>
#include <string.h>

#include "live_client.h"
#include "tally.h"

/* Linux takes arguments of less than 128 KiB each. */
enum { WORDS = 10, WORD = 110000, ARENA = 2 << 20 };

/* A long request takes long through a small buffer: another client starts the processes. */
static uint8_t memory[E2B_CLIENT_MEMORY(2, 1024)], starter_memory[E2B_CLIENT_MEMORY(3, 65536)];
static live_client live, starter;
static e2b_sandbox started, sandbox; /* the same one */
static char word[WORD + 1];
static const char *argv[WORDS + 4];

/* Its arguments are the script, a name, and the words. */
static void judge_long(tally_case *at, const e2b_process_info *info)
{
    size_t position = 0, count = 0;
    e2b_str value;
    HOLDS(at, info->cmd.len == 2 && memcmp(info->cmd.ptr, "sh", 2) == 0);
    HOLDS(at, info->tag.len == 4 && memcmp(info->tag.ptr, "long", 4) == 0);
    while (e2b_json_strings(info->args, &position, &value) && !at->failed) {
        if (count >= 3) CHECK(at, value.len == WORD && memcmp(value.ptr, word, WORD) == 0, "argument %zu", count);
        count++;
    }
    CHECK(at, count == WORDS + 3, "%zu arguments", count);
}

/* Lists three processes; `arena` is enough for the long one or not. */
static void list(e2b_arena *arena, uint32_t long_pid, bool fits)
{
    tally_case at = {fits ? "a list with room" : arena ? "a list with little room" : "a list of pids", 0};
    e2b_process_list processes;
    e2b_process_info info;
    unsigned count = 0, refused = 0;
    bool seen = false;
    e2b_err err = e2b_process_list_open(&sandbox, &processes, arena);
    CHECK(&at, !err, "open: %s", e2b_reason(&live.client, err));
    while (!at.failed) {
        err = e2b_process_list_next(&processes, &info);
        CHECK(&at, !err || err == E2B_TOO_SMALL, "next: %s", e2b_reason(&live.client, err));
        if (!info.pid) break;
        count++;
        refused += err == E2B_TOO_SMALL;
        seen |= info.pid == long_pid;
        if (info.pid == long_pid) HOLDS(&at, (err == E2B_TOO_SMALL) == (arena && !fits));
        else HOLDS(&at, !err && (!arena || (info.cmd.len == 5 && memcmp(info.cmd.ptr, "sleep", 5) == 0)));
        if (info.pid == long_pid && fits) judge_long(&at, &info);
    }
    HOLDS(&at, count == 3 && seen && refused == (arena && !fits));
    e2b_process_list_close(&processes);
    tally_add(&at);
}

static void end_by_tag(void)
{
    tally_case at = {"signals by tag and by pid", 0};
    HOLDS(&at, e2b_sandbox_signal(&sandbox, 0, "long", E2B_SIGNAL_KILL) == E2B_OK);
    HOLDS(&at, e2b_sandbox_signal(&sandbox, 0, "nobody", E2B_SIGNAL_KILL) == E2B_NOT_FOUND);
    HOLDS(&at, e2b_sandbox_signal(&sandbox, 0, NULL, E2B_SIGNAL_KILL) == E2B_INVALID);
    HOLDS(&at, e2b_sandbox_signal(&sandbox, 1, NULL, 1) == E2B_INVALID);
    tally_add(&at);
}

int main(void)
{
    static const char *const sleep[] = {"sleep", "1000"};
    tally_case at = {"a command line of a megabyte", 0};
    e2b_process small[2], large;
    e2b_process_options tagged;
    e2b_arena arena;
    memset(&tagged, 0, sizeof tagged);
    tagged.tag = "long";
    memset(word, 'w', WORD);
    word[1] = '"';
    word[2] = '\n';
    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = "echo $#; sleep 1000";
    argv[3] = "name";
    for (size_t i = 0; i < WORDS; i++) argv[4 + i] = word;
    uint8_t *space = malloc(ARENA);
    if (!space || !live_client_open(&live, NULL, 2, memory, sizeof memory)) return 1;
    if (!live_client_open(&starter, NULL, 3, starter_memory, sizeof starter_memory)) return 1;
    if (e2b_sandbox_create(&starter.client, &started, NULL)) return 1;
    if (e2b_sandbox_attach(&live.client, &sandbox, started.id)) return 1;
    for (size_t i = 0; i < 2; i++) {
        HOLDS(&at, e2b_process_start(&started, &small[i], sleep, 2, NULL) == E2B_OK);
        e2b_process_close(&small[i]);
    }
    e2b_event event;
    e2b_err err = e2b_process_start(&started, &large, argv, WORDS + 4, &tagged);
    CHECK(&at, !err, "start: %s", e2b_reason(&starter.client, err));
    HOLDS(&at, e2b_process_next(&large, &event, E2B_NO_LIMIT) == E2B_OK);
    HOLDS(&at, event.kind == E2B_EVENT_OUT && event.data.len == 3 && memcmp(event.data.ptr, "10\n", 3) == 0);
    tally_add(&at);
    list(NULL, large.pid, false);
    e2b_arena_init(&arena, space, 4096);
    list(&arena, large.pid, false);
    e2b_arena_init(&arena, space, ARENA);
    list(&arena, large.pid, true);
    end_by_tag();
    e2b_process_close(&large);
    if (e2b_sandbox_kill(&sandbox)) return 1;
    live_client_close(&live);
    live_client_close(&starter);
    free(space);
    return tally_end();
}
