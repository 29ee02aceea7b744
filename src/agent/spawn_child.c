/* SPDX-License-Identifier: MIT */
/*
 * spawn_child.c -- see spawn_child.h. What it inherits is the program's:
 * limits, descriptors, signals and the current directory may all be in the way
 * of what is to be run.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/sys.h"
#include "sampling/sampler_thread.h"
#include "mute_signals.h"
#include "spawn_child.h"

#define KEPT_MAX 16
#define ARGUMENTS_MAX 64 /* of a child that the dynamic linker has to run */

/* Should we be killed, the child ends by itself at last. */
#define CHILD_SECONDS 600

/* Of the environment, what files are looked for by. LD_PRELOAD is not among
 * these: the child is not profiled. */
static const char *const wanted[] = {"LD_LIBRARY_PATH=", "DEBUGINFOD_",
                                     "HOME=", "XDG_CACHE_HOME=", "TMPDIR="};
static char kept_text[8192];
static char *kept[KEPT_MAX + 1];
static char directory[PATH_MAX]; /* which names there may be relative to */

static bool
is_kept_variable(const char *variable)
{
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (strncmp(variable, wanted[i], strlen(wanted[i])) == 0)
            return true;
    return false;
}

void
spawn_child_begin(char *const environment[])
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

/* Limits of the program's that the child need not keep, as far as it may. */
static const int lifted[SPAWN_CHILD_LIMITS] = {RLIMIT_NOFILE, RLIMIT_AS,
                                               RLIMIT_DATA,   RLIMIT_STACK,
                                               RLIMIT_NPROC,  RLIMIT_FSIZE};

void
spawn_child_lift(struct rlimit before[SPAWN_CHILD_LIMITS])
{
    for (size_t i = 0; i < SPAWN_CHILD_LIMITS; i++) {
        before[i] = (struct rlimit){.rlim_cur = RLIM_INFINITY};
        (void)arch_syscall(SYS_prlimit64, 0, lifted[i], 0, (long)&before[i], 0,
                           0);
        struct rlimit limit = {before[i].rlim_max, before[i].rlim_max};
        if (before[i].rlim_cur < before[i].rlim_max)
            (void)arch_syscall(SYS_prlimit64, 0, lifted[i], (long)&limit, 0, 0,
                               0);
    }
}

void
spawn_child_put_back(const struct rlimit before[SPAWN_CHILD_LIMITS])
{
    for (size_t i = 0; i < SPAWN_CHILD_LIMITS; i++)
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
 * and nothing else: a pipe of the program's must close when the program does.
 * Without MESSAGE what it says there is not the program's. */
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

/* The program may ignore the ends of its children. */
static void
set_default_for_children(void)
{
    struct sys_action action = {.handler = (void *)SIG_DFL};
    sys_set_action(SIGCHLD, &action);
}

/* Execute the child's program. Where the file may be read but not executed, the
 * dynamic linker runs it with the same arguments (ld.so(8)). Returns a negative
 * errno. */
static long
execute(const struct spawn_child *child)
{
    const char *arguments[ARGUMENTS_MAX + 1] = {ARCH_DYNAMIC_LINKER};
    long result = arch_syscall(SYS_execve, (long)child->path,
                               (long)child->arguments, (long)kept, 0, 0, 0);
    if (result != -EACCES ||
        arch_syscall(SYS_faccessat, AT_FDCWD, (long)child->path, R_OK, 0, 0,
                     0) != 0)
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

/* The child, on its own stack in our memory. All signals are blocked, so that
 * no handler of the program runs here, and stay so: a Ctrl-C is for the
 * program. */
int
spawn_child_run(void *argument)
{
    struct spawn_child *child = argument;
    struct rlimit unused[SPAWN_CHILD_LIMITS];
    struct itimerval life = {.it_value.tv_sec = CHILD_SECONDS};
    sys_mask(SIG_SETMASK, ~(1ull << (SIGALRM - 1)), NULL);
    mute_signals_end_in_child();
    set_default_for_children();
    sampler_thread_give_way();
    spawn_child_lift(unused);
    (void)arch_syscall(SYS_chdir, (long)directory, 0, 0, 0, 0, 0);
    long result = settle_descriptors(child->output, child->message);
    arch_syscall(SYS_setitimer, ITIMER_REAL, (long)&life, 0, 0, 0, 0);
    if (result >= 0)
        result = execute(child);
    child->error = (int)-result;
    arch_syscall(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    return 127;
}
