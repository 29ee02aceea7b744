/* SPDX-License-Identifier: MIT */
/*
 * crowds.c -- threads that compute, and end in the way that the second argument
 * names. They know how much CPU time they used.
 *
 * Usage: crowds THREADS ENDING US [gate]
 *
 * Each thread computes for US microseconds of its own CPU time. Then:
 *
 *   return, pthread_exit       it ends so
 *   cancel                     it waits, and is cancelled when all have computed
 *   raw                        it ends by the system call exit(2)
 *   exit, _exit, exit_group    it goes on computing. The process ends so when
 *                              the threads have used THREADS * US together
 *
 * With "gate" no thread begins before all exist. Prints, in ns of CPU time, what
 * the threads' clocks have read at the end of their work, with the main thread's
 * since main was called; and the process's clock at that moment:
 *
 *   threads CPU
 *   process CPU
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK 65536u
#define STEPS 2000u /* of the computation, between two readings of the clock */
#define PAUSE_NS 1000000

static uint64_t each; /* ns of CPU time of a thread */
static _Atomic uint64_t *used;
static _Atomic unsigned computed; /* threads that have */
static pthread_barrier_t gate;
static int has_gate, goes_on;
static void (*end_thread)(void);
static volatile uint64_t sink;

static uint64_t
read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) void
compute(_Atomic uint64_t *clock)
{
    uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID), now = begin;
    while (goes_on || now - begin < each) {
        for (uint64_t i = 0; i < STEPS; i++)
            sink = sink * 6364136223846793005u + i;
        now = read_clock(CLOCK_THREAD_CPUTIME_ID);
        atomic_store(clock, now);
    }
}

static void *
run(void *clock)
{
    if (has_gate)
        pthread_barrier_wait(&gate);
    compute(clock);
    atomic_fetch_add(&computed, 1);
    end_thread();
    return NULL;
}

static void
nap(void)
{
    const struct timespec pause = {0, PAUSE_NS};
    nanosleep(&pause, NULL);
}

static void
end_by_return(void)
{
}

static void
end_by_exit(void)
{
    pthread_exit(NULL);
}

static void
end_by_cancel(void)
{
    for (;;)
        pause();
}

static void
end_by_system_call(void)
{
    syscall(SYS_exit, 0);
}

static void
end_by_exit_group(int status)
{
    syscall(SYS_exit_group, status);
}

static const struct ending {
    const char *name;
    void (*of_thread)(void);
    void (*of_process)(int status);
} endings[] = {{"return", end_by_return, NULL},
               {"pthread_exit", end_by_exit, NULL},
               {"cancel", end_by_cancel, NULL},
               {"raw", end_by_system_call, NULL},
               {"exit", end_by_return, exit},
               {"_exit", end_by_return, _exit},
               {"exit_group", end_by_return, end_by_exit_group}};

static uint64_t
sum(unsigned count)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < count; i++)
        all += atomic_load(&used[i]);
    return all;
}

static void
start(pthread_t *threads, unsigned count)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_barrier_init(&gate, NULL, count + 1);
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], &attributes, run, &used[i]) != 0)
            exit(1);
    if (has_gate)
        pthread_barrier_wait(&gate);
}

static void
wait_for(const struct ending *ending, pthread_t *threads, unsigned count)
{
    while (goes_on && sum(count) < count * each)
        nap();
    while (!goes_on && ending->of_thread == end_by_cancel &&
           atomic_load(&computed) < count)
        nap();
    for (unsigned i = 0; !goes_on && i < count; i++) {
        if (ending->of_thread == end_by_cancel)
            pthread_cancel(threads[i]);
        pthread_join(threads[i], NULL);
    }
}

int
main(int argc, char **argv)
{
    uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    unsigned count = argc > 3 ? (unsigned)atoi(argv[1]) : 0;
    const struct ending *ending = endings;
    const struct ending *last = &endings[sizeof endings / sizeof *endings - 1];
    while (count > 0 && ending != last && strcmp(ending->name, argv[2]) != 0)
        ending++;
    if (count == 0 || strcmp(ending->name, argv[2]) != 0)
        return 2;
    pthread_t *threads = calloc(count, sizeof(*threads));
    used = calloc(count, sizeof(*used));
    each = (uint64_t)atoi(argv[3]) * 1000;
    has_gate = argc > 4;
    end_thread = ending->of_thread;
    goes_on = ending->of_process != NULL;
    start(threads, count);
    wait_for(ending, threads, count);
    uint64_t own = read_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
    printf("threads %lu\n", own + sum(count));
    printf("process %lu\n", read_clock(CLOCK_PROCESS_CPUTIME_ID));
    fflush(stdout);
    if (ending->of_process != NULL)
        ending->of_process(0);
    return 0;
}
