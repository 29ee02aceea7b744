/* SPDX-License-Identifier: MIT */
/*
 * family_cases.c -- children with a special relation to a tracer, an adopter, a
 * namespace, a control group or a policy of scheduling, and orphans that get a
 * signal of the kernel.
 *
 * Argument: a word of the table at the end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

/* Go on with CHILD from stop to stop; each is printed. What it raised is not
 * handed on. Returns its status. */
static int
follow(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
        int signo = WSTOPSIG(status);
        bool is_its_own = signo == SIGSTOP || signo == SIGUSR2;

        printf("stopped by %d\n", signo);
        ptrace(PTRACE_CONT, child, 0,
               is_its_own || signo == SIGTRAP ? 0 : signo);
    }
    return status;
}

/* The child stops where it says and nowhere else, in whatever way it asks to be
 * traced. */
static void
traced(void)
{
    for (unsigned i = 0; i < 4; i++) {
        pid_t child = fork();

        if (child == 0) {
            if (i >= 2)
                cases_compute(20);
            if (i % 2 == 0)
                ptrace(PTRACE_TRACEME, 0, 0, 0);
            else
                syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
            raise(SIGSTOP);
            cases_compute(30);
            raise(SIGUSR2);
            exit(6);
        }
        printf("ended with %d\n", WEXITSTATUS(follow(child)));
    }
}

/* The new program is traced from its start, and says when it does what. */
static void
traced_program(void)
{
    raise(SIGUSR2);
    cases_compute(50);
    raise(SIGUSR2);
    cases_use_libc();
    exit(7);
}

static void
become_traced_program(void)
{
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execl("/proc/self/exe", "family_cases", "traced_program", NULL);
    _exit(90);
}

static void
traced_exec(void)
{
    pid_t child = fork();

    if (child == 0)
        become_traced_program();
    printf("ended with %d\n", WEXITSTATUS(follow(child)));
    if ((child = fork()) == 0) {
        cases_compute(20);
        become_traced_program();
    }
    printf("ended with %d\n", WEXITSTATUS(follow(child)));
    if ((child = vfork()) == 0)
        become_traced_program();
    printf("ended with %d\n", WEXITSTATUS(follow(child)));
}

/* One of several threads of a process asks; it alone is stopped. */
static void *
ask_and_compute(void *argument)
{
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP);
    cases_compute(50);
    return argument;
}

static void
traced_thread(void)
{
    int status = 0;
    pid_t tid, child = fork();

    if (child == 0) {
        pthread_t thread;

        pthread_create(&thread, NULL, ask_and_compute, NULL);
        cases_compute(50);
        pthread_join(thread, NULL);
        exit(8);
    }
    while ((tid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            printf("stopped by %d\n", WSTOPSIG(status));
            ptrace(PTRACE_CONT, tid, 0,
                   WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status));
        } else if (tid == child) {
            printf("ended with %d\n", WEXITSTATUS(status));
        }
    }
}

/* The tracer leaves, and the child goes on alone. */
FRAME static void
compute_alone(void)
{
    cases_compute(300);
    KEEP_FRAME();
}

static void
released(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        cases_compute(300);
        raise(SIGUSR2);
        compute_alone();
        exit(9);
    }
    for (;;) {
        waitpid(child, &status, __WALL);
        if (!WIFSTOPPED(status))
            break;
        printf("stopped by %d\n", WSTOPSIG(status));
        ptrace(WSTOPSIG(status) == SIGUSR2 ? PTRACE_DETACH : PTRACE_CONT, child,
               0, 0);
    }
    printf("ended with %d\n", WEXITSTATUS(status));
}

/* The child gets a signal when the thread that made it ends, not before. */
static void *
make_orphan(void *argument)
{
    pid_t *child = argument;
    int ends[2];
    char byte;

    if (pipe(ends) != 0)
        work_fail("pipe");
    if ((*child = fork()) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGUSR2);
        if (write(ends[1], "", 1) != 1)
            _exit(90);
        for (;;)
            pause();
    }
    /* From now on the signal is asked for. */
    if (read(ends[0], &byte, 1) != 1)
        puts("the child said nothing");
    close(ends[0]);
    close(ends[1]);
    cases_compute(50);
    if (waitpid(*child, NULL, WNOHANG) != 0)
        puts("the child ended early");
    return NULL;
}

static void
dies_with_thread(void)
{
    pthread_t thread;
    pid_t child;

    pthread_create(&thread, NULL, make_orphan, &child);
    pthread_join(thread, NULL);
    cases_say_end(child);
}

/* Orphans come to us; the profiler's own helpers must not. */
static void
adopting(void)
{
    int status;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (unsigned i = 0; i < 5; i++) {
        unsigned ended = 0;

        if (fork() == 0) {
            if (fork() == 0) {
                cases_compute(10);
                exit(0);
            }
            exit(0);
        }
        while (waitpid(-1, &status, 0) > 0)
            ended++;
        printf("%u ended\n", ended);
    }
}

/* /proc/self belongs to root then. */
static void
undumpable(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    cases_compute(100);
    for (unsigned i = 0; i < 3; i++) {
        pid_t child = fork();

        if (child == 0) {
            cases_use_libc();
            cases_compute(20);
            exit(8);
        }
        cases_say_end(child);
    }
}

/* The next child is process 1 of a namespace, under the /proc of this one. */
static void
new_namespace(void)
{
    pid_t child;

    if (unshare(CLONE_NEWPID) != 0) {
        puts("no right to make a namespace");
        return;
    }
    child = fork();
    if (child == 0) {
        printf("pid %d\n", getpid());
        cases_use_libc();
        cases_compute(50);
        if ((child = fork()) == 0)
            exit(3);
        cases_say_end(child);
        exit(4);
    }
    cases_say_end(child);
}

static void
compute_and_end(void)
{
    for (unsigned i = 0; i < 20; i++)
        cases_compute(10);
    exit(7);
}

/* A sibling traces the child from outside, and leaves it again. */
static void
seize(pid_t child)
{
    int status;

    for (unsigned i = 0; i < 5; i++) {
        if (ptrace(PTRACE_SEIZE, child, 0, 0) != 0)
            _exit(1);
        work_sleep(5);
        ptrace(PTRACE_INTERRUPT, child, 0, 0);
        /* Until it stops for that; signals are handed on. */
        while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status) &&
               status >> 16 != PTRACE_EVENT_STOP)
            ptrace(PTRACE_CONT, child, 0, WSTOPSIG(status));
        if (!WIFSTOPPED(status))
            _exit(2);
        if (ptrace(PTRACE_DETACH, child, 0, 0) != 0)
            _exit(3);
    }
    _exit(0);
}

static void
seized(void)
{
    atomic_int *is_left = mmap(NULL, sizeof *is_left, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork(), tracer;

    if (child == 0) {
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        while (atomic_load(is_left) == 0)
            cases_compute(10);
        compute_and_end();
    }
    work_sleep(20);
    if ((tracer = fork()) == 0)
        seize(child);
    cases_say_end(tracer);
    atomic_store(is_left, 1);
    cases_say_end(child);
}

/* Write WORD into FILE of the control group GROUP. Returns 0 or -1. */
static int
group_write(const char *group, const char *file, const char *word)
{
    char path[300];
    int fd, result;

    snprintf(path, sizeof path, "%s/%s", group, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    result = write(fd, word, strlen(word)) < 0 ? -1 : 0;
    close(fd);
    return result;
}

/* GROUPS_AT is a directory in which control groups can be made. */
static void
frozen(void)
{
    const char *parent = getenv("GROUPS_AT");
    char group[200], number[16];
    pid_t child;

    snprintf(group, sizeof group, "%s/frozen.%d",
             parent != NULL ? parent : "/none", getpid());
    if (mkdir(group, 0700) != 0) {
        puts("no right to make a control group");
        return;
    }
    if ((child = fork()) == 0)
        compute_and_end();
    snprintf(number, sizeof number, "%d", child);
    if (group_write(group, "cgroup.procs", number) != 0)
        puts("not moved");
    for (unsigned i = 0; i < 4; i++) {
        group_write(group, "cgroup.freeze", "1");
        work_sleep(20);
        group_write(group, "cgroup.freeze", "0");
        work_sleep(5);
    }
    cases_say_end(child);
    rmdir(group);
}

/* What crashes leaves a core where the limit allows it. */
static void
crash(void)
{
    void (*const ends[])(void) = {abort, (void (*)(void))8};

    for (unsigned i = 0; i < 4; i++) {
        struct rlimit limit = {i < 2 ? 1u << 30 : 0, 1u << 30};
        int status = 0;
        pid_t child = fork();

        if (child == 0) {
            setrlimit(RLIMIT_CORE, &limit);
            cases_compute(20);
            ends[i % 2]();
        }
        waitpid(child, &status, 0);
        printf("signal %d, core %d\n", WTERMSIG(status),
               WCOREDUMP(status) != 0);
    }
}

/* Policies that rank before or after the sampler's; the kernel lets no thread
 * with a deadline make another one, and children may start afresh. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

static void *
under_policies(void *argument)
{
    static const struct attributes all[] = {
        {.size = 48, .policy = SCHED_IDLE},
        {.size = 48, .policy = SCHED_BATCH, .nice = 5},
        {.size = 48, .policy = SCHED_FIFO, .priority = 50},
        {.size = 48, .policy = SCHED_RR, .priority = 50, .flags = 1},
        {.size = 48,
         .policy = 6, /* SCHED_DEADLINE */
         .runtime = 4000000,
         .deadline = 10000000,
         .period = 10000000}};

    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct attributes now = {0};
        long result = syscall(SYS_sched_setattr, 0, &all[i], 0);
        pid_t child;

        cases_compute(20);
        syscall(SYS_sched_getattr, 0, &now, sizeof now, 0);
        printf("set %ld: policy %u, nice %d, priority %u, flags %lx\n", result,
               now.policy, now.nice, now.priority, (unsigned long)now.flags);
        if (now.policy == 6)
            break;
        if ((child = fork()) == 0) {
            cases_compute(5);
            exit(sched_getscheduler(0) & 0xff);
        }
        cases_say_end(child);
    }
    return argument;
}

static void
policies(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, under_policies, NULL);
    pthread_join(thread, NULL);
    setpriority(PRIO_PROCESS, 0, 3);
    cases_compute(10);
    printf("nice %d\n", getpriority(PRIO_PROCESS, 0));
}

static const struct named_case cases[] = {
    {"traced", traced, 0},
    {"pdeathsig", dies_with_thread, 0},
    {"subreaper", adopting, 0},
    {"undumpable", undumpable, 0},
    {"namespace", new_namespace, 0},
    {"seized", seized, 0},
    {"frozen", frozen, 0},
    {"crash", crash, 0},
    {"policies", policies, 0},
    {"traced_exec", traced_exec, 0},
    {"traced_program", traced_program, 0},
    {"released", released, 0},
    {"traced_thread", traced_thread, 0},
};

int
main(int argc, char **argv)
{
    return cases_run(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
