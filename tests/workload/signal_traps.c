/* SPDX-License-Identifier: MIT */
/*
 * signal_traps.c -- a program that sets, blocks, raises and bequeaths the
 * signals that a profiler borrows, in every way. It prints what it sees; that
 * must not differ under the profiler. Arguments: traps.h.
 */
#include <errno.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traps.h"
#include "machine.h"
#include "raw_call.h"
#include "work.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static volatile sig_atomic_t mask_seen[65];

static void
default_action(void)
{
    print_action(signo);
    fflush(stdout);
    sink += work_burn(50);
    raise(signo);
    sink += work_burn(50);
    puts("still here");
}

/* A child, in its own process group, ends by the default action, or has handled
 * the signal when the call returns. */
static void
send_to_group(unsigned how, bool is_handled)
{
    setpgid(0, 0);
    sink += work_burn(20);
    if (is_handled)
        handle(0);
    if (how == 0)
        killpg(0, signo);
    else if (how == 1)
        killpg(getpgrp(), signo);
    else if (how == 2)
        kill(0, signo);
    else if (how == 3)
        kill(-getpgrp(), signo);
    else
        gsignal(signo);
    _exit(count);
}

static void
groups(void)
{
    for (unsigned how = 0; how < 10; how++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            send_to_group(how / 2, how % 2 != 0);
        waitpid(child, &status, 0);
        printf("%u: %x\n", how, (unsigned)status);
    }
}

static void
default_again(void)
{
    handle(0);
    raise(signo);
    printf("count %d\n", (int)count);
    signal(signo, SIG_DFL);
    default_action();
}

static void
ignored(void)
{
    signal(signo, SIG_IGN);
    sink += work_burn(50);
    for (int i = 0; i < 3; i++)
        raise(signo), kill(getpid(), signo);
    print_action(signo);
    sink += work_burn(50);
}

static void
note_mask(int number)
{
    sigset_t set;
    (void)number;
    sigemptyset(&set);
    sigprocmask(SIG_BLOCK, NULL, &set);
    for (int i = 1; i < 65; i++)
        mask_seen[i] = sigismember(&set, i) == 1;
    count++;
}

static void
handler_mask(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_mask;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaddset(&action.sa_mask, SIGALRM);
    for (int nodefer = 0; nodefer <= 1; nodefer++) {
        action.sa_flags = nodefer ? SA_NODEFER : 0;
        sigaction(signo, &action, NULL);
        raise(signo);
        for (int i = 1; i < 65; i++)
            if (mask_seen[i])
                printf("%d ", i);
        printf("count %d\n", (int)count);
    }
    print_mask("after");
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(signo, &action, NULL);
    raise(signo);
    print_action(signo);
    printf("count %d\n", (int)count);
}

/* The mask of another signal's handler may contain ours. */
static void
full_sa_mask(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_it;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    print_action(SIGUSR1);
    raise(SIGUSR1);
    handle(0);
    print_action(SIGUSR1);
    print_action(signo);
    signal(SIGUSR1, count_it);
    print_action(SIGUSR1);
    action.sa_flags = SA_RESTART | 0x500; /* and two unknown ones */
    sigaction(signo, &action, NULL);
    print_action(signo);
}

static void
show_inherited(const char *what, int error)
{
    if (error != 0)
        printf("%s: %s\n", what, strerror(error));
    fflush(stdout);
    while (wait(NULL) >= 0)
        ;
}

#define GREP "grep -E 'Sig(Blk|Ign|Pnd)' /proc/self/status"
static char *const shell[] = {"sh", "-c", GREP, NULL};

static void
spawn_all_ways(const char *what)
{
    pid_t pid;
    printf("%s\n", what);
    fflush(stdout);
    if (fork() == 0) {
        execv("/bin/sh", shell);
        _exit(99);
    }
    show_inherited("fork", 0);
    if (vfork() == 0) {
        execve("/bin/sh", shell, environ);
        _exit(99);
    }
    show_inherited("vfork", 0);
    show_inherited("spawn",
                   posix_spawn(&pid, "/bin/sh", NULL, NULL, shell, environ));
    show_inherited("spawnp",
                   posix_spawnp(&pid, "sh", NULL, NULL, shell, environ));
    printf("system %d\n", system(GREP));
    FILE *pipe = popen(GREP, "r");
    char line[200];
    while (fgets(line, sizeof line, pipe) != NULL)
        fputs(line, stdout);
    pclose(pipe);
    print_mask("mask after");
    fflush(stdout);
}

static void
inherits(void)
{
    sigset_t all, set = only(signo), before;
    begin_computing();
    spawn_all_ways("plain");
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    spawn_all_ways("blocked");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    spawn_all_ways("all blocked");
    /* As subprocess modules do it: all blocked, the old mask for the child. */
    sigemptyset(&before);
    fflush(stdout);
    if (vfork() == 0) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        execve("/bin/sh", shell, environ);
        _exit(99);
    }
    show_inherited("vfork with a mask", 0);
    print_mask("mask after");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    signal(signo, SIG_IGN);
    spawn_all_ways("ignored");
    signal(signo, SIG_DFL);
    spawn_all_ways("default again");
    if (vfork() == 0) {
        signal(signo, SIG_IGN);
        execve("/bin/sh", shell, environ);
        _exit(99);
    }
    show_inherited("vfork that ignores", 0);
    print_action(signo);
    end_computing();
}

static void
dispositions(void)
{
    for (int i = 1; i < 65; i++) {
        struct sigaction action;
        if (i != SIGKILL && i != SIGSTOP && sigaction(i, NULL, &action) == 0 &&
            (action.sa_handler != SIG_DFL || action.sa_flags != 0))
            print_action(i);
    }
    print_mask("mask");
}

/* Handlers for all that can be handled, one after the other. */
static void
handles_all(void)
{
    begin_computing();
    for (int i = 1; i < 65; i++) {
        if (i == SIGKILL || i == SIGSTOP || i == 32 || i == 33)
            continue;
        signal(i, count_it);
        count = 0;
        raise(i);
        kill(getpid(), i);
        if (count == 0)
            printf("%d did not come\n", i);
        signo = i;
        print_action(i);
    }
    sink += work_burn(50);
    for (int i = 1; i < 65; i++)
        if (i != SIGKILL && i != SIGSTOP && i != 32 && i != 33)
            signal(i, SIG_DFL);
    sink += work_burn(50);
    end_computing();
}

__sighandler_t bsd_signal(int, __sighandler_t);

static void
old_functions(void)
{
    printf("%d\n", sigset(signo, count_it) == SIG_DFL);
    raise(signo);
    printf("count %d\n", (int)count);
    printf("%d\n", sigset(signo, SIG_HOLD) == count_it);
    print_mask("held");
    raise(signo);
    printf("count %d\n", (int)count);
    printf("%d\n", sigset(signo, count_it) == SIG_HOLD);
    printf("count %d\n", (int)count);
    sighold(signo);
    print_mask("held");
    sigrelse(signo);
    print_mask("released");
    sigignore(signo);
    print_action(signo);
    bsd_signal(signo, count_it);
    print_action(signo);
    siginterrupt(signo, 1);
    print_action(signo);
    siginterrupt(signo, 0);
    print_action(signo);
    ssignal(signo, SIG_IGN);
    print_action(signo);
    __sysv_signal(signo, count_it);
    print_action(signo);
    raise(signo);
    print_action(signo);
    if (signo < 32) {
        printf("%x\n", (unsigned)sigblock(1 << (signo - 1)));
        print_mask("mask");
        printf("%x\n", (unsigned)sigsetmask(0));
        print_mask("mask");
    }
}

/* The kernel's own structure. */
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* rt_sigaction(2) by no function of the C library. */
static void
set_by_instruction(const struct kernel_action *action)
{
    if (raw_call(SYS_rt_sigaction, signo, (long)action, 0, 8) != 0)
        work_fail("rt_sigaction");
}

static void
bypasses(void)
{
    struct kernel_action action;
    /* The C library's restorer, as it gives it to the kernel. */
    signal(SIGUSR1, count_it);
    syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, 8);
    action.handler = count_it;
    action.flags |= SA_RESTART;
    begin_computing();
    sink += work_burn(50);
    set_by_instruction(&action);
    sink += work_burn(1200);
    count = 0;
    raise(signo);
    printf("count %d\n", (int)count);
    end_computing();
}

/* The same by syscall(2), which is seen at once. */
static void
bypasses_by_number(void)
{
    struct kernel_action action;
    signal(SIGUSR1, count_it);
    syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, 8);
    begin_computing();
    syscall(SYS_rt_sigaction, signo, &action, NULL, 8);
    sink += work_burn(300);
    raise(signo);
    printf("count %d\n", (int)count);
    end_computing();
}

static void
count_and_pass(int number, siginfo_t *info, void *context)
{
    (void)info;
    count_it(number);
    machine_pass_break(context);
}

static void
breakpoints(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = count_and_pass;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGTRAP, &action, NULL);
    begin_computing();
    for (int i = 0; i < 20000; i++)
        machine_break();
    printf("count %d\n", (int)count);
    end_computing();
    signal(SIGTRAP, SIG_DFL);
    fflush(stdout);
    machine_break();
}

static sigjmp_buf back;
static volatile int *volatile nowhere = (volatile int *)8;

static void
jump_back(int number)
{
    count++;
    siglongjmp(back, number);
}

static void
jumps(void)
{
    sigset_t set = only(SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGSEGV, jump_back);
    signal(signo, jump_back);
    for (volatile int i = 0; i < 20000; i++) {
        if (sigsetjmp(back, 1) != 0)
            continue;
        if (i % 2)
            *nowhere = 1;
        else
            raise(signo);
    }
    printf("count %d\n", (int)count);
    print_mask("mask");
}

static void *
print_own_mask(void *what)
{
    print_mask(what);
    sink += work_burn(20);
    return NULL;
}

static void
masks_of_threads(void)
{
    sigset_t all, some = only(signo), back_again;
    pthread_attr_t attributes;
    pthread_t thread;
    sigaddset(&some, SIGTRAP);
    sigaddset(&some, SIGUSR1);
    begin_computing();
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    pthread_create(&thread, NULL, print_own_mask, "inherited");
    pthread_join(thread, NULL);
    pthread_attr_init(&attributes);
    sigfillset(&all);
    pthread_attr_setsigmask_np(&attributes, &all);
    pthread_create(&thread, &attributes, print_own_mask, "all by attribute");
    pthread_join(thread, NULL);
    sigemptyset(&all);
    pthread_attr_setsigmask_np(&attributes, &all);
    pthread_create(&thread, &attributes, print_own_mask, "none by attribute");
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_UNBLOCK, &some, &back_again);
    print_set("old", &back_again);
    print_mask("unblocked");
    pthread_sigmask(SIG_SETMASK, &back_again, NULL);
    print_set("old", &back_again);
    print_mask("set");
    if (fork() == 0) {
        print_mask("child");
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    end_computing();
}

/* Long work in a handler that blocks everything. */
static void
work_in_handler(int number)
{
    (void)number;
    sink += work_burn(400);
}

static void
works_in_handler(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = work_in_handler;
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    raise(SIGALRM);
}

static const struct trap traps[] = {{"default_action", default_action},
                                    {"default_again", default_again},
                                    {"groups", groups},
                                    {"ignored", ignored},
                                    {"handler_mask", handler_mask},
                                    {"full_sa_mask", full_sa_mask},
                                    {"inherits", inherits},
                                    {"dispositions", dispositions},
                                    {"handles_all", handles_all},
                                    {"old_functions", old_functions},
                                    {"bypasses", bypasses},
                                    {"bypasses_by_number", bypasses_by_number},
                                    {"breakpoints", breakpoints},
                                    {"jumps", jumps},
                                    {"masks_of_threads", masks_of_threads},
                                    {"works_in_handler", works_in_handler},
                                    {NULL, NULL}};

int
main(int argc, char **argv)
{
    return traps_run(argc, argv, traps);
}
