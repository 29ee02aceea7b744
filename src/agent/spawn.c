/* SPDX-License-Identifier: MIT */
/*
 * spawn.c -- runs a child that leaves no trace; see spawn.h. The kernel has
 * every process that executed a program send SIGCHLD at its end (exec.c). Any
 * thread of the program that waits may find it. So we start a go-between, which
 * shares our memory, has no exit signal and never executes. Only a wait for its
 * pid with __WALL finds it, and a tracer does not see it (CLONE_UNTRACED). It
 * starts the child as its own, and stays until the child is gone. Both make
 * system calls only. The child shares our memory, too, until it has executed
 * (CLONE_VFORK).
 *
 * The hard thing is RUSAGE_CHILDREN, which an exec keeps: a wait for the
 * go-between adds its CPU time, and our whole memory as its largest size. A
 * child is not counted only if its exit signal is SIGCHLD and its parent
 * ignores that (exit.c, do_notify_parent). So the go-between is such a child if
 * no other child can end and no other thread can wait meanwhile. SIGCHLD is
 * ignored for the moment in which it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/scheduling.h"
#include "base/state.h"
#include "base/sys.h"
#include "libc/real.h"
#include "process/status.h"
#include "sampling/sampler_thread.h"
#include "signals/signals.h"
#include "mute_signals.h"
#include "spawn.h"

#define STACK_SIZE (64u << 10)

/*
 * The process that is started, up to its exec. It shares our memory until then,
 * and makes only system calls. It inherits the program's limits, descriptors,
 * signals and current directory, which may all disturb the child's program.
 */
struct spawn_child {
    const char *const *arguments; /* the first is the program */
    int output;                   /* becomes its standard output */
    int message; /* and this its standard error, unless it is -1 */
    int error;   /* errno of the failure, 0 if it runs */
    char *stack;
    _Atomic uint32_t is_started; /* or it has failed */
};

#define LIMITS 6

#define KEPT_MAX 16
#define ARGUMENTS_MAX 64 /* for the dynamic linker */

/* If the program is killed, SIGALRM ends the child after CHILD_SECONDS. */
#define CHILD_SECONDS 600

/* Variables that the child keeps: those that name places of files, and the
 * program's name in a fleet (write/otlp.c). LD_PRELOAD is not kept: the child
 * is not profiled. */
static const char *const wanted[] = {
    "LD_LIBRARY_PATH=",         "DEBUGINFOD_", "HOME=",
    "XDG_CACHE_HOME=",          "TMPDIR=",     "OTEL_SERVICE_NAME=",
    "OTEL_RESOURCE_ATTRIBUTES="};
static char kept_text[8192];
static char *kept[KEPT_MAX + 1];
static char directory[PATH_MAX]; /* the directory of relative names in them */

static bool
is_kept_variable(const char *variable)
{
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (strncmp(variable, wanted[i], strlen(wanted[i])) == 0)
            return true;
    return false;
}

void
spawn_begin(char *const environment[])
{
    (void)!getcwd(directory, sizeof(directory));
    size_t used = 0, count = 0;
    for (; *environment != NULL && count < KEPT_MAX; environment++) {
        size_t size = strlen(*environment) + 1;
        if (!is_kept_variable(*environment) || size > sizeof(kept_text) - used)
            continue;
        kept[count++] = memcpy(kept_text + used, *environment, size);
        used += size;
    }
}

/* Limits of the program that the child raises as far as it may. */
static const int lifted[LIMITS] = {RLIMIT_NOFILE, RLIMIT_AS,    RLIMIT_DATA,
                                   RLIMIT_STACK,  RLIMIT_NPROC, RLIMIT_FSIZE};

/* Raise soft limits of the calling process to the hard ones; put_limits_back
 * restores those that were BEFORE. */
static void
lift_limits(struct rlimit before[LIMITS])
{
    for (size_t i = 0; i < LIMITS; i++) {
        before[i] = (struct rlimit){.rlim_cur = RLIM_INFINITY};
        (void)arch_syscall(SYS_prlimit64, 0, lifted[i], 0, (long)&before[i], 0,
                           0);
        struct rlimit limit = {before[i].rlim_max, before[i].rlim_max};
        if (before[i].rlim_cur < before[i].rlim_max)
            (void)arch_syscall(SYS_prlimit64, 0, lifted[i], (long)&limit, 0, 0,
                               0);
    }
}

static void
put_limits_back(const struct rlimit before[LIMITS])
{
    for (size_t i = 0; i < LIMITS; i++)
        if (before[i].rlim_cur < before[i].rlim_max)
            (void)arch_syscall(SYS_prlimit64, 0, lifted[i], (long)&before[i], 0,
                               0, 0);
}

/* FD becomes TO, and stays open. */
static long
move_descriptor(int fd, int to)
{
    long result = fd == to ? to : arch_syscall(SYS_dup3, fd, to, 0, 0, 0, 0);
    arch_syscall(SYS_fcntl, to, F_SETFD, 0, 0, 0, 0);
    return result;
}

/* Give the child OUTPUT as its standard output, MESSAGE as its standard error,
 * and nothing else: a pipe of the program must close when the program ends.
 * Without MESSAGE its messages do not reach the program's standard error. */
static long
settle_descriptors(int output, int message)
{
    long null, result = move_descriptor(output, STDOUT_FILENO);
    if (message >= 0)
        (void)move_descriptor(message, STDERR_FILENO);
    arch_syscall(SYS_close_range,
                 message >= 0 ? STDERR_FILENO + 1 : STDERR_FILENO, ~0u, 0, 0, 0,
                 0);
    arch_syscall(SYS_close, STDIN_FILENO, 0, 0, 0, 0, 0);
    do
        null = arch_syscall(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0,
                            0, 0);
    while (null >= 0 && null < (message >= 0 ? STDIN_FILENO : STDERR_FILENO));
    return result;
}

/* The disposition of SIGCHLD. */
static void
set_for_children(void (*handler)(int))
{
    struct sys_action action = {.handler = (void *)handler};
    sys_set_action(SIGCHLD, &action);
}

/* Execute the child's program. Where the file may be read but not executed, the
 * dynamic linker runs it with the same arguments (ld.so(8)). Returns a negative
 * errno. */
static long
execute(const struct spawn_child *child)
{
    const char *arguments[ARGUMENTS_MAX + 1] = {ARCH_DYNAMIC_LINKER};
    long result = arch_syscall(SYS_execve, (long)child->arguments[0],
                               (long)child->arguments, (long)kept, 0, 0, 0);
    if (result != -EACCES ||
        arch_syscall(SYS_faccessat, AT_FDCWD, (long)child->arguments[0], R_OK,
                     0, 0, 0) != 0)
        return result;
    for (size_t i = 0; child->arguments[i] != NULL; i++) {
        if (i + 2 > ARGUMENTS_MAX)
            return result;
        arguments[i + 1] = child->arguments[i];
    }
    (void)arch_syscall(SYS_execve, (long)arguments[0], (long)arguments,
                       (long)kept, 0, 0, 0);
    return result;
}

/* Run the process from its start to its exec, on its own stack. ARGUMENT is a
 * struct spawn_child; its ERROR is set if the exec fails. Does not return. For
 * clone(2). The child, on its own stack in our memory. All signals are blocked,
 * so that no handler of the program runs here, and stay so: a Ctrl-C is for the
 * program. */
static int
run_child(void *argument)
{
    struct spawn_child *child = argument;
    struct rlimit unused[LIMITS];
    struct itimerval life = {.it_value.tv_sec = CHILD_SECONDS};
    sys_mask(SIG_SETMASK, ~(1ull << (SIGALRM - 1)), NULL);
    mute_signals_end_in_child();
    /* The program may ignore the ends of its children. */
    set_for_children(SIG_DFL);
    scheduling_give_way();
    lift_limits(unused);
    (void)arch_syscall(SYS_chdir, (long)directory, 0, 0, 0, 0, 0);
    long result = settle_descriptors(child->output, child->message);
    arch_syscall(SYS_setitimer, ITIMER_REAL, (long)&life, 0, 0, 0, 0);
    if (result >= 0)
        result = execute(child);
    child->error = (int)-result;
    arch_syscall(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    return 127;
}

/* Longest wait for a child that was killed, in ns: it may hang in the
 * kernel. */
#define REAP_NS 1000000000u
#define REAP_STEP_NS 1000000u

/* A go-between that may not end yet looks after this time, in ns, whether we
 * are gone. */
#define DISMISS_NS 10000000u

/* The running child; 0: none. */
static OF_PROFILE _Atomic pid_t running;

/* The go-between sets OVER when its child is gone; we set that it may end. Not
 * used by one that may always end. */
enum between { BETWEEN_FREE, BETWEEN_BOUND, BETWEEN_OVER, BETWEEN_DISMISSED };
static OF_PROCESS _Atomic uint32_t between;

/* Whether the child is gone, as its go-between reports: at the lower end of a
 * child's STACK, which is never reached. */
static _Atomic uint32_t *
gone_word(char *stack)
{
    return (_Atomic uint32_t *)(void *)stack;
}

/* Start the child itself. Returns its pid or -1. */
static pid_t
clone_child(struct spawn_child *child, int exit_signal)
{
    pid_t pid = real_libc.clone(run_child, child->stack + STACK_SIZE,
                                CLONE_VM | CLONE_VFORK | exit_signal, child);
    if (pid < 0)
        child->error = EAGAIN;
    else
        atomic_store(&running, pid);
    atomic_store(&child->is_started, 1);
    sys_futex_wake(&child->is_started, 1);
    return pid;
}

/* The go-between's child, which had STACK, is gone. PARENT is us. */
static void
wait_for_dismissal(long parent, char *stack)
{
    uint32_t bound = BETWEEN_BOUND;
    atomic_compare_exchange_strong(&between, &bound, BETWEEN_OVER);
    atomic_store(gone_word(stack), 1);
    sys_futex_wake(gone_word(stack), 1);
    while (atomic_load(&between) == BETWEEN_OVER &&
           arch_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0) == parent)
        sys_futex_wait(&between, BETWEEN_OVER, clock_now() + DISMISS_NS);
}

/* The go-between, but not under valgrind, which knows no such thing. It ignores
 * its children's ends: so their CPU time is not added to the program's
 * (RUSAGE_CHILDREN), and a wait ends when they are gone.
 */
static int
run_between(void *argument)
{
    struct spawn_child *child = argument;
    char *stack = child->stack;
    int output = child->output;
    long parent = arch_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
    set_for_children(SIG_IGN);
    (void)clone_child(child, SIGCHLD);
    /* Our descriptors are copies: the pipe must close when the child ends, even
     * if this call is forbidden or missing (Linux 5.9). */
    if (arch_syscall(SYS_close_range, 0, ~0u, 0, 0, 0, 0) < 0)
        sys_close(output);
    while (arch_syscall(SYS_wait4, -1, 0, __WALL, 0, 0, 0) == -EINTR)
        ;
    wait_for_dismissal(parent, stack);
    arch_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
    return 0;
}

/* Whether the program has a child that it could wait for. */
static bool
has_children(void)
{
    siginfo_t unused;
    return arch_syscall(SYS_waitid, P_ALL, 0, (long)&unused,
                        WEXITED | WNOHANG | WNOWAIT | __WALL, 0, 0) != -ECHILD;
}

/* Whether the program has one thread, no child that it could wait for, and no
 * signal of one: then no child of it can end meanwhile. */
static bool
is_program_alone(void)
{
    struct status status;
    return sampler_thread_is_caller() &&
           status_read(sys_getpid(), &status) == 0 && status.threads == 2 &&
           (status.pending & signals_bit(SIGCHLD)) == 0 && !has_children();
}

/* Let the go-between PID, whose child is gone, end while its end is ignored.
 * The wait finds no child, and returns when the go-between is gone. A SIGCHLD
 * that was sent meanwhile, and is pending for the program, would be lost; then
 * the end is counted. */
static void
dismiss(pid_t pid)
{
    struct sys_action before;
    uint64_t pending = 0;
    /* Of the sampler, which blocks all, these are the process's own. */
    arch_syscall(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0,
                 0);
    bool is_ignored = (pending & signals_bit(SIGCHLD)) == 0 &&
                      sys_get_action(SIGCHLD, &before) == 0;
    if (is_ignored)
        set_for_children(SIG_IGN);
    atomic_store(&between, BETWEEN_DISMISSED);
    sys_futex_wake(&between, 1);
    while (arch_syscall(SYS_wait4, pid, 0, __WALL, 0, 0, 0) == -EINTR)
        ;
    if (is_ignored)
        sys_set_action(SIGCHLD, &before);
}

/* An emulator cannot make a go-between: qemu-user makes children of fork and
 * threads, and refuses all else with EINVAL. There, make a child like the
 * program's own, and ignore the ends of children meanwhile. Do not if the
 * program has children. */
static pid_t
clone_plain(struct spawned *spawned, struct spawn_child *child)
{
    if (has_children() || sys_get_action(SIGCHLD, &spawned->before) != 0)
        return -1;
    spawned->is_plain = true;
    set_for_children(SIG_IGN);
    return clone_child(child, SIGCHLD);
}

/* Start CHILD, with a STACK that is two. Returns the go-between's pid, or -1
 * with errno. */
static pid_t
start_child(struct spawned *spawned, struct spawn_child *child)
{
    bool is_hidden = spawned->is_hidden;
    uint64_t old = 0;
    atomic_store(&between, is_hidden ? BETWEEN_BOUND : BETWEEN_FREE);
    sys_mask(SIG_SETMASK, UINT64_MAX, &old);
    pid_t pid =
        arch_is_simulated()
            ? clone_child(child, 0)
            : real_libc.clone(run_between, child->stack + 2 * STACK_SIZE,
                              CLONE_VM | CLONE_UNTRACED |
                                  (is_hidden ? SIGCHLD : 0),
                              child);
    if (pid < 0 && errno == EINVAL)
        pid = clone_plain(spawned, child);
    int error = errno;
    while (pid > 0 && atomic_load(&child->is_started) == 0)
        sys_futex_wait(&child->is_started, 0, UINT64_MAX);
    sys_mask(SIG_SETMASK, old, NULL);
    errno = error;
    return pid;
}

void
spawn_kill(void)
{
    pid_t pid = atomic_load(&running);
    if (pid != 0)
        arch_syscall(SYS_kill, pid, SIGKILL, 0, 0, 0, 0);
}

/* Wait for something to read, MS at most, and read it. The pipe is closed at
 * its end, when the buffer is full, or at the deadline. */
static void
read_some(struct spawned *spawned, long ms)
{
    struct pollfd event = {.fd = spawned->fd, .events = POLLIN};
    size_t room = spawned->size - 1 - spawned->length;
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
    long got = arch_syscall(SYS_ppoll, (long)&event, 1, (long)&wait, 0, 0, 0);
    if (got > 0)
        got = sys_read(spawned->fd, spawned->answer + spawned->length, room);
    else if (got == 0 && clock_now() < spawned->until)
        return;
    if (got == -EINTR)
        return;
    if (got > 0) {
        spawned->length += (size_t)got;
        spawned->answer[spawned->length] = '\0';
        if (spawned->length + 1 < spawned->size)
            return;
    }
    sys_close(spawned->fd);
    spawned->fd = -1;
}

/* Wait a moment, or less if the child ends in it. Then the go-between only has
 * to end, too, or waits for its dismissal. */
static void
wait_a_moment(const struct spawned *spawned)
{
    _Atomic uint32_t *gone = gone_word(spawned->stack);
    sys_futex_wait(gone, 0, clock_now() + REAP_STEP_NS);
    if (atomic_load(gone) != 0 && !spawned->is_hidden)
        while (arch_syscall(SYS_wait4, spawned->pid, 0, __WALL, 0, 0, 0) ==
               -EINTR)
            ;
}

/* The child has written all: it is about to end, or is killed after its time.
 * No system call waits for a process with a deadline. Returns whether it is
 * over. */
static bool
reap(struct spawned *spawned, bool waits)
{
    if (spawned->is_hidden && atomic_load(&between) == BETWEEN_OVER) {
        dismiss(spawned->pid);
        return true;
    }
    long got =
        arch_syscall(SYS_wait4, spawned->pid, 0, __WALL | WNOHANG, 0, 0, 0);
    if (got != 0 && got != -EINTR)
        return true;
    if (clock_expires(spawned->until)) {
        if (spawned->error == ETIME) {
            atomic_store(&between, BETWEEN_FREE);
            return true;
        }
        spawn_kill();
        spawned->error = ETIME;
        spawned->until = clock_now() + REAP_NS;
    }
    if (waits)
        wait_a_moment(spawned);
    return false;
}

/* A pipe, if possible with ends that are no standard descriptor: the program
 * may have closed those. */
static int
make_pipe(int ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (ends[i] >= 0)
            sys_close(low[i]);
        else /* RLIMIT_NOFILE is small, so a low number must do. */
            ends[i] = low[i];
    }
    return 0;
}

int
spawn_start(struct spawned *spawned, bool is_hidden,
            const char *const arguments[], int message, uint64_t ns,
            char *answer, size_t size)
{
    int ends[2];
    answer[0] = '\0';
    struct spawn_child child = {.arguments = arguments,
                                .message = message,
                                .stack = sys_reserve(2 * STACK_SIZE)};
    if (child.stack == NULL || make_pipe(ends) != 0) {
        errno = child.stack == NULL ? ENOMEM : errno;
        sys_release(child.stack, 2 * STACK_SIZE);
        return -1;
    }
    child.output = ends[1];
    *spawned = (struct spawned){.is_hidden = is_hidden,
                                .fd = ends[0],
                                .stack = child.stack,
                                .until = clock_now() + ns,
                                .answer = answer,
                                .size = size};
    spawned->pid = start_child(spawned, &child);
    spawned->error = spawned->pid < 0 ? errno : child.error;
    sys_close(ends[1]);
    if (spawned->pid > 0)
        return 0;
    sys_close(ends[0]);
    sys_release(child.stack, 2 * STACK_SIZE);
    errno = spawned->error;
    return -1;
}

bool
spawn_is_over(struct spawned *spawned, bool waits)
{
    uint64_t now = clock_now();
    long ms =
        now < spawned->until ? (long)((spawned->until - now) / 1000000 + 1) : 0;
    if (spawned->fd >= 0)
        read_some(spawned, waits ? ms : 0);
    if (spawned->fd >= 0 || !reap(spawned, waits))
        return false;
    atomic_store(&running, 0);
    if (spawned->is_plain)
        sys_set_action(SIGCHLD, &spawned->before);
    /* A go-between that hangs in the kernel still has its stack. */
    if (spawned->error != ETIME)
        sys_release(spawned->stack, 2 * STACK_SIZE);
    return true;
}

int
spawn_run(const char *const arguments[], uint64_t ns, char *answer, size_t size)
{
    struct spawned spawned;
    struct rlimit before[LIMITS];
    bool is_hidden = !arch_is_simulated() && is_program_alone();
    /* The limits may leave no room for the pipe, the stack or the process, and
     * no descriptor to poll(2). */
    lift_limits(before);
    int result =
        spawn_start(&spawned, is_hidden, arguments, -1, ns, answer, size);
    int error = errno;
    if (result == 0) {
        while (!spawn_is_over(&spawned, true))
            continue;
        error = spawned.error;
    }
    put_limits_back(before);
    errno = error;
    return error == 0 ? 0 : -1;
}
