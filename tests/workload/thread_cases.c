/* SPDX-License-Identifier: MIT */
/*
 * thread_cases.c -- threads that begin, live and end in unusual cases, and what
 * they see of it: stacks, cancellation, keys, masks, policies, the process's
 * end. Stacks, the first trap, are filled to the last page.
 *
 * Arguments: a word of the table at the end; a number where a case wants one.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "cases.h"

static atomic_uint lived, cleaned, locked;

static pthread_t
make(const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    pthread_t thread;
    int error = pthread_create(&thread, attributes, start, argument);

    if (error != 0) {
        printf("pthread_create: %s\n", strerror(error));
        exit(1);
    }
    return thread;
}

static void *
live_a_moment(void *argument)
{
    atomic_fetch_add(&lived, 1);
    return argument;
}

static void
brief(void)
{
    for (unsigned i = 0; i < cases_number; i += 10) {
        pthread_t threads[10];

        for (unsigned k = 0; k < 10; k++)
            threads[k] = make(NULL, live_a_moment, NULL);
        for (unsigned k = 0; k < 10; k++)
            pthread_join(threads[k], NULL);
    }
    printf("%u lived\n", atomic_load(&lived));
}

static pthread_barrier_t barrier;

static void *
wait_for_all(void *argument)
{
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return argument;
}

static void
idle(void)
{
    pthread_t *threads = calloc(cases_number, sizeof *threads);
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64u << 10);
    pthread_barrier_init(&barrier, NULL, cases_number + 1);
    for (unsigned i = 0; i < cases_number; i++)
        threads[i] = make(&attributes, wait_for_all, NULL);
    pthread_barrier_wait(&barrier);
    cases_compute(300);
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < cases_number; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

/* Use the stack down to what the kernel's own signal frame needs at least, and
 * find it as it was. */
static void *
fill_stack(void *argument)
{
    size_t frame = (size_t)sysconf(_SC_MINSIGSTKSZ), left = 0;
    pthread_attr_t attributes;
    char *low, *here = __builtin_frame_address(0);

    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, (void **)&low, &left);
    pthread_attr_destroy(&attributes);
    left = (size_t)(here - low);
    if (left > frame + 3072) {
        volatile char room[left - frame - 3072];

        memset((char *)room, 0x5a, sizeof room);
        cases_compute(cases_number);
        for (size_t i = 0; i < sizeof room; i++)
            if (room[i] != 0x5a)
                work_fail("the stack was overwritten");
    }
    atomic_fetch_add(&lived, 1);
    return argument;
}

/* In memory that the program mapped, with nothing below that could be
 * overwritten unseen. */
static void
on_own_stack(size_t size, char *memory)
{
    pthread_attr_t attributes;

    memset(memory, 0x77, 4096);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory + 4096, size);
    pthread_join(make(&attributes, fill_stack, NULL), NULL);
    for (unsigned i = 0; i < 4096; i++)
        if (memory[i] != 0x77)
            work_fail("something below the stack was overwritten");
}

static void
small_stacks(void)
{
    size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    char *heap = aligned_alloc(4096, least + 4096);
    char *map = mmap(NULL, least + 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t threads[4];

    /* Bound now what the threads call: the dynamic linker needs more stack for
     * that than is left, by the size of all registers, to a signal's frame. */
    memset(map, 0, least);
    cases_compute(1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, least);
    for (unsigned i = 0; i < 4; i++)
        threads[i] = make(&attributes, fill_stack, NULL);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    on_own_stack(least, heap);
    on_own_stack(least, map);
    free(heap);
    printf("%u lived\n", atomic_load(&lived));
}

static void
clean(void *argument)
{
    (void)argument;
    atomic_fetch_add(&cleaned, 1);
}

static void *
wait_in(void *argument)
{
    int (*const *wait)(void) = argument;

    pthread_cleanup_push(clean, NULL);
    for (;;)
        (*wait)();
    pthread_cleanup_pop(0);
    return NULL;
}

static int
wait_by_read(void)
{
    static int ends[2] = {-1, -1};
    char byte;

    if (ends[0] < 0 && pipe(ends) != 0)
        return -1;
    return (int)read(ends[0], &byte, 1);
}

static int
wait_by_sleep(void)
{
    return (int)sleep(100);
}

static void
unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static int
wait_by_condition(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
    return 0;
}

static int
wait_by_test(void)
{
    cases_compute(1);
    pthread_testcancel();
    return 0;
}

static int
compute_only(void)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (volatile unsigned i = 0;; i++)
        continue;
    return 0;
}

static void
cancelled(void)
{
    static int (*const waits[])(void) = {wait_by_read, wait_by_sleep,
                                         pause,        wait_by_condition,
                                         wait_by_test, compute_only};
    unsigned right = 0;

    for (unsigned round = 0; round < cases_number; round++)
        for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
            void *result;
            pthread_t thread = make(NULL, wait_in, (void *)&waits[i]);

            if (round % 2 == 0)
                work_sleep(5);
            pthread_cancel(thread);
            pthread_join(thread, &result);
            right += result == PTHREAD_CANCELED;
        }
    printf("%u cancelled\n", right);
    printf("%s\n", atomic_load(&cleaned) <= right ? "cleaned" : "too often");
}

static int
in_c11(void *argument)
{
    sigset_t set;

    pthread_sigmask(SIG_BLOCK, NULL, &set);
    printf("blocked %d %d\n", sigismember(&set, SIGPROF),
           sigismember(&set, SIGUSR1));
    cases_compute(20);
    thrd_exit(argument == NULL ? 5 : 6);
}

/* A thread of C11 inherits the mask as any other does. */
static void
c11(void)
{
    sigset_t set;
    thrd_t thread;
    int result;

    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (thrd_create(&thread, in_c11, NULL) != thrd_success)
        work_fail("thrd_create");
    thrd_join(thread, &result);
    printf("result %d\n", result);
}

/* Every key that the system grants is the program's. */
static void
keys(void)
{
    pthread_key_t key;
    unsigned count = 0;

    while (count < 2 * PTHREAD_KEYS_MAX && pthread_key_create(&key, NULL) == 0)
        if (pthread_setspecific(key, &key) == 0)
            count++;
    printf("%u keys\n", count);
    for (unsigned i = 0; i < 20; i++)
        pthread_join(make(NULL, live_a_moment, NULL), NULL);
}

static void *
say_policy(void *argument)
{
    struct sched_param parameters;
    cpu_set_t set;
    int policy;

    pthread_getschedparam(pthread_self(), &policy, &parameters);
    sched_getaffinity(0, sizeof set, &set);
    printf("policy %d, priority %d, %d CPU\n", policy,
           parameters.sched_priority, CPU_COUNT(&set));
    cases_compute(50);
    return argument;
}

/* A thread that outranks everybody, on one CPU; the sampler may hold nothing
 * that this thread needs while it waits for it, nor may the thread wait for the
 * sampler. */
static void
real_time(void)
{
    struct sched_param parameters = {.sched_priority = 10};
    pthread_attr_t attributes;
    cpu_set_t set;
    pthread_t thread;

    CPU_ZERO(&set);
    CPU_SET(0, &set);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    pthread_join(make(&attributes, say_policy, NULL), NULL);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &parameters);
    if (pthread_create(&thread, &attributes, say_policy, NULL) != 0)
        puts("no right to be real-time");
    else
        pthread_join(thread, NULL);
}

/* A stopped process stands still, and goes on. */
static void
stopped(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        for (unsigned i = 0; i < 20; i++)
            cases_compute(10);
        exit(4);
    }
    for (unsigned i = 0; i < 5; i++) {
        kill(child, SIGSTOP);
        if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
            puts("did not stop");
        work_sleep(20);
        kill(child, SIGCONT);
        work_sleep(5);
    }
    cases_say_end(child);
}

/* Mutexes whose owner ends, in this process and in a child; and those that lend
 * the owner the priority of a waiting thread. */
static pthread_mutex_t *
make_mutex(int protocol, int robust)
{
    pthread_mutex_t *mutex = mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, robust);
    if (pthread_mutexattr_setprotocol(&attributes, protocol) != 0 ||
        mutex == MAP_FAILED || pthread_mutex_init(mutex, &attributes) != 0)
        work_fail("mutex");
    return mutex;
}

static void *
lock_and_end(void *argument)
{
    pthread_mutex_lock(argument);
    atomic_fetch_add(&locked, 1);
    cases_compute(10);
    return argument;
}

static void
take_over(pthread_mutex_t *mutex)
{
    int error = pthread_mutex_lock(mutex);

    if (error != EOWNERDEAD || pthread_mutex_consistent(mutex) != 0)
        printf("lock: %s\n", strerror(error));
    else
        atomic_fetch_add(&lived, 1);
    pthread_mutex_unlock(mutex);
}

static void
robust(void)
{
    for (unsigned i = 0; i < cases_number; i++) {
        pthread_mutex_t *mutex =
            make_mutex(i % 2 == 0 ? PTHREAD_PRIO_NONE : PTHREAD_PRIO_INHERIT,
                       PTHREAD_MUTEX_ROBUST);
        pthread_t thread = make(NULL, lock_and_end, mutex);
        pid_t child;

        while (atomic_load(&locked) <= i)
            work_sleep(1);
        take_over(mutex);
        pthread_join(thread, NULL);
        if ((child = fork()) == 0) {
            lock_and_end(mutex);
            if (i % 4 < 2)
                exit(0);
            kill(getpid(), SIGKILL);
        }
        waitpid(child, NULL, 0);
        take_over(mutex);
    }
    printf("%u taken over\n", atomic_load(&lived));
}

static unsigned guarded;

static void *
contend(void *argument)
{
    for (unsigned i = 0; i < cases_number; i++) {
        pthread_mutex_lock(argument);
        guarded++;
        if (i % 256 == 0)
            cases_compute(1);
        pthread_mutex_unlock(argument);
    }
    return argument;
}

static void
inherit(void)
{
    pthread_mutex_t *mutex =
        make_mutex(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    pthread_t threads[4];

    for (unsigned i = 0; i < 4; i++)
        threads[i] = make(NULL, contend, mutex);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%u times\n", guarded);
}

static const struct named_case cases[] = {
    {"brief", brief, 15000},
    {"idle", idle, 1000},
    {"stacks", small_stacks, 300},
    {"cancel", cancelled, 10},
    {"c11", c11, 0},
    {"keys", keys, 0},
    {"real_time", real_time, 0},
    {"stopped", stopped, 0},
    {"robust", robust, 4},
    {"inherit", inherit, 3000},
};

int
main(int argc, char **argv)
{
    return cases_run(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
