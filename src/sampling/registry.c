/* SPDX-License-Identifier: MIT */
/*
 * registry.c -- see registry.h. The threads that the sampler does not know yet
 * are a linked list. A thread puts itself in front. The sampler takes the whole
 * list at once.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/scheduling.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "capture/shared.h"
#include "process/threads.h"
#include "registry.h"

struct entry {
    _Atomic uint64_t time; /* 0: not registered */
    uint64_t clock;        /* valid if the time is not 0 */
    _Atomic uint32_t is_new;
    pid_t next; /* in the list of new threads; 0: the last one */
};

static struct entry *entries; /* one for each possible tid */
static OF_PROCESS bool is_renewed;
static OF_PROCESS _Atomic pid_t newest;
static OF_PROCESS pid_t taken; /* what the sampler has taken of the list */

/* A signal handler may interrupt this and register the same thread. It then
 * finds the thread marked as new, so the list is changed once. */
static void
put_in_front(struct entry *entry, pid_t tid)
{
    if (atomic_exchange(&entry->is_new, 1) != 0)
        return;
    pid_t front = atomic_load(&newest);
    do
        entry->next = front;
    while (!atomic_compare_exchange_weak(&newest, &front, tid));
}

/* Register the calling thread, from the moment when its CPU clock was CLOCK.
 */
static void
add(uint64_t clock)
{
    pid_t tid = sys_gettid();
    bool is_again = shared_is_registered;
    shared_is_registered = true;
    if (entries == NULL || (uint32_t)tid >= THREADS_TIDS)
        return;
    struct entry *entry = &entries[tid];
    if (is_again && atomic_load(&entry->time) != 0)
        return;
    entry->clock = clock;
    atomic_store(&entry->time, clock_now() - (clock_own() - clock));
    put_in_front(entry, tid);
}

int
registry_begin(const struct settings *settings)
{
    if (!settings_registered_only(settings))
        return 0;
    if (!is_renewed) {
        entries = sys_renew(entries, THREADS_TIDS * sizeof(*entries));
        if (entries == NULL)
            return -1;
        is_renewed = true;
    }
    /* A child has one thread, which was registered from its beginning. */
    if (shared_is_registered)
        add(settings->is_child ? 0 : clock_own());
    return 0;
}

void
registry_add_caller(void)
{
    add(clock_own());
    if (entries == NULL)
        return;
    scheduling_hurry();
    ask_ring();
}

bool
registry_find(pid_t tid, struct registry_moment *since)
{
    if (entries == NULL || (uint32_t)tid >= THREADS_TIDS)
        return false;
    since->time = atomic_load(&entries[tid].time);
    since->clock = entries[tid].clock;
    return since->time != 0;
}

pid_t
registry_next(void)
{
    if (taken == 0 && atomic_load_explicit(&newest, memory_order_relaxed) != 0)
        taken = atomic_exchange(&newest, 0);
    pid_t tid = taken;
    if (tid == 0)
        return 0;
    taken = entries[tid].next;
    atomic_store(&entries[tid].is_new, 0);
    return tid;
}

void
registry_remove(pid_t tid)
{
    if (entries != NULL && (uint32_t)tid < THREADS_TIDS)
        atomic_store(&entries[tid].time, 0);
}
