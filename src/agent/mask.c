/* SPDX-License-Identifier: MIT */
/*
 * mask.c -- what the program believes of its signal masks; see mask.h. The
 * belief is a thread-local word in the handler's file, because the handler
 * reads it; the calls here run on the program's own threads.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/sys.h"
#include "capture/handler.h"
#include "lifecycle.h"
#include "mask.h"
#include "real.h"

/* The number of our I-th signal, 0 if it is not used. */
static int
number_of(int i)
{
    return handler_shared.signals[i].signo;
}

/* The program unblocks one of our numbers: what was held comes now. */
static void
release_held(int i)
{
    if (handler_thread_mask.blocks[i] || !handler_thread_mask.held[i])
        return;
    handler_thread_mask.held[i] = false;
    arch_syscall(SYS_tgkill, sys_getpid(), sys_gettid(), number_of(i), 0, 0, 0);
}

/* Take note of what SET, applied as HOW says, means for our I-th signal. */
static void
believe(int i, int how, const sigset_t *set)
{
    bool names = sigismember(set, number_of(i)) == 1;
    if (how == SIG_SETMASK)
        handler_thread_mask.blocks[i] = names;
    else if (names)
        handler_thread_mask.blocks[i] = how == SIG_BLOCK;
    release_held(i);
}

int
mask_change(int how, const sigset_t *set, sigset_t *old)
{
    struct handler_thread_mask before = handler_thread_mask;
    sigset_t given, real;
    if (!lifecycle_is_on())
        return real_pthread_sigmask(how, set, old);
    /* SET and OLD may be the same. */
    if (set != NULL) {
        given = real = *set;
        for (int i = 0; i < HANDLER_SIGNALS; i++)
            if (number_of(i) != 0)
                sigdelset(&real, number_of(i));
    }
    int result = real_pthread_sigmask(how, set != NULL ? &real : NULL, old);
    if (result != 0)
        return result;
    for (int i = 0; i < HANDLER_SIGNALS; i++) {
        if (number_of(i) == 0)
            continue;
        if (old != NULL && before.blocks[i])
            sigaddset(old, number_of(i));
        if (set != NULL)
            believe(i, how, &given);
    }
    return 0;
}

static void
change_real(int how, int signo)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signo);
    real_pthread_sigmask(how, &one, NULL);
}

void
mask_begin(void)
{
    sigset_t now;
    if (real_pthread_sigmask(SIG_BLOCK, NULL, &now) != 0)
        return;
    for (int i = 0; i < HANDLER_SIGNALS; i++) {
        if (number_of(i) == 0 || sigismember(&now, number_of(i)) != 1)
            continue;
        handler_thread_mask.blocks[i] = true;
        change_real(SIG_UNBLOCK, number_of(i));
    }
}

/* Make the mask what the program believes it to be, or no longer. */
static void
change_believed(int how)
{
    for (int i = 0; lifecycle_is_on() && i < HANDLER_SIGNALS; i++)
        if (number_of(i) != 0 && handler_thread_mask.blocks[i])
            change_real(how, number_of(i));
}

void
mask_before_exec(void)
{
    change_believed(SIG_BLOCK);
}

void
mask_after_failed_exec(void)
{
    change_believed(SIG_UNBLOCK);
}
