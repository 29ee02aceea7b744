/* SPDX-License-Identifier: MIT */
/*
 * mute_signals.c -- see mute_signals.h. Two ways exist.
 *
 * Where the thread that ends the process is the program's only one, it holds
 * the signals: it blocks them. In the end it takes those that came from the
 * kernel, and drops them.
 *
 * Other threads do not block them, so there the signals are ignored. An ignored
 * signal is dropped when it is sent, unless the main thread blocks it. The main
 * thread may do so while it waits for the end. So it is ignored once more
 * before its own disposition is restored, which removes pending signals
 * (sigaction(2), POSIX: "setting a signal action to SIG_IGN").
 *
 * A process that shares the table of dispositions would be deaf, too, and for
 * good if this one ends before it restores them. So in that case the signals
 * are held, even in a program with several threads.
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/state.h"
#include "base/sys.h"
#include "sampling/sampler_thread.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "mute_signals.h"

static struct sys_action before[NSIG];
/* Limit in ns of the wait for programs that other threads start just now. */
#define STARTED_NS 20000000u

/* The signals for which BEFORE is valid. A thread that starts a program reads
 * it after it has counted itself (disposition_wait_for_starters). */
static OF_PROCESS _Atomic uint64_t ignored;
static uint64_t held;

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
    static const struct sys_action none = {.handler = (void *)SIG_IGN};
    (void)sys_set_action(signo, &none);
}

/* Whether the caller is the program's only thread. A directory of /proc has two
 * names of its own, and one more for each directory in it (stat(2)). */
static bool
is_alone(void)
{
    struct stat status;
    return sys_stat("/proc/self/task", &status) == 0 &&
           status.st_nlink == 3u + sampler_thread_is_there();
}

/* Remove from HELD the signals that the program itself has let wait. */
static void
hold(uint64_t muted)
{
    uint64_t pending = 0;
    sys_call(SYS_rt_sigpending, &pending, sizeof(pending));
    held = muted & ~pending;
}

void
mute_signals_handlers(bool may_end, int signo, uint64_t *old)
{
    static const int open[] = {SIGTRAP, SIGSEGV, SIGBUS,
                               SIGFPE,  SIGILL,  SIGNALS_SETXID};
    static const int fatal[] = {SIGINT, SIGTERM, SIGHUP};
    uint64_t blocked = ~0ull;
    /* Words, because sigdelset does not know libc's own signals. */
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
    uint64_t muted = 0;
    ignored = held = 0;
    for (int signo = 1; signo < NSIG; signo++)
        if (!is_kept(signo) && sys_get_action(signo, &before[signo]) == 0 &&
            before[signo].handler != (void *)SIG_IGN)
            muted |= signals_bit(signo);
    if (signals_table_is_shared() || is_alone()) {
        hold(muted);
        return;
    }
    ignored = muted;
    disposition_wait_for_starters(STARTED_NS);
    for (int signo = 1; signo < NSIG; signo++)
        if ((ignored & signals_bit(signo)) != 0)
            ignore(signo);
}

bool
mute_signals_are_ignored(void)
{
    return ignored != 0;
}

static void
restore(void)
{
    for (int signo = 1; signo < NSIG; signo++)
        if ((ignored & signals_bit(signo)) != 0)
            (void)sys_set_action(signo, &before[signo]);
}

void
mute_signals_end_in_child(void)
{
    struct sys_action now;
    for (int signo = 1; signo < NSIG; signo++)
        if ((ignored & signals_bit(signo)) != 0 &&
            sys_get_action(signo, &now) == 0 && now.handler == (void *)SIG_IGN)
            (void)sys_set_action(signo, &before[signo]);
}

void
mute_signals_end(void)
{
    static const struct timespec now = {0, 0};
    while (sys_call(SYS_rt_sigtimedwait, &held, 0, &now, sizeof(held)) > 0)
        continue;
    for (int signo = 1; signo < NSIG; signo++)
        if ((ignored & signals_bit(signo)) != 0)
            ignore(signo);
    /* IGNORED stays as it is, for children with a copy of the table. */
    restore();
}
