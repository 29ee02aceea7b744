/* SPDX-License-Identifier: MIT */
/*
 * signals.c -- see signals.h. What a thread has to block and to open is
 * computed from the numbers that are ours now, and from two words of the
 * thread. In a thread that has not begun yet they are 0, so nothing is done.
 * Nothing is done without thread-local words, either.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/hot.h"
#include "base/phase.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/words.h"
#include "signals.h"
#include "base/poison.h"

static HOT_STATE _Atomic uint64_t borrowed, closed, opened;
static _Atomic int numbers[SIGNALS_ROLES];

__thread volatile uint64_t signals_blocked, signals_shut;

int
signals_number(enum signals_role role)
{
    return atomic_load(&numbers[role]);
}

void
signals_set_number(enum signals_role role, int signo)
{
    atomic_store(&numbers[role], signo);
}

HOT uint64_t
signals_borrowed(void)
{
    return atomic_load_explicit(&borrowed, memory_order_relaxed);
}

HOT uint64_t
signals_closed(void)
{
    return atomic_load_explicit(&closed, memory_order_relaxed);
}

uint64_t
signals_opened(void)
{
    return atomic_load_explicit(&opened, memory_order_relaxed);
}

void
signals_add(enum signals_role role, int signo)
{
    signals_set_number(role, signo);
    atomic_fetch_or(role == SIGNALS_CONTROL ? &closed : &borrowed,
                    signals_bit(signo));
}

void
signals_remove(int signo)
{
    uint64_t bit = signals_bit(signo);
    for (int role = 0; role < SIGNALS_ROLES; role++)
        if (atomic_load(&numbers[role]) == signo)
            atomic_store(&numbers[role], 0);
    atomic_fetch_or(&opened, signals_closed() & bit);
    atomic_fetch_and(&closed, ~bit);
    atomic_fetch_and(&borrowed, ~bit);
}

/* Limit of the threads that are remembered to have opened something. */
#define OPENERS 64u
static _Atomic pid_t openers[OPENERS];
static _Atomic uint32_t opener_count;

static void
note_opener(void)
{
    uint32_t i = atomic_fetch_add(&opener_count, 1);
    if (i < OPENERS && phase_may_ask())
        atomic_store(&openers[i], sys_gettid());
}

bool
signals_has_opened(pid_t tid)
{
    uint32_t count = atomic_load(&opener_count);
    for (uint32_t i = 0; i < count && i < OPENERS; i++)
        if (atomic_load(&openers[i]) == tid)
            return true;
    return false;
}

static OF_PROCESS _Atomic bool is_shared;

void
signals_share_table(void)
{
    atomic_store(&is_shared, true);
}

bool
signals_table_is_shared(void)
{
    return atomic_load(&is_shared);
}

HOT bool
signals_are_synced(void)
{
    return (signals_shut & ~signals_closed()) == 0 &&
           (signals_blocked & ~(signals_borrowed() | signals_closed())) == 0;
}

/* Find what the thread has to block and to open, because the number is no
 * longer ours. Returns false if it has to do neither. */
static HOT bool
find_stale(uint64_t *block, uint64_t *unblock)
{
    if (!words_are_there())
        return false;
    *block = signals_blocked & ~(signals_borrowed() | signals_closed());
    *unblock = signals_shut & ~signals_closed() & ~signals_blocked;
    return !signals_are_synced();
}

/* Note that the work of find_stale is done, and that BLOCK is now blocked. */
static void
forget_stale(uint64_t block)
{
    if ((signals_shut & ~signals_closed()) != 0)
        note_opener();
    signals_shut &= signals_closed();
    signals_blocked &= ~block;
}

HOT void
signals_sync_in(ucontext_t *context)
{
    uint64_t block, unblock;
    if (!find_stale(&block, &unblock))
        return;
    signals_set_word(&context->uc_sigmask,
                     (signals_word(&context->uc_sigmask) | block) & ~unblock);
    forget_stale(block);
}

/* The thread's words change only after its mask: a signal that comes between
 * the two must still find that the thread blocks it. */
void
signals_sync_now(void)
{
    uint64_t block, unblock;
    if (!find_stale(&block, &unblock))
        return;
    sys_mask(SIG_BLOCK, block, NULL);
    sys_mask(SIG_UNBLOCK, unblock, NULL);
    forget_stale(block);
}
