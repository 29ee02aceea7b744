/* SPDX-License-Identifier: MIT */
/*
 * mask.c -- what the program believes of its signal masks; see mask.h. The
 * belief is one thread-local word in the handler's file, because the handler
 * reads it; the calls here run on the program's own threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/sys.h"
#include "capture/handler.h"
#include "lifecycle.h"
#include "mask.h"
#include "real.h"

/* The program unblocks our signal's number: what was held comes now. */
static void
release_held(int signo)
{
    if (handler_thread_mask.blocks || !handler_thread_mask.held)
        return;
    handler_thread_mask.held = false;
    arch_syscall(SYS_tgkill, sys_getpid(), sys_gettid(), signo, 0, 0, 0);
}

int
mask_change(int how, const sigset_t *set, sigset_t *old)
{
    int signo = lifecycle_signal();
    bool blocked = handler_thread_mask.blocks;
    sigset_t real;
    bool names = false;
    if (signo == 0)
        return real_pthread_sigmask(how, set, old);
    if (set != NULL) {
        real = *set;
        names = sigismember(set, signo) == 1;
        sigdelset(&real, signo);
    }
    int result = real_pthread_sigmask(how, set != NULL ? &real : NULL, old);
    if (result != 0)
        return result;
    if (old != NULL && blocked)
        sigaddset(old, signo);
    if (set == NULL)
        return 0;
    if (how == SIG_SETMASK)
        handler_thread_mask.blocks = names;
    else if (names)
        handler_thread_mask.blocks = how == SIG_BLOCK;
    release_held(signo);
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
mask_begin(int signo)
{
    sigset_t now;
    if (real_pthread_sigmask(SIG_BLOCK, NULL, &now) != 0 ||
        sigismember(&now, signo) != 1)
        return;
    handler_thread_mask.blocks = true;
    change_real(SIG_UNBLOCK, signo);
}

/* A thread whose creator blocks our signal starts here. */
struct inheritance {
    void *(*start)(void *);
    void *argument;
};

static void *
start_blocking(void *argument)
{
    struct inheritance inheritance = *(struct inheritance *)argument;
    free(argument);
    handler_thread_mask.blocks = true;
    return inheritance.start(inheritance.argument);
}

int
mask_create_thread(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument)
{
    if (lifecycle_signal() == 0 || !handler_thread_mask.blocks)
        return real_pthread_create(thread, attributes, start, argument);
    struct inheritance *inheritance = malloc(sizeof(*inheritance));
    if (inheritance == NULL)
        return EAGAIN;
    *inheritance = (struct inheritance){start, argument};
    int result =
        real_pthread_create(thread, attributes, start_blocking, inheritance);
    if (result != 0)
        free(inheritance);
    return result;
}

void
mask_before_exec(void)
{
    if (lifecycle_signal() != 0 && handler_thread_mask.blocks)
        change_real(SIG_BLOCK, lifecycle_signal());
}

void
mask_after_failed_exec(void)
{
    if (lifecycle_signal() != 0 && handler_thread_mask.blocks)
        change_real(SIG_UNBLOCK, lifecycle_signal());
}
