/* SPDX-License-Identifier: MIT */
/*
 * mask_sync.c -- see mask_sync.h. All is computed from what signals.h says now,
 * and from two words of the thread. These are 0 in a thread that has not begun
 * yet: then nothing is done. Nor is anything done where there are no
 * thread-local words.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/phase.h"
#include "base/sys.h"
#include "base/words.h"
#include "signals.h"
#include "mask_sync.h"
#include "base/poison.h"

__thread volatile uint64_t mask_sync_shut;

/* Number of threads that are remembered to have opened something. More are not.
 */
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
mask_sync_has_opened(pid_t tid)
{
    uint32_t count = atomic_load(&opener_count);
    for (uint32_t i = 0; i < count && i < OPENERS; i++)
        if (atomic_load(&openers[i]) == tid)
            return true;
    return false;
}

bool
mask_sync_is_done(void)
{
    return (mask_sync_shut & ~signals_closed()) == 0 &&
           (signals_blocked & ~(signals_borrowed() | signals_closed())) == 0;
}

/* Find what the thread has to block and to open, because the number is no
 * longer ours. Returns false if there is nothing to do. */
static bool
find_stale(uint64_t *block, uint64_t *unblock)
{
    if (!words_are_there())
        return false;
    *block = signals_blocked & ~(signals_borrowed() | signals_closed());
    *unblock = mask_sync_shut & ~signals_closed() & ~signals_blocked;
    return !mask_sync_is_done();
}

/* Note that what find_stale found is done, of which BLOCK was blocked. */
static void
forget_stale(uint64_t block)
{
    if ((mask_sync_shut & ~signals_closed()) != 0)
        note_opener();
    mask_sync_shut &= signals_closed();
    signals_blocked &= ~block;
}

void
mask_sync_in(ucontext_t *context)
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
mask_sync_now(void)
{
    uint64_t block, unblock;
    if (!find_stale(&block, &unblock))
        return;
    sys_mask(SIG_BLOCK, block, NULL);
    sys_mask(SIG_UNBLOCK, unblock, NULL);
    forget_stale(block);
}
