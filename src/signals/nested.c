/* SPDX-License-Identifier: MIT */
/*
 * nested.c -- see nested.h.
 *
 * The hard thing is a handler of the program that does not return to ours. The
 * slot that ours was filling stays claimed, and no code runs that could report
 * this to the sampler. Therefore a mark lies on the stack of a handler that
 * fills a slot. A thread that left the handler by a jump uses that stack again,
 * and the mark is overwritten, or unmapped. While the mark stands, the handler
 * may still come back to its slot.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/hot.h"
#include "base/sys.h"
#include "alternate.h"
#include "signals.h"
#include "nested.h"
#include "base/poison.h"

/* Constant part of a mark's value, beside the address and time of its slot: any
 * number that is no address. */
#define MARK 0x53ab70c16e0dd1e5u

/* The innermost mark of the calling thread, or 0 if it is not in our handler.
 * MASK_BEFORE is the mask with which the outermost handler was entered. */
static __thread volatile uint64_t innermost, mask_before;

/* The innermost marks of the thread that has forked this child. Our handler is
 * hardly ever on top of another of ours. */
#define FORKED_MOST 4u
static _Atomic uint64_t forked[FORKED_MOST];

static uint64_t
value_of(uint64_t mark, uint64_t time)
{
    return MARK ^ mark ^ time;
}

HOT void
nested_enter(struct nested_mark *mark, _Atomic uint64_t *place, uint64_t time,
             bool has_words, const ucontext_t *context)
{
    atomic_store_explicit(&mark->value, value_of((uint64_t)mark, time),
                          memory_order_relaxed);
    /* Pairs with the load in serve_reclaim: whoever sees the address also sees
     * the mark, and the time of its slot. */
    atomic_store_explicit(place, (uint64_t)mark, memory_order_release);
    mark->outer = has_words ? innermost : 0;
    if (!has_words)
        return;
    if (mark->outer == 0)
        mask_before = signals_word(&context->uc_sigmask);
    innermost = (uint64_t)mark;
}

/* The release pairs with the exchange in serve_reclaim, which comes after it
 * has read the mark: that exchange sees that the slot was given away. */
HOT void
nested_leave(struct nested_mark *mark, bool has_words)
{
    if (has_words)
        innermost = mark->outer;
    atomic_store_explicit(&mark->value, 0, memory_order_release);
}

bool
nested_is_gone(uint64_t mark, uint64_t time)
{
    uint64_t value;
    return !sys_copy_memory(&value, mark, sizeof(value)) ||
           value != value_of(mark, time);
}

void
nested_note_fork(void)
{
    uint64_t mark = innermost;
    for (unsigned i = 0; i < FORKED_MOST; i++) {
        struct nested_mark copy = {.outer = 0};
        atomic_store_explicit(&forked[i], mark, memory_order_relaxed);
        /* After a jump the memory may hold anything, or be unmapped. */
        if (mark != 0 && !sys_copy_memory(&copy, mark, sizeof(copy)))
            copy.outer = 0;
        mark = copy.outer;
    }
}

bool
nested_is_forked(uint64_t mark)
{
    for (unsigned i = 0; mark != 0 && i < FORKED_MOST; i++)
        if (atomic_load_explicit(&forked[i], memory_order_relaxed) == mark)
            return true;
    return false;
}

/* Unblock our signals. Where alternate stacks are avoided, a handler on one
 * blocks them. A thread that left such a handler by a jump still does. */
static void
open_ours(void)
{
    if (!alternate_is_on())
        sys_mask(SIG_UNBLOCK, signals_borrowed(), NULL);
}

/* The handler on top of our handler then blocks what the thread blocked before.
 * It also blocks its own number and its sa_mask, as in the kernel. */
void
nested_settle(void)
{
    uint64_t now = 0;
    if (alternate_is_avoided())
        open_ours();
    if (innermost == 0)
        return;
    sys_mask(SIG_BLOCK, 0, &now);
    if ((now & SIGNALS_OF_LIBC) == SIGNALS_OF_LIBC)
        sys_mask(SIG_SETMASK, mask_before | (now & NESTED_FAULTS), NULL);
    /* The stack grows down. */
    if ((uint64_t)__builtin_frame_address(0) > innermost)
        innermost = 0;
}
