/* SPDX-License-Identifier: MIT */
/*
 * bare_filter.c -- runs for a while, then sets a filter that kills the process
 * for every system call but those that it makes itself from then on, and calls
 * functions of libc that the profiler has hooks for. It says ok and ends with
 * status 33.
 *
 * Usage: bare_filter END, that being exit, _exit, by-number or signal (SIGTERM)
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t sink;
static volatile sig_atomic_t times;

static void
count_signal(int signo)
{
    (void)signo;
    times++;
}

/* An exec fails by EACCES. */
static void
install(void)
{
    static const unsigned allowed[] = {SYS_write,        SYS_exit_group,
                                       SYS_rt_sigaction, SYS_rt_sigprocmask,
                                       SYS_kill,         SYS_rt_sigreturn,
                                       SYS_ppoll,        SYS_clone,
                                       SYS_wait4,        SYS_set_robust_list};
    enum { COUNT = sizeof(allowed) / sizeof(allowed[0]) };
    struct sock_filter code[2 * COUNT + 4];
    size_t n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 allowed[i], 0, 1);
        code[n++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                             SYS_execve, 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
                                             SECCOMP_RET_ERRNO | EACCES);
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog filter = {(unsigned short)n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        work_fail("filter");
}

/* Without a clock. */
static void
compute(void)
{
    for (unsigned i = 0; i < 50000000; i++)
        sink += i;
}

static void
say(const char *text)
{
    (void)!write(1, text, strlen(text));
}

static void
use_signals(pid_t own)
{
    const struct timespec soon = {0, 1000000};
    struct sigaction action = {.sa_handler = count_signal};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPROF, count_signal);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(own, SIGUSR1);
    syscall(SYS_kill, own, SIGTERM);
    kill(own, SIGPROF);
    sigemptyset(&set);
    errno = 0;
    if (ppoll(NULL, 0, &soon, &set) == -1 && errno == EINTR && times == 3)
        say("three signals\n");
}

static void
use_processes(void)
{
    char *const arguments[] = {"true", NULL};
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execv("/bin/true", arguments);
        say(errno == EACCES ? "no exec\n" : "another error\n");
        _exit(5);
    }
    if (waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5)
        say("a child\n");
    execv("/bin/true", arguments);
    execvp("true", arguments);
}

int
main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    struct rlimit none = {0, 0};
    pid_t own = getpid();
    setrlimit(RLIMIT_CORE, &none);
    sink += work_burn(50);
    install();
    compute();
    use_signals(own);
    use_processes();
    compute();
    say("ok\n");
    if (strcmp(how, "_exit") == 0)
        _exit(33);
    if (strcmp(how, "by-number") == 0)
        syscall(SYS_exit_group, 33);
    if (strcmp(how, "signal") == 0) {
        signal(SIGTERM, SIG_DFL);
        kill(own, SIGTERM);
    }
    exit(33);
}
