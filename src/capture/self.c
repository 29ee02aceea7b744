/* SPDX-License-Identifier: MIT */
/*
 * self.c -- see self.h. Any thread, also in the handler: no allocation, no
 * lock.
 *
 * The hard thing is a tid that is used again: the table of labels still has
 * what its earlier owner had. A thread's own words begin as zeros, so one that
 * does not know its tid never set a label, and clears the place when it asks.
 */
#include <stddef.h>

#include "base/sys.h"
#include "self.h"
#include "poison.h"

static __thread pid_t own_tid; /* 0: not asked for yet */
static _Atomic(_Atomic uint32_t *) labels;
static uint32_t label_count;

void
self_use_labels(_Atomic uint32_t *table, uint32_t count)
{
    label_count = count;
    atomic_store_explicit(&labels, table, memory_order_release);
}

/* Threads that were made one after the other have neighbouring tids, and would
 * take the cache line of 16 places from each other with each label that they
 * set. So tids in a row are in lines in a row: bits 0 to 9 of a tid choose the
 * line, bits 10 to 13 the place in it. */
static uint32_t
index_of(uint32_t tid)
{
    return (tid & ~0x3fffu) | (tid & 0x3ffu) << 4 | (tid >> 10 & 0xfu);
}

_Atomic uint32_t *
self_label_place_of(pid_t tid)
{
    _Atomic uint32_t *table =
        atomic_load_explicit(&labels, memory_order_acquire);
    return table != NULL && (uint32_t)tid < label_count
               ? &table[index_of((uint32_t)tid)]
               : NULL;
}

uint32_t
self_label_of(pid_t tid)
{
    _Atomic uint32_t *place = tid != 0 ? self_label_place_of(tid) : NULL;
    return place != NULL ? atomic_load_explicit(place, memory_order_relaxed)
                         : 0;
}

uint32_t
self_label(void)
{
    return self_label_of(own_tid);
}

void
self_begin(void)
{
    pid_t tid = sys_gettid();
    _Atomic uint32_t *place = self_label_place_of(tid);
    if (place != NULL)
        atomic_store_explicit(place, self_label(), memory_order_relaxed);
    own_tid = tid;
}

pid_t
self_tid(void)
{
    if (own_tid == 0)
        self_begin();
    return own_tid;
}

_Atomic uint32_t *
self_label_place(void)
{
    return atomic_load_explicit(&labels, memory_order_relaxed) != NULL
               ? self_label_place_of(self_tid())
               : NULL;
}
