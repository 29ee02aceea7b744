/* SPDX-License-Identifier: MIT */
/*
 * mask.c -- what the program believes of its signal masks; see mask.h. The
 * belief of a thread is one thread-local word, signals_blocked.
 *
 * The hard thing is a child that shares our memory (vfork) or has a copy of it
 * that nobody told us of (clone by system call): its masks are its own, but the
 * word is not. There the mask is made real before the first change, and after
 * that the word is not looked at.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/sys.h"
#include "capture/interrupted.h"
#include "capture/signals.h"
#include "lifecycle.h"
#include "mask.h"
#include "real.h"

/* A set with so many members means all, not each. */
#define NEARLY_ALL 32

/* The child, if this thread or its copy is one, whose mask is real. */
static __thread volatile pid_t real_in;

static int
change_real(int how, uint64_t bits)
{
    sigset_t set;
    sigemptyset(&set);
    signals_set_word(&set, bits);
    return bits != 0 || how == SIG_SETMASK
               ? REAL(pthread_sigmask)(how, &set, NULL)
               : 0;
}

/* In a process that is not ours: the kernel's mask is made what the program
 * believes. Returns whether it is that now. */
static bool
is_real(void)
{
    pid_t pid = sys_getpid();
    if (lifecycle_is_own())
        return false;
    if (real_in != pid)
        (void)change_real(SIG_BLOCK, signals_blocked);
    real_in = pid;
    return true;
}

/* What SET, applied as HOW says, means for the numbers OURS. */
static void
believe(int how, const sigset_t *set, uint64_t ours)
{
    uint64_t named = signals_word(set) & ours;
    if (how == SIG_BLOCK)
        signals_blocked |= named;
    else if (how == SIG_UNBLOCK)
        signals_blocked &= ~named;
    else
        signals_blocked = named;
}

int
mask_change(int how, const sigset_t *set, sigset_t *old)
{
    uint64_t ours = signals_borrowed();
    uint64_t named = set != NULL ? signals_word(set) & ours : 0;
    if ((named | signals_blocked) == 0 || !lifecycle_is_on() || is_real())
        return REAL(pthread_sigmask)(how, set, old);
    signals_settle();
    uint64_t before = signals_blocked;
    sigset_t given;
    /* SET and OLD may be the same. */
    if (set != NULL)
        given = *set;
    sigset_t changed = given;
    if (how != SIG_UNBLOCK)
        signals_set_word(&changed, signals_word(&given) & ~ours);
    int result = REAL(pthread_sigmask)(how, set != NULL ? &changed : NULL, old);
    if (result != 0)
        return result;
    if (old != NULL)
        signals_set_word(old, signals_word(old) | before);
    if (set != NULL)
        believe(how, &given, ours);
    return 0;
}

void
mask_begin(void)
{
    sigset_t now;
    if (REAL(pthread_sigmask)(SIG_BLOCK, NULL, &now) != 0)
        return;
    uint64_t inherited = signals_word(&now) & signals_borrowed();
    (void)change_real(SIG_UNBLOCK, inherited);
    signals_blocked |= inherited;
}

void
mask_before_exec(void)
{
    int saved = errno;
    if (lifecycle_is_on()) {
        bool is_own = !is_real();
        if (is_own)
            (void)change_real(SIG_BLOCK, signals_blocked);
        signals_before_exec(is_own);
    }
    errno = saved;
}

void
mask_after_failed_exec(void)
{
    int saved = errno;
    if (lifecycle_is_on() && lifecycle_is_own()) {
        signals_after_failed_exec();
        signals_settle();
        (void)change_real(SIG_UNBLOCK, signals_blocked);
    }
    errno = saved;
}

void
mask_before_birth(void)
{
    signals_settle();
    (void)change_real(SIG_BLOCK, signals_blocked);
}

void
mask_after_birth(void)
{
    int saved = errno;
    (void)change_real(SIG_UNBLOCK, signals_blocked & signals_borrowed());
    signals_settle();
    errno = saved;
}

/* Of the numbers that the thread blocks, those that the program handles and
 * now waits for: it must find them pending. */
static void
give_back_awaited(uint64_t open)
{
    for (int signo = 1; open != 0 && signo < NSIG; signo++)
        if ((open & signals_bit(signo)) != 0 && signals_has_handler(signo))
            (void)signals_give_back(signo);
}

void
mask_enter_wait(const sigset_t *set, struct mask_wait *before)
{
    if (set != NULL)
        give_back_awaited(signals_blocked & ~signals_word(set));
    signals_settle();
    before->blocked = signals_blocked;
    before->outer = interrupted_wait;
    if (set == NULL)
        return;
    if (signals_blocked != 0)
        signals_blocked = signals_word(set) & signals_borrowed();
    interrupted_wait.is_left = false;
    interrupted_wait.mask = signals_word(set);
    interrupted_wait.stack = (uint64_t)__builtin_frame_address(0);
    interrupted_wait.is_on = lifecycle_is_on();
}

void
mask_leave_wait(const struct mask_wait *before)
{
    int saved = errno;
    interrupted_wait.is_on = false;
    if (interrupted_wait.is_left)
        (void)change_real(SIG_SETMASK, interrupted_wait.original);
    interrupted_wait = before->outer;
    signals_blocked = before->blocked;
    errno = saved;
}

void
mask_take_interest(const sigset_t *set, sigset_t *rest)
{
    uint64_t wanted = signals_word(set);
    bool is_all = __builtin_popcountll(wanted) >= NEARLY_ALL;
    *rest = *set;
    if ((wanted & signals_borrowed()) == 0 || !lifecycle_is_on() || is_real())
        return;
    for (int signo = 1; signo < NSIG; signo++)
        if ((wanted & signals_borrowed() & signals_bit(signo)) != 0 &&
            (!is_all || signo == SIGPROF))
            (void)signals_give_back(signo);
    signals_settle();
    signals_set_word(rest, wanted & ~signals_borrowed());
}

void
mask_end(void)
{
    signals_end();
    real_in = 0;
}
