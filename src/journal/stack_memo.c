/* SPDX-License-Identifier: MIT */
/*
 * stack_memo.c -- see stack_memo.h. A direct-mapped cache by thread index. Only
 * the pages that are used take memory.
 */
#include <stddef.h>

#include "base/sys.h"
#include "stack_memo.h"

/* How many threads have an entry at a time: a power of two. */
#define THREADS 64u

/* Limit of the frames that are noted of one stack. Those nearer to the leaf are
 * searched each time. */
#define DEPTH 340u

struct last_stack {
    uint32_t thread; /* index + 1; 0: none */
    uint32_t stamp;
    uint32_t count; /* frames that are noted */
    uint32_t nodes[DEPTH];
    uint64_t frames[DEPTH];
};
_Static_assert(sizeof(struct last_stack) <= 4096, "a page for each thread");

static struct last_stack *last_stacks;

struct stack_memo
stack_memo_begin(uint32_t index, uint32_t stamp)
{
    if (last_stacks == NULL)
        last_stacks = sys_reserve_for_one(THREADS * sizeof(*last_stacks));
    if (last_stacks == NULL)
        return (struct stack_memo){.is_beside = true};
    struct last_stack *last = &last_stacks[index % THREADS];
    if (last->thread != index + 1 || last->stamp != stamp) {
        last->thread = index + 1;
        last->stamp = stamp;
        last->count = 0;
    }
    return (struct stack_memo){.last = last};
}

uint32_t
stack_memo_next(struct stack_memo *memo, struct frame frame)
{
    const struct last_stack *last = memo->last;
    if (memo->is_beside || memo->depth >= last->count ||
        last->frames[memo->depth] != frame.word) {
        memo->is_beside = true;
        return 0;
    }
    return last->nodes[memo->depth++];
}

void
stack_memo_note(struct stack_memo *memo, struct frame frame, uint32_t node)
{
    struct last_stack *last = memo->last;
    if (last == NULL || memo->depth >= DEPTH)
        return;
    last->frames[memo->depth] = frame.word;
    last->nodes[memo->depth++] = node;
    last->count = memo->depth;
}
