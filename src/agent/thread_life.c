/* SPDX-License-Identifier: MIT */
/*
 * thread_life.c -- see thread_life.h. The start routine is entered by a tail
 * call, so that no frame of ours is on the thread's stack. The end is a
 * destructor of thread-specific data (pthread_key_create(3)), which also runs
 * at pthread_exit and cancellation; what ended goes through a ring that the
 * sampler empties. A ring that is full loses an exact end, nothing more: the
 * thread is then known by what was last seen of it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/sys.h"
#include "capture/handler.h"
#include "capture/signals.h"
#include "cpu_timer.h"
#include "lifecycle.h"
#include "mask.h"
#include "real.h"
#include "thread_life.h"

#define RING 4096u

enum ring_state { RING_FREE, RING_WRITTEN };

struct ring_entry {
    _Atomic uint32_t state; /* enum ring_state */
    struct thread_end end;
};

static struct ring_entry *ring;
static _Atomic uint64_t written;
static _Atomic uint64_t taken;
static pthread_key_t key;
static bool has_key;
static _Atomic uint64_t timer_cookie, timer_first, timer_interval;
static __thread uint64_t started_at;
static __thread bool is_last_round;

/* At the thread's end. Destructors run in rounds while any of them sets its
 * value again: ours does so once, and so comes after the program's. */
static void
note_end(void *value)
{
    if (!is_last_round) {
        is_last_round = true;
        pthread_setspecific(key, value);
        return;
    }
    pid_t tid = sys_gettid();
    cpu_timer_drop(tid);
    if (!lifecycle_is_running())
        return;
    uint64_t at = atomic_load(&written);
    do {
        if (at - atomic_load(&taken) >= RING)
            return;
    } while (!atomic_compare_exchange_weak(&written, &at, at + 1));
    struct ring_entry *entry = &ring[at % RING];
    entry->end = (struct thread_end){tid, started_at, clock_now(), clock_own()};
    atomic_store_explicit(&entry->state, RING_WRITTEN, memory_order_release);
}

void
thread_life_begin(void)
{
    ring = sys_reserve(RING * sizeof(*ring));
    has_key = ring != NULL && pthread_key_create(&key, note_end) == 0;
}

void
thread_life_reset(void)
{
    for (uint32_t i = 0; ring != NULL && i < RING; i++)
        atomic_store_explicit(&ring[i].state, RING_FREE, memory_order_relaxed);
    atomic_store(&taken, atomic_load(&written));
}

void
thread_life_use_timers(uint64_t cookie, uint64_t first, uint64_t interval)
{
    atomic_store(&timer_first, first);
    atomic_store(&timer_interval, interval);
    atomic_store(&timer_cookie, cookie);
}

bool
thread_life_next_end(struct thread_end *end)
{
    if (ring == NULL)
        return false;
    struct ring_entry *entry = &ring[atomic_load(&taken) % RING];
    if (atomic_load_explicit(&entry->state, memory_order_acquire) !=
        RING_WRITTEN)
        return false;
    *end = entry->end;
    atomic_store_explicit(&entry->state, RING_FREE, memory_order_release);
    atomic_fetch_add(&taken, 1);
    return true;
}

/* What a new thread is to do. */
struct beginning {
    void *(*start)(void *);
    void *argument;
    uint64_t blocked;
    bool has_own_mask;
};

static void
arm_timer(void)
{
    uint64_t cookie = atomic_load_explicit(&timer_cookie, memory_order_acquire);
    pid_t tid = sys_gettid();
    if (cookie != 0 && cpu_timer_make(tid, cookie) == 0)
        cpu_timer_set(tid,
                      atomic_load_explicit(&timer_first, memory_order_relaxed),
                      atomic_load_explicit(&timer_interval,
                                           memory_order_relaxed));
}

static void *
begin(void *argument)
{
    struct beginning beginning = *(struct beginning *)argument;
    free(argument);
    signals_blocked = beginning.has_own_mask ? 0 : beginning.blocked;
    if (beginning.has_own_mask)
        mask_begin();
    if (has_key && lifecycle_is_running()) {
        started_at = clock_now();
        handler_know_thread(false);
        pthread_setspecific(key, &key);
        arm_timer();
    }
    return beginning.start(beginning.argument);
}

static bool
has_mask(const pthread_attr_t *attributes)
{
    sigset_t unused;
    return attributes != NULL &&
           pthread_attr_getsigmask_np(attributes, &unused) == 0;
}

int
thread_life_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument)
{
    if (!lifecycle_is_on())
        return REAL(pthread_create)(thread, attributes, start, argument);
    struct beginning *beginning = malloc(sizeof(*beginning));
    if (beginning == NULL)
        return EAGAIN;
    *beginning = (struct beginning){.start = start,
                                    .argument = argument,
                                    .blocked = signals_blocked,
                                    .has_own_mask = has_mask(attributes)};
    int result = REAL(pthread_create)(thread, attributes, begin, beginning);
    if (result != 0)
        free(beginning);
    return result;
}
