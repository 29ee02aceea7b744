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

static _Atomic uint32_t *
place_of(pid_t tid)
{
    _Atomic uint32_t *table =
        atomic_load_explicit(&labels, memory_order_acquire);
    return table != NULL && (uint32_t)tid < label_count ? &table[tid] : NULL;
}

uint32_t
self_label(void)
{
    _Atomic uint32_t *place = own_tid != 0 ? place_of(own_tid) : NULL;
    return place != NULL ? atomic_load_explicit(place, memory_order_relaxed)
                         : 0;
}

void
self_begin(void)
{
    pid_t tid = sys_gettid();
    _Atomic uint32_t *place = place_of(tid);
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
               ? place_of(self_tid())
               : NULL;
}
