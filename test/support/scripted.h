/* scripted: a memory port with its script and room for what happens on two
 * connections. */
#ifndef SCRIPTED_H
#define SCRIPTED_H

#include "e2b_memory.h"

typedef struct scripted {
    uint8_t steps[1024];
    e2b_memory_script script;
    e2b_memory_port port;
    e2b_memory_connection connections[2];
    char sent[2][256];
    uint8_t reply[2][512];
} scripted;

/* An empty script to add steps to; then scripted_ready opens the port with it. */
void scripted_setup(scripted *f);
void scripted_ready(scripted *f);
e2b_link scripted_dial(scripted *f);

/* The port's functions. */
int32_t scripted_take(scripted *f, e2b_link *link, char *out, size_t size);
int32_t scripted_give(scripted *f, e2b_link *link, const char *text);
void scripted_hang_up(scripted *f, e2b_link *link, bool abort);
int32_t scripted_pause(scripted *f, e2b_wait_item *items, size_t count, uint32_t ms);
/* Waits for one link and gives what is ready. */
uint8_t scripted_wait(scripted *f, e2b_link *link, uint8_t wanted, uint32_t ms);

/* Receives exactly this text. */
void scripted_expect(scripted *f, e2b_link *link, const char *text);
/* Receives nothing but this answer. */
void scripted_expect_answer(scripted *f, e2b_link *link, int32_t answer);

#endif
