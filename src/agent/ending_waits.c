/* SPDX-License-Identifier: MIT */
/*
 * ending_waits.c -- see ending_waits.h. What a thread blocks is asked of the
 * kernel: a thread that waits with sigtimedwait(2) has opened what it waits
 * for, and is known by that call (proc_pid_syscall(5)).
 */
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/digits.h"
#include "base/phase.h"
#include "base/proc.h"
#include "base/sys.h"
#include "signals/disposition.h"
#include "signals/sigwait.h"
#include "signals/stray.h"
#include "signals/signals.h"
#include "ending_signals.h"
#include "ending_waits.h"

/* Signals that a descriptor was made for but does not get now. */
static _Atomic uint64_t missing;

static uint64_t
own_mask(void)
{
    uint64_t mask = 0;
    sys_mask(SIG_BLOCK, 0, &mask);
    return mask;
}

/* The signals in WORD that have our handler in place of the default action. */
static uint64_t
find_fatal(uint64_t word)
{
    uint64_t found = 0;
    for (int signo = 1; signo < NSIG; signo++)
        if ((word & signals_bit(signo)) != 0 && disposition_has_ender(signo))
            found |= signals_bit(signo);
    return found;
}

/* Whether the main thread waits for SIGNO, and so blocks it but for that. */
static bool
does_main_wait(int signo)
{
    static const char call[] = "128 0x"; /* SYS_rt_sigtimedwait */
    char line[256];
    uint64_t word = 0;
    if (proc_read(0, sys_getpid(), "/syscall", line, sizeof(line)) <= 0)
        return false;
    for (size_t i = 0; i < sizeof(call) - 1; i++)
        if (line[i] != call[i])
            return false;
    const char *at = line + sizeof(call) - 1;
    return sys_read_memory(&word, digits_take_hex(&at), sizeof(word)) ==
               (long)sizeof(word) &&
           (word & signals_bit(signo)) != 0;
}

/* While the main thread begins and ends to wait, the mask that was last noted
 * says more than one look. */
static bool
would_end(int signo)
{
    return (stray_noted_mask() & signals_bit(signo)) == 0 &&
           stray_is_taken_by_main(signo) && !does_main_wait(signo);
}

void
ending_waits_begin(const sigset_t *set, sigset_t *mine)
{
    *mine = *set;
    uint64_t word = signals_word(set);
    uint64_t fatal = phase_is_running() ? find_fatal(word) : 0;
    if (fatal != 0)
        signals_set_word(mine, word & ~(fatal & ~own_mask()));
}

bool
ending_waits_ends(int signo, siginfo_t *info)
{
    if (!phase_is_running() || !disposition_has_ender(signo) ||
        !stray_is_for_process(info) || !would_end(signo))
        return false;
    ending_signals_take(signo, info);
    return true;
}

void
ending_waits_descriptor(const sigset_t *set, sigset_t *mine)
{
    ending_waits_begin(set, mine);
    uint64_t word = signals_word(mine);
    uint64_t fatal = phase_is_running() ? find_fatal(word) : 0;
    for (int signo = 1; fatal != 0 && signo < NSIG; signo++)
        if ((fatal & signals_bit(signo)) != 0 && would_end(signo))
            word &= ~signals_bit(signo);
    atomic_fetch_or(&missing, signals_word(set) & ~word);
    signals_set_word(mine, word);
}

void
ending_waits_recheck(bool is_left)
{
    uint64_t word = atomic_load_explicit(&missing, memory_order_relaxed);
    if (word == 0 || !phase_is_own())
        return;
    if (!is_left)
        word &= own_mask();
    for (int signo = 1; word != 0 && signo < NSIG; signo++) {
        uint64_t bit = signals_bit(signo);
        if ((word & bit) == 0 || (!is_left && would_end(signo)))
            continue;
        atomic_fetch_and(&missing, ~bit);
        sigwait_come(signo);
    }
}
