/* SPDX-License-Identifier: MIT */
/*
 * sampler_thread.c -- see sampler_thread.h. The thread is made with a real
 * pthread_create, so that it has the control block that libc expects of a
 * thread. Nothing that is set here changes the program's threads.
 */
#include <errno.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/phase.h"
#include "base/scheduling.h"
#include "base/state.h"
#include "base/sys.h"
#include "libc/real.h"
#include "single_thread.h"
#include "sampler_thread.h"

/* Bytes of the stack. */
#define STACK_SIZE (256u << 10)

/* Period, in ns, below which the timer slack is lowered. By default the kernel
 * wakes a thread up to 50 us late, to save wake-ups (prctl(2),
 * PR_SET_TIMERSLACK); that is much of a short period. */
#define SHORT_PERIOD_NS 500000u

/* Time in ns for which the last thread waits for the sampler's thread, which
 * has left its loop, to be gone. */
#define GONE_NS 10000000000u

/* ns after which a thread that waits checks whether the sampler still exists.
 */
#define LOOK_NS 50000000u

/* ns between two checks whether the kernel has removed the thread. */
#define POLL_NS 50000u

static OF_PROFILE _Atomic pid_t own_tid; /* set as soon as the thread runs */
static OF_PROFILE _Atomic bool is_launched;
static OF_PROFILE _Atomic uint32_t stopped;

static int
make_thread(void *(*main)(void *))
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
    error = real_libc.pthread_create(&thread, &attributes, main, NULL);
    if (is_single)
        single_thread_believe(true);
    REAL(pthread_sigmask)(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    errno = error;
    return error == 0 ? 0 : -1;
}

int
sampler_thread_start(void *(*main)(void *))
{
    return atomic_exchange(&is_launched, true) ? -1 : make_thread(main);
}

bool
sampler_thread_is_launched(void)
{
    return atomic_load(&is_launched);
}

/* This is for a child that ends among its fork handlers: there is no thread to
 * wait for. */
void
sampler_thread_give_up(void)
{
    if (!atomic_exchange(&is_launched, true))
        atomic_store(&stopped, 1);
}

void
sampler_thread_leave(void)
{
    atomic_store(&stopped, 1);
    sys_futex_wake(&stopped, 1 << 30);
}

bool
sampler_thread_has_left(void)
{
    return atomic_load(&stopped) != 0;
}

/* A filter of the program (seccomp(2)) may have ended the thread. */
bool
sampler_thread_is_there(void)
{
    pid_t tid = atomic_load(&own_tid);
    return sampler_thread_is_launched() && !sampler_thread_has_left() &&
           (tid == 0 ||
            arch_syscall(SYS_tgkill, phase_process(), tid, 0, 0, 0, 0) == 0);
}

bool
sampler_thread_is_caller(void)
{
    return sys_gettid() == atomic_load(&own_tid);
}

bool
sampler_thread_wait_for(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    uint64_t left = ns, now = clock_now();
    uint32_t seen;
    while ((seen = atomic_load(word)) != value && left > 0) {
        uint64_t before = now, most = left < LOOK_NS ? left : LOOK_NS;
        sys_futex_wait(word, seen, before + most);
        now = clock_now();
        left -= now - before < most ? now - before : most;
        if (now - before >= most && !sampler_thread_is_there())
            break;
    }
    bool is_done = atomic_load(word) == value;
    return is_done || (left == 0 && !clock_expires(0));
}

bool
sampler_thread_wait(uint64_t ns)
{
    return sampler_thread_wait_for(&stopped, 1, ns);
}

bool
sampler_thread_wait_gone(uint64_t ns)
{
    uint64_t until = clock_now() + ns;
    pid_t tid = atomic_load(&own_tid);
    while (arch_syscall(SYS_tgkill, phase_process(), tid, 0, 0, 0, 0) == 0) {
        if (clock_expires(until))
            return false;
        sys_futex_wait(&stopped, 1, clock_now() + POLL_NS);
    }
    return true;
}

void
sampler_thread_wait_end(void)
{
    while (sampler_thread_is_there())
        sys_futex_wait(&stopped, 0, clock_now() + LOOK_NS);
    (void)sampler_thread_wait_gone(GONE_NS);
}

/* close_range(2), Linux 5.9. */
static bool
close_all(unsigned flags)
{
    return arch_syscall(SYS_close_range, 0, ~0u, flags, 0, 0, 0) == 0;
}

/* unshare(2) itself, not our hook. */
static bool
leave_shared(int what)
{
    return arch_syscall(SYS_unshare, what, 0, 0, 0, 0, 0) == 0;
}

/*
 * Give the sampler a descriptor table and a directory of its own. The program
 * neither sees nor closes what the sampler opens, and RLIMIT_NOFILE does not
 * count it. A chroot of the program does not separate the sampler from /proc.
 *
 * Inherited descriptors are closed: a pipe that the program closes must be
 * closed. The directory is left: a file system that the program leaves can be
 * unmounted. All our paths begin with "/". One call does both where the kernel
 * has it (close_range(2), Linux 5.9), so that no copy of a descriptor outlives
 * it.
 */
static bool
part_from_files(void)
{
    bool has_own = close_all(CLOSE_RANGE_UNSHARE);
    if (!has_own && leave_shared(CLONE_FILES)) {
        has_own = true;
        (void)close_all(0);
    }
    if (leave_shared(CLONE_FS))
        (void)!chdir("/");
    return has_own;
}

bool
sampler_thread_settle(uint64_t period)
{
    atomic_store(&own_tid, sys_gettid());
    arch_syscall(SYS_prctl, PR_SET_NAME, (long)"sprof", 0, 0, 0, 0);
    bool has_own = part_from_files();
    if (period < SHORT_PERIOD_NS)
        arch_syscall(SYS_prctl, PR_SET_TIMERSLACK, (long)(period / 10), 0, 0, 0,
                     0);
    scheduling_begin();
    return has_own;
}
