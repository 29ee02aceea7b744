/* SPDX-License-Identifier: MIT */
/*
 * settle.c -- see settle.h. What the thread has done so far is in a
 * thread-local word; all else is computed from what signals.h says now.
 */
#include <stddef.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "settle.h"
#include "signals.h"
#include "poison.h"

/* Of signals_opened, what the thread has opened. */
static __thread volatile uint64_t opened_here;

void
settle_begin_thread(void)
{
    opened_here = signals_opened();
}

bool
settle_is_done(void)
{
    return (signals_opened() & ~opened_here) == 0 &&
           (signals_blocked & ~(signals_borrowed() | signals_closed())) == 0;
}

/* What the thread has to block and to open, because it is ours no more, and
 * believes no more. False if there is nothing to do. */
static bool
take_stale(uint64_t *block, uint64_t *unblock)
{
    *block = signals_blocked & ~(signals_borrowed() | signals_closed());
    *unblock = signals_opened() & ~opened_here;
    if ((*block | *unblock) == 0)
        return false;
    opened_here |= *unblock;
    *unblock &= ~signals_blocked;
    signals_blocked &= ~*block;
    return true;
}

void
settle_in(ucontext_t *context)
{
    uint64_t block, unblock;
    if (take_stale(&block, &unblock))
        signals_set_word(&context->uc_sigmask,
                         (signals_word(&context->uc_sigmask) | block) &
                             ~unblock);
}

void
settle_now(void)
{
    uint64_t block, unblock;
    if (!take_stale(&block, &unblock))
        return;
    arch_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&block, 0, sizeof(block),
                 0, 0);
    arch_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&unblock, 0,
                 sizeof(unblock), 0, 0);
}
