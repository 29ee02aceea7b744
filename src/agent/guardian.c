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
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/digits.h"
#include "base/sys.h"
#include "capture/suspend.h"
#include "libc/real.h"
#include "process/threads.h"
#include "sampling/sampler_thread.h"
#include "ending_signals.h"
#include "ending_waits.h"
#include "lifecycle.h"
#include "guardian.h"

/* wait(2): the status is above the signal. */
#define SIGNAL_OF_CODE 0x7fu
#define STATUS_OF_CODE 8

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
    prctl(PR_SET_NAME, "sprof-guard");
    threads_ignore(sys_gettid());
    sampler_thread_wait_end();
    /* This is the program's last thread now, so signals come to it as to one of
     * the program. */
    REAL(pthread_sigmask)(SIG_SETMASK, &main_mask, NULL);
    return unused;
}

/* Whether the main thread has ended, and its exit code then, as wait(2) shows
 * it: the last field of /proc/self/stat (proc_pid_stat(5)). */
static bool
has_main_ended(uint32_t *code)
{
    char line[1024];
    if (sys_read_file("/proc/self/stat", line, sizeof(line)) <= 0)
        return false;
    const char *state = strrchr(line, ')'), *last = strrchr(line, ' ');
    if (state == NULL || last == NULL || strncmp(state, ") Z", 3) != 0)
        return false;
    last++;
    *code = (uint32_t)digits_take(&last);
    return true;
}

void
guardian_stand_in(bool is_single_thread)
{
    uint32_t code = 0;
    if (guardian_is_there() || !has_main_ended(&code))
        return;
    if (!is_single_thread)
        code = 0;
    lifecycle_end(END_EXIT);
    if ((code & SIGNAL_OF_CODE) != 0)
        ending_signals_die((int)(code & SIGNAL_OF_CODE));
    arch_syscall(SYS_exit, code >> STATUS_OF_CODE, 0, 0, 0, 0, 0);
}

void
guardian_start(void)
{
    pthread_t thread;
    sigset_t all;
    if (atomic_exchange(&guarded, sys_getpid()) == sys_getpid())
        return;
    ending_waits_recheck(true);
    suspend_ring();
    /* With a stack of the default size: what the program does at exit, and the
     * writing of the profile, will run on it. */
    sigfillset(&all);
    REAL(pthread_sigmask)(SIG_SETMASK, &all, &main_mask);
    if (REAL(pthread_create)(&thread, NULL, guard, NULL) == 0)
        pthread_detach(thread);
    REAL(pthread_sigmask)(SIG_SETMASK, &main_mask, NULL);
}
