/* SPDX-License-Identifier: MIT */
/*
 * unloads.c -- see unloads.h. Threads note unloads at the same time, and no
 * thread waits. A note is valid while it has the wanted number.
 */
#include <stdatomic.h>

#include "base/hot.h"
#include "unloads.h"
#include "base/poison.h"

/* Number of unloads that are kept. The addresses of older ones are not
 * known. */
#define KEPT 256u

static struct unload {
    _Atomic uint32_t number; /* 0: none, or one that is being noted */
    _Atomic uint64_t start, end;
} kept[KEPT];

/* The number of the last unload, and the threads that close modules. */
static HOT_STATE _Atomic uint32_t last;
static HOT_STATE _Atomic int32_t closing;

/* Nesting of the calling thread's closings of modules: a destructor may close
 * another one. */
static __thread int32_t closing_here;

void
unloads_note(uint64_t start, uint64_t end)
{
    uint32_t number = atomic_fetch_add(&last, 1) + 1;
    struct unload *unload = &kept[number % KEPT];
    atomic_store(&unload->number, 0);
    atomic_store(&unload->start, start);
    atomic_store(&unload->end, end);
    atomic_store(&unload->number, number);
}

void
unloads_closing(int change)
{
    closing_here += change;
    atomic_fetch_add(&closing, change);
}

void
unloads_thread_ends(void)
{
    unloads_closing(-closing_here);
}

void
unloads_in_child(void)
{
    atomic_store(&closing, closing_here);
}

HOT uint32_t
unloads_last(void)
{
    return atomic_load_explicit(&last, memory_order_acquire);
}

HOT bool
unloads_are_open(void)
{
    return atomic_load_explicit(&closing, memory_order_relaxed) > 0;
}

HOT bool
unloads_are_open_elsewhere(void)
{
    return atomic_load_explicit(&closing, memory_order_relaxed) > closing_here;
}

/* Whether unload NUMBER took an address from START up to END. The note must be
 * the same before and after it is read. */
static bool
took(uint32_t number, uint64_t start, uint64_t end)
{
    struct unload *unload = &kept[number % KEPT];
    if (atomic_load(&unload->number) != number)
        return true;
    uint64_t from = atomic_load(&unload->start), to = atomic_load(&unload->end);
    return (from < end && start < to) || atomic_load(&unload->number) != number;
}

bool
unloads_took(uint64_t start, uint64_t end, uint32_t after, uint32_t until)
{
    while (after != until && until - after < 1u << 31)
        if (took(++after, start, end))
            return true;
    return false;
}
