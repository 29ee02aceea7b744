/* SPDX-License-Identifier: MIT */
/*
 * stack_memo.c -- see stack_memo.h. A direct-mapped cache by thread index. Only
 * the pages that are used take memory.
 */
#include <stddef.h>

#include "base/sys.h"
#include "stack_memo.h"

/* Number of entries, one for each thread: a power of two. */
#define THREADS 64u

/* Limit of the frames that are noted of one stack. Those nearer to the leaf are
 * searched each time. */
#define DEPTH 340u

struct last_stack {
    uint32_t nodes[DEPTH];
    uint64_t frames[DEPTH];
};
_Static_assert(sizeof(struct last_stack) <= 4096, "a page for each thread");

/* The owner of an entry, and the number of frames that are noted. An owner lies
 * apart from its entry. So the page of a new entry is written before it is read
 * (sys_reserve_present). */
struct owner {
    uint32_t thread; /* index + 1; 0: none */
    uint32_t stamp;
    uint32_t count;
};

static struct owner owners[THREADS];
static struct last_stack *last_stacks;

struct stack_memo
stack_memo_begin(uint32_t index, uint32_t stamp)
{
    if (last_stacks == NULL)
        last_stacks = sys_reserve_for_one(THREADS * sizeof(*last_stacks));
    if (last_stacks == NULL)
        return (struct stack_memo){.is_beside = true};
    struct owner *owner = &owners[index % THREADS];
    if (owner->thread != index + 1 || owner->stamp != stamp)
        *owner = (struct owner){.thread = index + 1, .stamp = stamp};
    return (struct stack_memo){.last = &last_stacks[index % THREADS],
                               .owner = owner};
}

uint32_t
stack_memo_next(struct stack_memo *memo, struct frame frame)
{
    const struct last_stack *last = memo->last;
    if (memo->is_beside || memo->depth >= memo->owner->count ||
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
    memo->owner->count = memo->depth;
}
