/* SPDX-License-Identifier: MIT */
/*
 * fork_own_malloc.c -- the program has its own allocator. Handlers that main
 * registers hold its lock over a fork, so that a child cannot allocate or free
 * before they have run. A thread holds the lock most of the time. The children
 * compute, and make threads; one is made by __fork, the others by fork and
 * forkpty.
 *
 * Arguments: how many children; milliseconds of CPU time of each, 100.
 */
#include <pthread.h>
#include <pty.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

/* Freed memory is never used again. */
#define POOL (256u << 20)
#define HEADER 16u

pid_t __fork(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(HEADER) char pool[POOL];
static size_t used;
static atomic_bool stop;

void *
malloc(size_t size)
{
    char *memory = NULL;

    pthread_mutex_lock(&lock);
    if (size < POOL / 2 && used + size + 2 * HEADER <= POOL) {
        memory = pool + used;
        memcpy(memory, &size, sizeof size);
        used += (size + 2 * HEADER - 1) / HEADER * HEADER;
    }
    pthread_mutex_unlock(&lock);
    return memory != NULL ? memory + HEADER : NULL;
}

void
free(void *memory)
{
    (void)memory;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

void *
calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

void *
realloc(void *memory, size_t size)
{
    char *now = malloc(size);
    size_t before = 0;

    if (memory != NULL)
        memcpy(&before, (char *)memory - HEADER, sizeof before);
    if (now != NULL && before != 0)
        memcpy(now, memory, before < size ? before : size);
    return now;
}

static void
take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void
give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

static void *
keep_busy(void *argument)
{
    while (!atomic_load(&stop)) {
        for (unsigned i = 0; i < 50; i++)
            free(NULL);
        work_burn(1);
    }
    return argument;
}

static void *
allocate(void *argument)
{
    free(malloc(5));
    return argument;
}

static unsigned burn_ms;

static void
be_child(bool has_thread)
{
    pthread_t thread;

    free(malloc(5));
    if (has_thread && (pthread_create(&thread, NULL, allocate, NULL) != 0 ||
                       pthread_join(thread, NULL) != 0))
        _exit(90);
    /* Where other processes have the CPUs, the first moments are not
     * sampled. */
    work_burn(burn_ms);
    _exit(7);
}

/* Be the child, or return whether CHILD did all that it should. */
static bool
is_right(pid_t child, bool has_thread)
{
    int status;

    if (child == 0)
        be_child(has_thread);
    return child > 0 && waitpid(child, &status, 0) == child &&
           WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

int
main(int argc, char **argv)
{
    unsigned right = 0, count = work_argument(argc, argv, 1, 12);
    pthread_t thread;
    int master;

    burn_ms = work_argument(argc, argv, 2, 100);

    /* By a function that no hook can see, while no thread has the lock. */
    right += is_right(__fork(), true);
    pthread_atfork(take_lock, give_lock, give_lock);
    pthread_create(&thread, NULL, keep_busy, NULL);
    work_burn(10);
    for (unsigned i = 1; i < count; i++)
        right +=
            is_right(i % 4 == 0 ? forkpty(&master, NULL, NULL, NULL) : fork(),
                     i % 2 == 0);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    printf("%u of %u\nok\n", right, count);
    return 0;
}
