/* SPDX-License-Identifier: MIT */
/*
 * filter.c -- see filter.h. The child shares our memory, and the caller waits
 * until it has ended; so what it has tried is known without a further call. It
 * reports its end by no signal.
 *
 * The hard thing is that wait4(2) may kill, too. So it is the first call that
 * the child tries, and a child that dies of it is not reaped.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/arch.h"
#include "base/proc.h"
#include "base/sys.h"
#include "libc/real.h"
#include "filter.h"

#define MODE_FILTER 2u /* SECCOMP_MODE_FILTER */

#define STACK_SIZE 16384u

/* What the process does by itself. What writes the profile is a process of its
 * own. */
#define CALL(name)        \
    {                     \
        SYS_##name, #name \
    }
static const struct {
    long number;
    const char *name;
} calls[] = {
    CALL(wait4),
    {ARCH_CALL_ARCH_PRCTL, "arch_prctl"},
    CALL(capget),
    CALL(capset),
    CALL(chdir),
    CALL(clock_getres),
    CALL(clock_gettime),
    CALL(clock_nanosleep),
    CALL(clone),
    CALL(clone3),
    CALL(close),
    CALL(close_range),
    CALL(dup3),
    CALL(execve),
    CALL(faccessat2),
    CALL(fallocate),
    CALL(fchmod),
    CALL(fchown),
    CALL(fcntl),
    CALL(fdatasync),
    CALL(flock),
    CALL(fstat),
    CALL(ftruncate),
    CALL(futex),
    CALL(getcwd),
    CALL(getdents64),
    CALL(geteuid),
    CALL(getpgid),
    CALL(getpid),
    CALL(getppid),
    CALL(getrandom),
    CALL(getrusage),
    CALL(gettid),
    CALL(ioctl),
    CALL(kill),
    CALL(linkat),
    CALL(lseek),
    CALL(madvise),
    CALL(mincore),
    CALL(mmap),
    CALL(mprotect),
    CALL(munmap),
    CALL(newfstatat),
    CALL(openat),
    CALL(perf_event_open),
    CALL(pidfd_getfd),
    CALL(pidfd_open),
    CALL(pipe2),
    {ARCH_CALL_POLL, "poll"},
    CALL(ppoll),
    CALL(prctl),
    CALL(pread64),
    CALL(prlimit64),
    CALL(process_vm_readv),
    CALL(pwrite64),
    CALL(pwritev),
    CALL(read),
    CALL(readlinkat),
    CALL(renameat2),
    CALL(rseq),
    CALL(rt_sigaction),
    CALL(rt_sigpending),
    CALL(rt_sigprocmask),
    CALL(rt_sigqueueinfo),
    CALL(rt_sigtimedwait),
    CALL(rt_tgsigqueueinfo),
    CALL(sched_getattr),
    CALL(sched_getscheduler),
    CALL(sched_setattr),
    CALL(sched_setaffinity),
    CALL(set_robust_list),
    CALL(sigaltstack),
    {ARCH_CALL_STAT, "stat"},
    CALL(symlinkat),
    CALL(tgkill),
    CALL(timer_create),
    CALL(timer_delete),
    CALL(timer_settime),
    CALL(uname),
    CALL(unlinkat),
    CALL(unshare),
    CALL(write),
};
#define COUNT (sizeof(calls) / sizeof(calls[0]))

struct trial {
    _Atomic size_t passed; /* number of calls */
    _Alignas(16) char stack[STACK_SIZE];
};

/* The mode that the kernel tells of the main thread, which is the caller: the
 * folder of a thread would be made for that (30 us). */
static bool
has_filter(void)
{
    char status[4096];
    return proc_read(0, PROC_PROCESS, "/status", status, sizeof(status)) > 0 &&
           proc_number(proc_status_line(status, "Seccomp")) == MODE_FILTER;
}

/* No core file of the child. 1 is what one that is piped to a program takes for
 * that (core(5)). */
static void
leave_no_core(void)
{
    struct rlimit limit;
    if (arch_syscall(SYS_prlimit64, 0, RLIMIT_CORE, 0, (long)&limit, 0, 0) != 0)
        return;
    limit.rlim_cur = limit.rlim_max > 0 ? 1 : 0;
    arch_syscall(SYS_prlimit64, 0, RLIMIT_CORE, (long)&limit, 0, 0, 0);
}

/* In the child. No call takes an argument of -1, be it an address, a
 * descriptor, a size, a number or a set of flags. */
static int
try_all(void *argument)
{
    struct trial *trial = argument;
    leave_no_core();
    for (size_t i = 0; i < COUNT; i++) {
        arch_syscall(calls[i].number, -1, -1, -1, -1, -1, -1);
        atomic_store(&trial->passed, i + 1);
    }
    return 0;
}

/* All signals wait meanwhile. */
static long
run_child(struct trial *trial)
{
    uint64_t old = 0;
    sys_mask(SIG_BLOCK, UINT64_MAX, &old);
    pid_t pid = real_libc.clone(try_all, trial->stack + STACK_SIZE,
                                CLONE_VM | CLONE_VFORK | CLONE_UNTRACED, trial);
    if (pid > 0 && atomic_load(&trial->passed) > 0)
        arch_syscall(SYS_wait4, pid, 0, __WALL, 0, 0, 0);
    sys_mask(SIG_SETMASK, old, NULL);
    return pid;
}

const char *
filter_forbids(void)
{
    if (!has_filter())
        return NULL;
    /* Where the child is a copy (emulators), it shares this all the same. */
    long memory =
        sys_map(sizeof(struct trial), MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory < 0)
        return NULL;
    struct trial *trial = (struct trial *)memory;
    size_t passed = run_child(trial) > 0 ? atomic_load(&trial->passed) : COUNT;
    sys_release(trial, sizeof(*trial));
    return passed < COUNT ? calls[passed].name : NULL;
}
