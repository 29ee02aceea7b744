/* SPDX-License-Identifier: MIT */
/*
 * crowds.c -- threads that compute and end in the way that the second argument
 * names. They know how much CPU time they used.
 *
 * Usage: crowds THREADS ENDING US [gate]
 *
 * Each thread computes for US microseconds of its own CPU time, and ends:
 *
 *   return, pthread_exit    so
 *   cancel                  by pthread_cancel, when all have computed
 *   raw                     by the system call exit(2)
 *
 * With another ENDING all threads begin at once and go on computing. The
 * process ends when they have used THREADS * US together:
 *
 *   exit, _exit             so
 *   exit_group              by the system call
 *
 * With "gate" no thread begins before all exist.
 * Prints, in ns of CPU time, what the threads' clocks have read at the end of
 * their work, with the main thread's since main was called; and the process's
 * clock at that moment:
 *
 *   threads CPU
 *   process CPU
 *   ok
 */
#include <inttypes.h>
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
#define STEPS \
    2000u /* of the computation, between two readings of the clock \ */
#define NAP_NS 1000000 /* of the main thread */

static uint64_t each; /* ns of CPU time of a thread */
static _Atomic uint64_t *used;
static _Atomic unsigned computed; /* threads that have */
static pthread_barrier_t gate;
static unsigned count;
static int has_gate;
static uint64_t begin; /* the main thread's clock */
static clockid_t clock_of_main;
static void (*end_thread)(void);
static void (*end_process)(int status);
static volatile uint64_t sink;

static uint64_t
read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t
sum(void)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < count; i++)
        all += atomic_load(&used[i]);
    return all;
}

static void
say(void)
{
    printf("threads %" PRIu64 "\n", sum() + read_clock(clock_of_main) - begin);
    printf("process %" PRIu64 "\n", read_clock(CLOCK_PROCESS_CPUTIME_ID));
    puts("ok");
    fflush(stdout);
}

/* One thread ends the process, when all have used enough together. */
static void
end_in_time(uint64_t more)
{
    static _Atomic uint64_t all;
    static atomic_flag is_ending;
    if (atomic_fetch_add(&all, more) + more < count * each ||
        atomic_flag_test_and_set(&is_ending))
        return;
    say();
    end_process(0);
}

static __attribute__((noinline)) void
compute(_Atomic uint64_t *clock)
{
    uint64_t first = read_clock(CLOCK_THREAD_CPUTIME_ID), now = first;
    while (end_process != NULL || now - first < each) {
        uint64_t last = now;
        for (uint64_t i = 0; i < STEPS; i++)
            sink = sink * 6364136223846793005u + i;
        now = read_clock(CLOCK_THREAD_CPUTIME_ID);
        atomic_store(clock, now);
        if (end_process != NULL)
            end_in_time(now - last);
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

static void
start(pthread_t *threads)
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
wait_for(pthread_t *threads)
{
    const struct timespec nap = {0, NAP_NS};
    while (end_process != NULL ||
           (end_thread == end_by_cancel && atomic_load(&computed) < count))
        nanosleep(&nap, NULL);
    for (unsigned i = 0; i < count; i++) {
        if (end_thread == end_by_cancel)
            pthread_cancel(threads[i]);
        pthread_join(threads[i], NULL);
    }
}

int
main(int argc, char **argv)
{
    const struct ending *ending = endings;
    const struct ending *last = &endings[sizeof endings / sizeof *endings - 1];
    begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    pthread_getcpuclockid(pthread_self(), &clock_of_main);
    count = argc > 3 ? (unsigned)atoi(argv[1]) : 0;
    while (count > 0 && ending != last && strcmp(ending->name, argv[2]) != 0)
        ending++;
    if (count == 0 || strcmp(ending->name, argv[2]) != 0)
        return 2;
    pthread_t *threads = calloc(count, sizeof(*threads));
    used = calloc(count, sizeof(*used));
    each = (uint64_t)atoi(argv[3]) * 1000;
    end_thread = ending->of_thread;
    end_process = ending->of_process;
    has_gate = argc > 4 || end_process != NULL;
    start(threads);
    wait_for(threads);
    say();
    return 0;
}
