/* SPDX-License-Identifier: MIT */
/*
 * settle.c -- see settle.h. All is computed from what signals.h says now and
 * two words of the thread, which are 0 in a thread that has not begun yet: then
 * nothing is done, as where there are no such words.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/sys.h"
#include "base/words.h"
#include "settle.h"
#include "signals.h"
#include "poison.h"

__thread volatile uint64_t settle_shut;

/* Threads that have opened something; beyond these nobody remembers. */
#define OPENERS 64u
static _Atomic pid_t openers[OPENERS];
static _Atomic uint32_t opener_count;

static void
note_opener(void)
{
    uint32_t i = atomic_fetch_add(&opener_count, 1);
    if (i < OPENERS)
        atomic_store(&openers[i], sys_gettid());
}

bool
settle_has_opened(pid_t tid)
{
    uint32_t count = atomic_load(&opener_count);
    for (uint32_t i = 0; i < count && i < OPENERS; i++)
        if (atomic_load(&openers[i]) == tid)
            return true;
    return false;
}

bool
settle_is_done(void)
{
    return (settle_shut & ~signals_closed()) == 0 &&
           (signals_blocked & ~(signals_borrowed() | signals_closed())) == 0;
}

/* What the thread has to block and to open, because it is ours no more, and
 * believes no more. False if there is nothing to do. */
static bool
find_stale(uint64_t *block, uint64_t *unblock)
{
    if (!words_are_there())
        return false;
    *block = signals_blocked & ~(signals_borrowed() | signals_closed());
    *unblock = settle_shut & ~signals_closed() & ~signals_blocked;
    return !settle_is_done();
}

/* What was found is done. */
static void
forget_stale(uint64_t block)
{
    if ((settle_shut & ~signals_closed()) != 0)
        note_opener();
    settle_shut &= signals_closed();
    signals_blocked &= ~block;
}

void
settle_in(ucontext_t *context)
{
    uint64_t block, unblock;
    if (!find_stale(&block, &unblock))
        return;
    signals_set_word(&context->uc_sigmask,
                     (signals_word(&context->uc_sigmask) | block) & ~unblock);
    forget_stale(block);
}

/* Forgotten only when it is done: a signal that comes between the two must
 * still find that the thread blocks it. */
void
settle_now(void)
{
    uint64_t block, unblock;
    if (!find_stale(&block, &unblock))
        return;
    arch_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&block, 0, sizeof(block),
                 0, 0);
    arch_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&unblock, 0,
                 sizeof(unblock), 0, 0);
    forget_stale(block);
}
