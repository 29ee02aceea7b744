/* SPDX-License-Identifier: MIT */
/*
 * starting.c -- see starting.h. Each side writes its own word and then reads
 * the other's, so that one of them sees the other. A thread that changes
 * something sees that a program is being started, or is waited for.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/sys.h"
#include "starting.h"
#include "base/poison.h"

/* How long changes are waited for, and the pause between two looks whether they
 * have ended. In ns. They take some us, and wake no thread. */
#define CHANGES_NS 1000000000u
#define LOOK_NS 100000u

static _Atomic uint32_t starters, changers;

void
starting_begin(void)
{
    uint32_t count;
    atomic_fetch_add(&starters, 1);
    uint64_t until = clock_now() + CHANGES_NS;
    while ((count = atomic_load(&changers)) != 0 && !clock_expires(until))
        sys_futex_wait(&changers, count, clock_now() + LOOK_NS);
}

/* Take one off *COUNT. Returns what it was: 0 in a child that a handler forked
 * on top of the beginning. */
static uint32_t
decrement(_Atomic uint32_t *count)
{
    uint32_t before = atomic_load(count);
    while (before != 0 &&
           !atomic_compare_exchange_weak(count, &before, before - 1))
        continue;
    return before;
}

bool
starting_end(void)
{
    return decrement(&starters) <= 1;
}

bool
starting_is_on(void)
{
    return atomic_load(&starters) != 0;
}

void
starting_begin_change(void)
{
    atomic_fetch_add(&changers, 1);
}

void
starting_end_change(void)
{
    (void)decrement(&changers);
}

bool
starting_after_fork(void)
{
    atomic_store(&changers, 0);
    return atomic_exchange(&starters, 0) != 0;
}
