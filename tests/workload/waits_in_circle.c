/* SPDX-License-Identifier: MIT */
/*
 * waits_in_circle.c -- three threads that wait for each other's mutexes for
 * ever, one that computes with every signal blocked by the kernel's own call,
 * one that a tracer has stopped, two that compute and many that wait. The main
 * thread waits for a line on its standard input. Then it says how the others
 * were disturbed: waits that ended early, and context switches of threads that
 * only wait.
 *
 * Usage: waits_in_circle IDLE
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define CIRCLE 3
#define IDLE_MOST 20000

static pthread_mutex_t mutexes[CIRCLE];
static pthread_barrier_t all_locked;
static atomic_uint early, begun;
static atomic_ulong progress;
static pid_t idle_tids[IDLE_MOST];
static atomic_int stopped_tid;

FRAME static void
lock_next(long i)
{
    pthread_mutex_lock(&mutexes[(i + 1) % CIRCLE]);
    KEEP_FRAME();
}

static void *
wait_in_circle(void *number)
{
    char name[16];
    long i = (long)number;
    snprintf(name, sizeof name, "circle-%ld", i);
    pthread_setname_np(pthread_self(), name);
    pthread_mutex_lock(&mutexes[i]);
    pthread_barrier_wait(&all_locked);
    begun++;
    lock_next(i);
    return NULL;
}

FRAME static void
stay_idle(void)
{
    while (poll(NULL, 0, -1) < 0)
        early++;
    KEEP_FRAME();
}

static void *
idle(void *number)
{
    idle_tids[(long)number] = (pid_t)syscall(SYS_gettid);
    begun++;
    stay_idle();
    return NULL;
}

FRAME static void
compute(void)
{
    for (;;)
        progress += work_burn(1) != 0;
}

static void *
busy(void *unused)
{
    begun++;
    compute();
    return unused;
}

FRAME static void
compute_deaf(void)
{
    for (;;)
        progress += work_burn(1) != 0;
}

static void *
deaf(void *unused)
{
    uint64_t all = ~0ull;
    pthread_setname_np(pthread_self(), "deaf");
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
    begun++;
    compute_deaf();
    return unused;
}

FRAME static void
be_stopped(void)
{
    for (;;)
        progress += work_burn(1) != 0;
}

static void *
stopped(void *unused)
{
    pthread_setname_np(pthread_self(), "stopped");
    stopped_tid = (int)syscall(SYS_gettid);
    begun++;
    be_stopped();
    return unused;
}

/* Have a child stop the thread, alone. Returns its pid. */
static pid_t
start_tracer(void)
{
    int ends[2], status;
    char byte;
    if (pipe(ends) != 0)
        work_fail("pipe");
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        byte = ptrace(PTRACE_SEIZE, stopped_tid, 0, 0) == 0 &&
                       ptrace(PTRACE_INTERRUPT, stopped_tid, 0, 0) == 0 &&
                       waitpid(stopped_tid, &status, __WALL) == stopped_tid
                   ? 'y'
                   : 'n';
        (void)!write(ends[1], &byte, 1);
        for (;;)
            pause();
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &byte, 1) != 1)
        work_fail("no tracer");
    close(ends[0]);
    printf("stopped %c\n", byte);
    return child;
}

static void
start(void *(*what)(void *), long number)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    if (pthread_create(&thread, &small, what, (void *)number) != 0)
        work_fail("pthread_create");
    pthread_attr_destroy(&small);
}

/* Returns how many of the idle threads sleep. *SUM is their switches of
 * context, of their own will or not. */
static unsigned
look_at_idle(unsigned count, unsigned long *sum)
{
    unsigned asleep = 0;
    *sum = 0;
    for (unsigned i = 0; i < count; i++) {
        char path[64], line[256];
        snprintf(path, sizeof path, "/proc/self/task/%d/status", idle_tids[i]);
        FILE *stream = fopen(path, "r");
        while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
            const char *found = strstr(line, "voluntary_ctxt_switches:");
            if (found != NULL)
                *sum += strtoul(strchr(found, '\t'), NULL, 10);
            asleep += strncmp(line, "State:\tS", 8) == 0;
        }
        if (stream != NULL)
            fclose(stream);
    }
    return asleep;
}

int
main(int argc, char **argv)
{
    unsigned count = work_argument(argc, argv, 1, 500);
    char byte;
    if (count > IDLE_MOST)
        work_fail("too many");
    pthread_barrier_init(&all_locked, NULL, CIRCLE);
    for (long i = 0; i < CIRCLE; i++)
        pthread_mutex_init(&mutexes[i], NULL);
    for (long i = 0; i < CIRCLE; i++)
        start(wait_in_circle, i);
    for (long i = 0; i < (long)count; i++)
        start(idle, i);
    start(busy, 0);
    start(busy, 0);
    start(deaf, 0);
    start(stopped, 0);
    while (begun < CIRCLE + count + 4)
        work_sleep(5);
    pid_t tracer = start_tracer();
    work_sleep(200);
    unsigned long before, after, worked = progress;
    while (look_at_idle(count, &before) < count)
        work_sleep(20);
    printf("ready %d\n", getpid());
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) < 0)
        early++;
    look_at_idle(count, &after);
    printf("early %u\nswitches %lu\nprogress %s\n", early, after - before,
           progress > worked ? "yes" : "no");
    kill(tracer, SIGKILL);
    waitpid(tracer, NULL, 0);
    puts("ok");
    fflush(stdout);
    _exit(0);
}
