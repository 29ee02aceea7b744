/* SPDX-License-Identifier: MIT */
/*
 * guardian.c -- the thread that leaves last; see guardian.h. It is made only
 * when a main thread leaves before others, has all signals blocked and is never
 * sampled. When it returns, glibc finds no other thread and calls exit(0), as
 * it would have done on the program's own last thread.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/sys.h"
#include "capture/suspend.h"
#include "target/threads.h"
#include "guardian.h"
#include "real.h"
#include "sampler.h"

/* The main thread's, which the last thread is to have. */
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
    prctl(PR_SET_NAME, "sprof-guard");
    threads_ignore(sys_gettid());
    sampler_wait_end();
    /* Now we stand for the program's last thread: signals are its own again. */
    REAL(pthread_sigmask)(SIG_SETMASK, &main_mask, NULL);
    return unused;
}

void
guardian_start(void)
{
    pthread_t thread;
    sigset_t all;
    if (atomic_exchange(&guarded, sys_getpid()) == sys_getpid())
        return;
    suspend_ring();
    /* With a stack of the default size: what the program does at exit, and the
     * writing of the profile, will run on it. */
    sigfillset(&all);
    REAL(pthread_sigmask)(SIG_SETMASK, &all, &main_mask);
    if (REAL(pthread_create)(&thread, NULL, guard, NULL) == 0)
        pthread_detach(thread);
    REAL(pthread_sigmask)(SIG_SETMASK, &main_mask, NULL);
}
