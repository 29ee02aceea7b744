/* SPDX-License-Identifier: MIT */
/*
 * mute_signals.c -- see mute_signals.h. An ignored signal is dropped when it is
 * sent, unless the main thread blocks it. The main thread may do so while it
 * waits for the end. So it is ignored once more before its own disposition is
 * restored, which removes pending signals (sigaction(2), POSIX: "setting a
 * signal action to SIG_IGN").
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "mute_signals.h"

static struct sys_action before[NSIG];
static uint64_t dropped;

static bool
is_kept(int signo)
{
    static const int kept[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE,
                               SIGILL,  SIGTRAP, SIGSYS,  SIGCHLD, SIGCONT,
                               SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (signo == kept[i])
            return true;
    uint64_t ours = signals_borrowed() | signals_closed() | SIGNALS_OF_LIBC;
    return (ours & signals_bit(signo)) != 0 || disposition_has_ender(signo);
}

static void
ignore(int signo)
{
    static const struct sys_action ignored = {.handler = (void *)SIG_IGN};
    (void)sys_set_action(signo, &ignored);
}

void
mute_signals_handlers(bool may_end, int signo, uint64_t *old)
{
    static const int open[] = {SIGTRAP, SIGSEGV, SIGBUS,
                               SIGFPE,  SIGILL,  SIGNALS_SETXID};
    static const int fatal[] = {SIGINT, SIGTERM, SIGHUP};
    uint64_t blocked = ~0ull;
    /* In words, because sigdelset does not know those of libc. */
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        blocked &= ~signals_bit(open[i]);
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        if (may_end && disposition_has_ender(fatal[i]))
            blocked &= ~signals_bit(fatal[i]);
    if (may_end && signo != 0)
        blocked &= ~signals_bit(signo);
    sys_mask(SIG_BLOCK, blocked, old);
}

void
mute_signals_begin(void)
{
    dropped = 0;
    for (int signo = 1; signo < NSIG; signo++)
        if (!is_kept(signo) && sys_get_action(signo, &before[signo]) == 0 &&
            before[signo].handler != (void *)SIG_IGN) {
            ignore(signo);
            dropped |= signals_bit(signo);
        }
}

void
mute_signals_end_in_child(void)
{
    for (int signo = 1; signo < NSIG; signo++)
        if ((dropped & signals_bit(signo)) != 0)
            (void)sys_set_action(signo, &before[signo]);
}

void
mute_signals_end(void)
{
    for (int signo = 1; signo < NSIG; signo++)
        if ((dropped & signals_bit(signo)) != 0)
            ignore(signo);
    mute_signals_end_in_child();
    dropped = 0;
}
