/* SPDX-License-Identifier: MIT */
/*
 * in_front.c -- a library preloaded beside libsprof.so, before or after it:
 * it stands in front of what the profiler uses and has hooks for, and of
 * malloc, which has a lock that is held across fork, and while now and then an
 * allocation makes a thread and waits for its end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define THREAD_EVERY 500u

typedef int create_function(pthread_t *, const pthread_attr_t *,
                            void *(*)(void *), void *);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint allocations;
static __thread int is_inside;

static create_function *next_create;
static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
static pid_t (*next_fork)(void);

void *__libc_malloc(size_t size);
void __libc_free(void *memory);

/* At the first call: that may come before our constructor. Not later, when the
 * loader's lock would be taken under ours. */
static void
find_next(void)
{
    if (next_fork != NULL)
        return;
    *(void **)&next_create = dlsym(RTLD_NEXT, "pthread_create");
    *(void **)&next_sigaction = dlsym(RTLD_NEXT, "sigaction");
    *(void **)&next_fork = dlsym(RTLD_NEXT, "fork");
}

static void
begin_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void
end_fork(void)
{
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void
begin(void)
{
    find_next();
    pthread_atfork(begin_fork, end_fork, end_fork);
}

static void *
pass(void *argument)
{
    return argument;
}

static void
make_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, pass, NULL) == 0)
        pthread_join(thread, NULL);
}

void *
malloc(size_t size)
{
    void *memory;

    if (is_inside)
        return __libc_malloc(size);
    is_inside = 1;
    pthread_mutex_lock(&lock);
    memory = __libc_malloc(size);
    if (atomic_fetch_add(&allocations, 1) % THREAD_EVERY == THREAD_EVERY - 1)
        make_thread();
    pthread_mutex_unlock(&lock);
    is_inside = 0;
    return memory;
}

void
free(void *memory)
{
    if (memory == NULL)
        return;
    if (is_inside) {
        __libc_free(memory);
        return;
    }
    is_inside = 1;
    pthread_mutex_lock(&lock);
    __libc_free(memory);
    pthread_mutex_unlock(&lock);
    is_inside = 0;
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*start)(void *), void *argument)
{
    find_next();
    return next_create(thread, attributes, start, argument);
}

int
sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    find_next();
    return next_sigaction(signo, action, old);
}

pid_t
fork(void)
{
    find_next();
    return next_fork();
}
