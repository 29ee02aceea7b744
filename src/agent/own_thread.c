/* SPDX-License-Identifier: MIT */
/*
 * own_thread.c -- see own_thread.h. Made with the real pthread_create, so that
 * it has the control block that libc expects of a thread; nothing that is set
 * here changes the program's threads.
 */
#include <errno.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "own_thread.h"
#include "real.h"
#include "single_thread.h"

#define STACK_SIZE (256u << 10)
#define SLICE_NS 100000u
#define NICE (-20)

/* The kernel wakes a thread up to 50 us late, to save wake-ups (prctl(2),
 * PR_SET_TIMERSLACK); that is much of a short period. */
#define SHORT_PERIOD_NS 500000u

int
own_thread_start(void *(*main)(void *))
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, old;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        errno = error;
        return -1;
    }
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    REAL(pthread_sigmask)(SIG_SETMASK, &all, &old);
    bool is_single = single_thread_is_believed();
    error = REAL(pthread_create)(&thread, &attributes, main, NULL);
    if (is_single)
        single_thread_believe();
    REAL(pthread_sigmask)(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    errno = error;
    return error == 0 ? 0 : -1;
}

/* struct sched_attr, sched_setattr(2). */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* As the program's thread has it that made ours; SIZE 0: not known. */
static struct scheduling inherited;

/* The scheduler's shortest slice makes a short errand run early; kernels before
 * 6.12 ignore it. */
static void
shorten_slice(void)
{
    struct scheduling own = {.size = sizeof(own)};
    inherited.size = 0;
    if (syscall(SYS_sched_getattr, 0, &own, sizeof(own), 0) != 0 ||
        own.policy != 0)
        return;
    inherited = own;
    own.runtime = SLICE_NS;
    /* A higher weight, where the process may have it: the later an instant is
     * sampled, the more it depends on when the program left a CPU free. */
    own.nice = NICE;
    if (syscall(SYS_sched_setattr, 0, &own, 0) == 0)
        return;
    own.nice = inherited.nice;
    (void)syscall(SYS_sched_setattr, 0, &own, 0);
}

void
own_thread_give_way(void)
{
    struct scheduling now = {.size = sizeof(now)};
    if (inherited.size != 0 && inherited.nice != NICE &&
        arch_syscall(SYS_sched_getattr, 0, (long)&now, sizeof(now), 0, 0, 0) ==
            0 &&
        now.nice == NICE)
        arch_syscall(SYS_sched_setattr, 0, (long)&inherited, 0, 0, 0, 0);
}

/* unshare(2), which has a hook. */
static bool
leave(int what)
{
    return arch_syscall(SYS_unshare, what, 0, 0, 0, 0, 0) == 0;
}

/* A descriptor table and a directory of its own: what the sampler opens, the
 * program neither sees, nor closes, nor has counted against RLIMIT_NOFILE; and
 * a chroot of the program does not part it from /proc. What was inherited is
 * left: a pipe that the program closes must be closed, and a file system whose
 * directory it leaves can be unmounted. All our paths begin with "/". In one
 * call, where the kernel has that (close_range(2), Linux 5.9), so that no copy
 * of a descriptor outlives it. unshare(2). */
static bool
part_from_files(void)
{
    bool has_own = syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0;
    if (!has_own && leave(CLONE_FILES)) {
        has_own = true;
        syscall(SYS_close_range, 0u, ~0u, 0u);
    }
    if (leave(CLONE_FS))
        (void)!chdir("/");
    return has_own;
}

bool
own_thread_settle(uint64_t period)
{
    prctl(PR_SET_NAME, "sprof");
    bool has_own = part_from_files();
    if (period < SHORT_PERIOD_NS)
        prctl(PR_SET_TIMERSLACK, period / 10);
    shorten_slice();
    return has_own;
}
