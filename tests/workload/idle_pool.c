/* SPDX-License-Identifier: MIT */
/*
 * idle_pool.c -- threads of which most only wait for work: POOL of them at a
 * condition, one in epoll_wait and one in accept. A thread "burner" computes,
 * and holds a mutex for which "blocked" waits all the time. "walker" waits by
 * turns at two places. A thread that was misjudged would be missed. The end of
 * main ends all. Prints ok.
 *
 * Arguments: milliseconds, 4000; "alone": no other thread is there, and main
 * waits.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "work.h"

enum { POOL = 6 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t is_held;
static int wake[2];

static FRAME void *
pool_waits(void *unused)
{
    pthread_mutex_lock(&gate);
    for (;;)
        pthread_cond_wait(&work, &gate);
    return unused;
}

static FRAME void *
loop_waits(void *unused)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0);
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, wake[0], &event) != 0)
        work_fail("epoll");
    while (epoll_wait(epoll, &event, 1, -1) != 1)
        ;
    close(epoll);
    return unused;
}

static FRAME void *
server_waits(void *listener)
{
    (void)accept(*(int *)listener, NULL, NULL);
    return listener;
}

static FRAME void
compute(void)
{
    for (;;)
        (void)work_burn(20);
}

static void *
burn(void *unused)
{
    pthread_setname_np(pthread_self(), "burner");
    pthread_mutex_lock(&held);
    pthread_barrier_wait(&is_held);
    compute();
    return unused;
}

static FRAME void *
lock_held(void *unused)
{
    pthread_setname_np(pthread_self(), "blocked");
    pthread_barrier_wait(&is_held);
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return unused;
}

static FRAME void
first_place(void)
{
    work_sleep(100);
    KEEP_FRAME();
}

static FRAME void
second_place(void)
{
    work_sleep(101);
    KEEP_FRAME();
}

static void *
walk(void *unused)
{
    pthread_setname_np(pthread_self(), "walker");
    for (;;) {
        first_place();
        second_place();
    }
    return unused;
}

int
main(int argc, char **argv)
{
    unsigned budget = work_argument(argc, argv, 1, 4000);
    pthread_t thread;
    /* The kernel chooses the name of the socket (unix(7), autobind). */
    struct sockaddr any = {.sa_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (argc > 2) {
        work_sleep(budget);
        puts("ok");
        return 0;
    }
    if (pipe(wake) != 0 || bind(listener, &any, sizeof(any.sa_family)) != 0 ||
        listen(listener, 1) != 0)
        work_fail("listen");
    pthread_barrier_init(&is_held, NULL, 2);
    for (unsigned i = 0; i < POOL; i++)
        pthread_create(&thread, NULL, pool_waits, NULL);
    pthread_create(&thread, NULL, loop_waits, NULL);
    pthread_create(&thread, NULL, server_waits, &listener);
    pthread_create(&thread, NULL, burn, NULL);
    pthread_create(&thread, NULL, lock_held, NULL);
    pthread_create(&thread, NULL, walk, NULL);
    work_sleep(budget);
    puts("ok");
    return 0;
}
