/* SPDX-License-Identifier: MIT */
/*
 * hooks_signal.c -- the functions of libc that change dispositions and masks.
 * The program sees and sets its own; signals/signals.h and mask.h decide which
 * of them are real. The functions of 4.2BSD and System V are here too, because
 * inside libc they go around sigaction and sigprocmask. Those that wait are in
 * hooks_wait.c.
 *
 * Not here: a mask that is changed by syscall(2), which is noticed and reported
 * (trigger.c); and siglongjmp, which restores only the real mask.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "agent/ending_signals.h"
#include "base/phase.h"
#include "base/sys.h"
#include "base/words.h"
#include "signals/stray.h"
#include "libc/real.h"
#include "signals/handlers.h"
#include "signals/mask.h"
#include "signals/mask_sync.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "hook.h"

/* Whether dispositions may differ from those of the kernel. */
static bool
are_actions_kept(void)
{
    return phase_is_on() && phase_is_own();
}

HOOK int
sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    if (!are_actions_kept()) {
        int result = REAL(sigaction)(signo, action, old);
        if (result == 0 && old != NULL)
            disposition_show(signo, old);
        return result;
    }
    if (action != NULL && signals_is_handler(action))
        mask_name_in_handler(&action->sa_mask);
    int result = disposition_action(signo, action, old);
    /* A number that the sampler has given back must come to this thread from
     * now on. */
    mask_sync_now();
    return result;
}

static bool
is_action_kept(int signo)
{
    return are_actions_kept() && (disposition_role(signo) != SIGNALS_NONE ||
                                  handlers_are_kept(signo));
}

/* From its first member to its last. */
static bool
can_read_action(const struct sys_action *action)
{
    return sys_can_read_set(action) && sys_can_read_set(&action->mask);
}

bool
hook_signal_by_number(int signo, const struct sys_action *action,
                      struct sys_action *old, long *result)
{
    struct sigaction given, before;
    struct sys_action now;
    if (!is_action_kept(signo) || (action != NULL && !can_read_action(action)))
        return false;
    if (action != NULL)
        given = signals_of_kernel(action);
    *result = sigaction(signo, action != NULL ? &given : NULL, &before);
    if (*result != 0 || old == NULL)
        return true;
    if (!sys_can_write_set(old) || !sys_can_write_set(&old->mask)) {
        errno = EFAULT;
        *result = -1;
        return true;
    }
    if (sys_get_action(signo, &now) != 0)
        return true;
    *old = signals_for_kernel(&before);
    old->restorer = signals_is_handler(&before) ? now.restorer : NULL;
    return true;
}

/* Whether the older functions must not set the disposition of SIGNO unseen. If
 * they may, what is known of its mask is out of date. */
static bool
is_kept(int signo)
{
    if (is_action_kept(signo))
        return true;
    handlers_forget(signo);
    return false;
}

/* sigaction for a handler and flags alone; returns the old handler. */
static __sighandler_t
change_handler(int signo, __sighandler_t handler, int flags, bool blocks_itself)
{
    struct sigaction action, old;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (blocks_itself)
        (void)sigaddset(&action.sa_mask, signo);
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return sigaction(signo, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

HOOK __sighandler_t
signal(int signo, __sighandler_t handler)
{
    if (is_kept(signo))
        return change_handler(signo, handler, SA_RESTART, true);
    return REAL(signal)(signo, handler);
}

__sighandler_t bsd_signal(int, __sighandler_t);

HOOK __sighandler_t
bsd_signal(int signo, __sighandler_t handler)
{
    return signal(signo, handler);
}

HOOK __sighandler_t
ssignal(int signo, __sighandler_t handler)
{
    return signal(signo, handler);
}

HOOK __sighandler_t
sysv_signal(int signo, __sighandler_t handler)
{
    if (is_kept(signo))
        return change_handler(signo, handler, (int)SA_RESETHAND | SA_NODEFER,
                              false);
    return REAL(sysv_signal)(signo, handler);
}

/* What <signal.h> makes of signal without _DEFAULT_SOURCE. */
HOOK __sighandler_t
__sysv_signal(int signo, __sighandler_t handler)
{
    return sysv_signal(signo, handler);
}

HOOK int
siginterrupt(int signo, int interrupts)
{
    struct sigaction action;
    if (!is_kept(signo))
        return ((int (*)(int, int))real_find(REAL_siginterrupt))(signo,
                                                                 interrupts);
    (void)sigaction(signo, NULL, &action);
    action.sa_flags &= ~SA_RESTART;
    if (!interrupts)
        action.sa_flags |= SA_RESTART;
    return sigaction(signo, &action, NULL);
}

HOOK int
sigignore(int signo)
{
    if (!is_kept(signo))
        return ((int (*)(int))real_find(REAL_sigignore))(signo);
    return change_handler(signo, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

void
hook_after_mask(void)
{
    /* In a program with one thread, no other thread asks. */
    if (handlers_are_kept(SIGHUP) && words_are_there())
        stray_note_own_mask();
    ending_signals_recheck(false);
}

static int
change_mask(int how, const sigset_t *set, sigset_t *old)
{
    int error = mask_change(how, set, old, REAL(pthread_sigmask));
    if (set != NULL)
        hook_after_mask();
    return error;
}

HOOK int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(how, set, old);
}

HOOK int
sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = change_mask(how, set, old);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* Block or unblock SIGNO. Returns whether it was blocked, -1 with errno. */
static int
change_one(int how, int signo)
{
    sigset_t set, old;
    sigemptyset(&set);
    if (sigaddset(&set, signo) != 0 || sigprocmask(how, &set, &old) != 0)
        return -1;
    return sigismember(&old, signo);
}

HOOK int
sighold(int signo)
{
    return change_one(SIG_BLOCK, signo) < 0 ? -1 : 0;
}

HOOK int
sigrelse(int signo)
{
    return change_one(SIG_UNBLOCK, signo) < 0 ? -1 : 0;
}

HOOK __sighandler_t
sigset(int signo, __sighandler_t handler)
{
    struct sigaction old;
    if (!is_kept(signo))
        return ((__typeof__(&signal))real_find(REAL_sigset))(signo, handler);
    (void)sigaction(signo, NULL, &old);
    int was_blocked = 0;
    if (handler == SIG_HOLD) {
        was_blocked = change_one(SIG_BLOCK, signo);
    } else if (change_handler(signo, handler, 0, false) == SIG_ERR) {
        return SIG_ERR;
    } else {
        was_blocked = change_one(SIG_UNBLOCK, signo);
    }
    return was_blocked ? SIG_HOLD : old.sa_handler;
}

/* Masks of 32 signals in an int. */
static int
change_first_32(int how, int mask)
{
    sigset_t set, old;
    uint32_t first;
    sigemptyset(&set);
    memcpy(&set, &mask, sizeof(mask));
    if (sigprocmask(how, &set, &old) != 0)
        return -1;
    memcpy(&first, &old, sizeof(first));
    return (int)first;
}

HOOK int
sigblock(int mask)
{
    return change_first_32(SIG_BLOCK, mask);
}

HOOK int
sigsetmask(int mask)
{
    return change_first_32(SIG_SETMASK, mask);
}
