#include "base/arena.h"

void e2b_arena_init(e2b_arena *arena, void *memory, size_t size)
{
    arena->memory = memory;
    arena->size = size;
    arena->used = 0;
}

void *e2b_arena_take(e2b_arena *arena, size_t size, size_t align)
{
    size_t left = arena->size - arena->used;
    /* Of the address, not of the offset: the memory itself may start anywhere. */
    size_t gap = (size_t)(0 - ((uintptr_t)arena->memory + arena->used)) & (align - 1);
    if (arena->memory == NULL || gap > left || size > left - gap) {
        return NULL;
    }
    void *taken = arena->memory + arena->used + gap;
    arena->used += gap + size;
    return taken;
}

size_t e2b_arena_mark(const e2b_arena *arena)
{
    return arena->used;
}

void e2b_arena_release(e2b_arena *arena, size_t mark)
{
    if (mark < arena->used) {
        arena->used = mark;
    }
}

e2b_text e2b_arena_text(const e2b_arena *arena)
{
    e2b_text text = {NULL, 0, 0, 0};
    if (arena->memory != NULL) {
        text.out = (char *)arena->memory + arena->used;
        text.size = arena->size - arena->used;
    }
    return text;
}
