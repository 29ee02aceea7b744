/* SPDX-License-Identifier: MIT */
/*
 * spawn.c -- a child without a trace; see spawn.h. The child shares our memory
 * until it has executed (CLONE_VM, CLONE_VFORK: clone(2)), so it makes system
 * calls only; it has no exit signal, so that only who waits for it by name and
 * with __WALL can see it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/sys.h"
#include "real.h"
#include "spawn.h"

#define STACK_SIZE (64u << 10)
#define KEPT_MAX 16

/* Of the environment, what files are looked for by. LD_PRELOAD is not among
 * these: the child is not profiled. */
static const char *const wanted[] = {"LD_LIBRARY_PATH=", "DEBUGINFOD_",
                                     "HOME=", "XDG_CACHE_HOME=", "TMPDIR="};
static char kept_text[8192];
static char *kept[KEPT_MAX + 1];

struct child {
    const char *path;
    const char *const *arguments;
    int output; /* becomes its standard output */
    int error;  /* errno of what failed, 0 if it runs */
};

static bool
is_wanted(const char *variable)
{
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (strncmp(variable, wanted[i], strlen(wanted[i])) == 0)
            return true;
    return false;
}

void
spawn_begin(char *const environment[])
{
    size_t used = 0, count = 0;
    for (; *environment != NULL && count < KEPT_MAX; environment++) {
        size_t size = strlen(*environment) + 1;
        if (!is_wanted(*environment) || size > sizeof(kept_text) - used)
            continue;
        kept[count++] = memcpy(kept_text + used, *environment, size);
        used += size;
    }
}

/* The child, on its own stack in our memory. All signals are blocked, so that
 * no handler of the program runs here. */
static int
run_child(void *argument)
{
    struct child *child = argument;
    sigset_t none;
    long result =
        arch_syscall(SYS_dup2, child->output, STDOUT_FILENO, 0, 0, 0, 0);
    sigemptyset(&none);
    arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, NSIG / 8, 0,
                 0);
    if (result >= 0)
        result = arch_syscall(SYS_execve, (long)child->path,
                              (long)child->arguments, (long)kept, 0, 0, 0);
    child->error = (int)-result;
    arch_syscall(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    return 127;
}

/* Start CHILD. Returns its pid, or -1 with errno. */
static pid_t
start_child(struct child *child)
{
    sigset_t all, old;
    char *stack = sys_reserve(STACK_SIZE);
    if (stack == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memset(&all, 0xff, sizeof(all));
    arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old,
                 NSIG / 8, 0, 0);
    pid_t pid =
        clone(run_child, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, child);
    int error = errno;
    arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, NSIG / 8, 0,
                 0);
    sys_release(stack, STACK_SIZE);
    errno = error;
    return pid;
}

static void
read_answer(int fd, char *answer, size_t size)
{
    size_t length = 0;
    while (length + 1 < size) {
        long got = sys_read(fd, answer + length, size - 1 - length);
        if (got == -EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    answer[length] = '\0';
}

/* A pipe whose ends are no standard descriptor: the program may have closed
 * those. */
static int
make_pipe(int ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        sys_close(low[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    sys_close(ends[0]);
    sys_close(ends[1]);
    return -1;
}

int
spawn_run(const char *path, const char *const arguments[], char *answer,
          size_t size)
{
    int ends[2];
    if (make_pipe(ends) != 0)
        return -1;
    struct child child = {path, arguments, ends[1], 0};
    pid_t pid = start_child(&child);
    sys_close(ends[1]);
    answer[0] = '\0';
    if (pid > 0) {
        read_answer(ends[0], answer, size);
        while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
            ;
        errno = child.error;
    }
    sys_close(ends[0]);
    return pid > 0 && child.error == 0 ? 0 : -1;
}
