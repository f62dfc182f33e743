/* The arena at every size, every alignment and every offset of its memory. */
#include "base/arena.h"
#include "incremental.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool aligned(const void *pointer, size_t align)
{
    return (uintptr_t)pointer % align == 0;
}

/* Takes blocks until none is left: each inside, aligned, and behind the one before. */
static void fill(e2b_arena *arena, size_t block, size_t align)
{
    const uint8_t *past = arena->memory;
    for (;;) {
        size_t used = arena->used;
        uint8_t *taken = e2b_arena_take(arena, block, align);
        if (taken == NULL) {
            /* Nothing is taken by a call that fails, and it fails only if there is no room. */
            uintptr_t next = (uintptr_t)past + (align - (uintptr_t)past % align) % align;
            assert_int_equal(arena->used, used);
            assert_true(next + block > (uintptr_t)arena->memory + arena->size);
            return;
        }
        assert_true(taken >= past && aligned(taken, align) && (size_t)(taken - past) < align);
        assert_true(taken + block <= arena->memory + arena->size);
        memset(taken, 0x5a, block);
        past = taken + block;
        assert_int_equal(arena->used, (size_t)(past - arena->memory));
    }
}

/* The memory ends before an unreadable page, so a byte too many is seen. */
static void test_every_size(void **unused)
{
    (void)unused;
    static const char zeros[96];
    for (size_t size = 0; size <= 80; size++) {
        for (size_t offset = 0; offset < 16; offset++) {
            for (size_t align = 1; align <= 16; align *= 2) {
                for (size_t block = 1; block <= 17; block += 4) {
                    e2b_arena arena;
                    char *memory = guarded_copy(zeros, size + offset);
                    e2b_arena_init(&arena, memory, size);
                    fill(&arena, block, align);
                    for (size_t i = size; i < size + offset; i++) {
                        assert_int_equal(memory[i], 0);
                    }
                }
            }
        }
    }
}

static void test_exact_fit(void **unused)
{
    (void)unused;
    for (size_t size = 1; size <= 64; size++) {
        uint64_t memory[8];
        e2b_arena arena;
        e2b_arena_init(&arena, memory, size);
        assert_null(e2b_arena_take(&arena, size + 1, 1));
        assert_ptr_equal(e2b_arena_take(&arena, size, 8), memory);
        assert_null(e2b_arena_take(&arena, 1, 1));
        e2b_arena_init(&arena, memory, size);
        assert_ptr_equal(e2b_arena_take(&arena, size - 1, 8), memory);
        assert_ptr_equal(e2b_arena_take(&arena, 1, 1), (uint8_t *)memory + size - 1);
    }
}

static void test_mark_and_release(void **unused)
{
    (void)unused;
    uint64_t memory[8];
    e2b_arena arena;
    e2b_arena_init(&arena, memory, sizeof memory);
    size_t start = e2b_arena_mark(&arena);
    assert_non_null(e2b_arena_take(&arena, 3, 1));
    size_t mark = e2b_arena_mark(&arena);
    void *first = e2b_arena_take(&arena, 8, 8);
    assert_non_null(e2b_arena_take(&arena, 40, 8));
    size_t later = e2b_arena_mark(&arena);
    assert_null(e2b_arena_take(&arena, 16, 8));
    e2b_arena_release(&arena, mark);
    assert_ptr_equal(e2b_arena_take(&arena, 8, 8), first);
    /* A mark that lies behind what is used gives nothing back, and hands nothing out. */
    size_t used = arena.used;
    e2b_arena_release(&arena, later);
    assert_int_equal(arena.used, used);
    e2b_arena_release(&arena, start);
    assert_ptr_equal(e2b_arena_take(&arena, sizeof memory, 8), memory);
}

static void test_hopeless_sizes(void **unused)
{
    (void)unused;
    uint64_t memory[2];
    e2b_arena arena;
    e2b_arena_init(&arena, (uint8_t *)memory + 1, 15);
    assert_null(e2b_arena_take(&arena, SIZE_MAX, 1));
    assert_null(e2b_arena_take(&arena, SIZE_MAX, 8));
    assert_null(e2b_arena_take(&arena, SIZE_MAX - 6, 8));
    assert_null(e2b_arena_take(&arena, 1, (size_t)1 << 31));
    assert_int_equal(arena.used, 0);
    /* A zeroed arena is an empty one. */
    memset(&arena, 0, sizeof arena);
    assert_null(e2b_arena_take(&arena, 0, 1));
    assert_null(e2b_arena_take(&arena, 1, 1));
    e2b_arena_release(&arena, e2b_arena_mark(&arena));
}

static void test_a_text_in_the_rest(void **unused)
{
    (void)unused;
    char memory[8];
    e2b_arena arena;
    e2b_arena_init(&arena, memory, sizeof memory);
    e2b_arena_take(&arena, 3, 1);
    e2b_text text = e2b_arena_text(&arena);
    assert_ptr_equal(text.out, memory + 3);
    assert_int_equal(text.size, 5);
    assert_int_equal(arena.used, 3);
    e2b_arena_init(&arena, NULL, 0);
    text = e2b_arena_text(&arena);
    assert_null(text.out);
    assert_int_equal(text.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size), cmocka_unit_test(test_a_text_in_the_rest),
        cmocka_unit_test(test_exact_fit),
        cmocka_unit_test(test_mark_and_release),
        cmocka_unit_test(test_hopeless_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
