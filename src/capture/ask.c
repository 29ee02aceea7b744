/* SPDX-License-Identifier: MIT */
/* ask.c -- see ask.h. It runs in any thread; ask_ring also in handlers. */
#include <linux/errno.h>

#include "base/clock.h"
#include "base/sys.h"
#include "signals/cookie.h"
#include "signals/signals.h"
#include "shared.h"
#include "ask.h"
#include "base/poison.h"

int
ask_thread(uint32_t index, pid_t tid, uint32_t sequence)
{
    uint64_t cookie = cookie_make(index, sequence);
    int signo = signals_number(SIGNALS_ASK);
    if (signo == 0)
        return -EAGAIN;
    atomic_store(&shared.threads[index].asked, sequence + 1);
    return (int)cookie_send(tid, signo, cookie);
}

enum loss
ask_refusal(uint32_t index, uint32_t sequence)
{
    uint32_t refused = atomic_load(&shared.threads[index].refused);
    return (refused & COOKIE_MASK) == sequence ? refused >> COOKIE_BITS
                                               : LOSS_COUNT;
}

void
ask_set_stack(uint32_t index, uint64_t low, uint64_t high, uint64_t pointer)
{
    struct shared_thread *thread = &shared.threads[index];
    uint32_t version =
        atomic_load_explicit(&thread->version, memory_order_relaxed);
    atomic_store_explicit(&thread->version, version + 1, memory_order_relaxed);
    /* This and the last store pair with note_stack of fill.c. */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&thread->low, low, memory_order_relaxed);
    atomic_store_explicit(&thread->root, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->rested_clock, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->pointer, pointer, memory_order_relaxed);
    atomic_store_explicit(&thread->high, high, memory_order_relaxed);
    atomic_store_explicit(&thread->version, version + 2, memory_order_release);
}

void
ask_set_period(uint64_t period)
{
    atomic_store_explicit(&shared.period, period, memory_order_relaxed);
}

void
ask_spare(pid_t tid)
{
    atomic_store(&shared.ender, tid);
}

void
ask_freeze_sampled(void)
{
    atomic_store(&shared.frozen, SHARED_FROZEN);
}

bool
ask_keeps_at(uint64_t address)
{
    return address == (uint64_t)(uintptr_t)&shared.frozen;
}

void
ask_freeze(pid_t tid)
{
    atomic_store(&shared.frozen, SHARED_FROZEN);
    (void)cookie_order(tid, COOKIE_FREEZE);
}

void
ask_thaw(bool is_late)
{
    atomic_store(&shared.thawed, clock_now());
    atomic_store(&shared.frozen, is_late ? SHARED_THAWING : SHARED_FREE);
    sys_futex_wake(&shared.frozen, 1 << 30);
}

void
ask_ring(void)
{
    atomic_fetch_add(&shared.bell, 1);
    sys_futex_wake(&shared.bell, 1);
}
