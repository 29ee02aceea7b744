/* SPDX-License-Identifier: MIT */
/*
 * guardian.c -- the thread that leaves last; see guardian.h. It is made only
 * when a main thread leaves before others, has all signals blocked and is never
 * sampled. When it returns, glibc finds no other thread and calls exit(0).
 * Without us it would do so on the program's own last thread.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "base/sys.h"
#include "capture/ask.h"
#include "libc/real.h"
#include "process/threads.h"
#include "sampling/sampler_thread.h"
#include "ending_signals.h"
#include "guardian.h"

/* The main thread's signal mask, which the last thread is to have. */
static sigset_t main_mask;

/* The process that has a guardian: not the child of a fork. */
static _Atomic pid_t guarded;

bool
guardian_is_there(void)
{
    return atomic_load(&guarded) == sys_getpid();
}

static void *
guard(void *unused)
{
    real_prctl(PR_SET_NAME, (unsigned long)"sprof-guard", 0, 0, 0);
    threads_ignore(sys_gettid());
    sampler_thread_wait_end();
    /* This is the program's last thread now, so signals come to it as to one of
     * the program. */
    REAL(pthread_sigmask)(SIG_SETMASK, &main_mask, NULL);
    return unused;
}

void
guardian_start(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    size_t size;
    sigset_t all;
    if (atomic_exchange(&guarded, sys_getpid()) == sys_getpid())
        return;
    ending_signals_recheck(true);
    ask_ring();
    /* The stack has the default size: the program's exit handlers, and the
     * writing of the profile, will run on it. */
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &size);
    void *stack = sys_reserve_stack(size);
    if (stack != NULL)
        pthread_attr_setstack(&attributes, stack, size);
    sigfillset(&all);
    REAL(pthread_sigmask)(SIG_SETMASK, &all, &main_mask);
    if (REAL(pthread_create)(&thread, &attributes, guard, NULL) == 0)
        pthread_detach(thread);
    REAL(pthread_sigmask)(SIG_SETMASK, &main_mask, NULL);
    pthread_attr_destroy(&attributes);
}
