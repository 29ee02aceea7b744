/* SPDX-License-Identifier: MIT */
/*
 * thread_local.c -- see thread_local.h. It runs in any thread, also in
 * handlers, so it allocates nothing and takes no lock.
 *
 * The hard thing is a tid that is used again: the table of labels still has the
 * labels of its earlier owner. A thread's own words begin as zeros. So a thread
 * that does not know its tid has never set a label. It clears the place when it
 * asks for the tid.
 */
#include <stddef.h>

#include "hot.h"
#include "sys.h"
#include "thread_local.h"
#include "poison.h"

static __thread pid_t own_tid; /* 0: the kernel was not asked yet */
static HOT_STATE _Atomic(_Atomic uint32_t *) labels;
static HOT_STATE uint32_t label_count;

void
thread_local_use_labels(_Atomic uint32_t *table, uint32_t count)
{
    label_count = count;
    atomic_store_explicit(&labels, table, memory_order_release);
}

/* Place of TID in the table. Threads that were made one after another have
 * neighbouring tids. In neighbouring places they would share a cache line of 16
 * places, and fight for it with each label. So neighbouring tids have
 * neighbouring lines. Bits 0 to 9 of a tid choose the line, bits 10 to 13 the
 * place in it. */
static uint32_t
index_of(uint32_t tid)
{
    return (tid & ~0x3fffu) | (tid & 0x3ffu) << 4 | (tid >> 10 & 0xfu);
}

HOT _Atomic uint32_t *
thread_local_label_place_of(pid_t tid)
{
    _Atomic uint32_t *table =
        atomic_load_explicit(&labels, memory_order_acquire);
    return table != NULL && (uint32_t)tid < label_count
               ? &table[index_of((uint32_t)tid)]
               : NULL;
}

HOT uint32_t
thread_local_label_of(pid_t tid)
{
    _Atomic uint32_t *place =
        tid != 0 ? thread_local_label_place_of(tid) : NULL;
    return place != NULL ? atomic_load_explicit(place, memory_order_relaxed)
                         : 0;
}

HOT uint32_t
thread_local_label(void)
{
    return thread_local_label_of(own_tid);
}

void
thread_local_begin(void)
{
    pid_t tid = sys_gettid();
    _Atomic uint32_t *place = thread_local_label_place_of(tid);
    if (place != NULL)
        atomic_store_explicit(place, thread_local_label(),
                              memory_order_relaxed);
    own_tid = tid;
}

HOT pid_t
thread_local_tid(void)
{
    if (own_tid == 0)
        thread_local_begin();
    return own_tid;
}

_Atomic uint32_t *
thread_local_label_place(void)
{
    return atomic_load_explicit(&labels, memory_order_relaxed) != NULL
               ? thread_local_label_place_of(thread_local_tid())
               : NULL;
}
