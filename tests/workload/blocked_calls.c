/* SPDX-License-Identifier: MIT */
/*
 * blocked_calls.c -- one thread in each call that waits and that a signal would
 * disturb, through functions with known names: blocked_thread, in_CALL. A
 * thread has the name of its call. Each counts what came back too early.
 *
 * Argument: milliseconds, 1000. Prints "interrupted: N" on stderr.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

/* A function that calls EXPRESSION, whose value it returns. */
#define WAITS(call, expression)       \
    FRAME static long in_##call(void) \
    {                                 \
        long result = (expression);   \
        KEEP_FRAME();                 \
        return result;                \
    }

static atomic_uint interrupted;
static atomic_bool is_over;
static int pipe_ends[2], sockets[2], listener, epoll, queue;
static sem_t posted, never_posted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static struct timespec relative, later;
static sigset_t wakers;

WAITS(nanosleep, nanosleep(&relative, NULL))
WAITS(usleep,
      usleep((useconds_t)(relative.tv_sec * 1000000 + relative.tv_nsec / 1000)))
WAITS(sleep, (long)sleep((unsigned)relative.tv_sec + 1) > 0 ? -1 : 0)
WAITS(sem_wait, sem_wait(&posted))
WAITS(sem_timedwait, sem_timedwait(&never_posted, &later))

FRAME static long
in_epoll_wait(void)
{
    struct epoll_event event;
    long result = epoll_wait(epoll, &event, 1, -1);

    KEEP_FRAME();
    return result;
}

FRAME static long
in_poll(void)
{
    struct pollfd end = {.fd = pipe_ends[0], .events = POLLIN};
    long result = poll(&end, 1, -1);

    KEEP_FRAME();
    return result;
}

FRAME static long
in_select(void)
{
    fd_set set;

    FD_ZERO(&set);
    FD_SET(pipe_ends[0], &set);
    long result = select(pipe_ends[0] + 1, &set, NULL, NULL, NULL);
    KEEP_FRAME();
    return result;
}

FRAME static long
in_read(void)
{
    char byte;
    long result = read(pipe_ends[0], &byte, 1);

    KEEP_FRAME();
    return result;
}

FRAME static long
in_recv(void)
{
    char byte;
    long result = recv(sockets[0], &byte, 1, 0);

    KEEP_FRAME();
    return result;
}

FRAME static long
in_accept(void)
{
    int end = accept(listener, NULL, NULL);

    if (end >= 0)
        close(end);
    return end;
}

FRAME static long
in_msgrcv(void)
{
    struct {
        long type;
        char text[8];
    } message;
    long result = msgrcv(queue, &message, sizeof message.text, 0, 0);

    KEEP_FRAME();
    return result;
}

FRAME static long
in_vfork(void)
{
    struct pollfd end = {.fd = pipe_ends[0], .events = POLLIN};
    pid_t child = vfork();

    if (child == 0) {
        /* Also when the parent is killed. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        poll(&end, 1, -1);
        _exit(0);
    }
    KEEP_FRAME();
    return child;
}

/* As posix_spawn and system wait for their child, until it has begun. */
static int
wait_in_child(void *argument)
{
    struct pollfd end = {.fd = pipe_ends[0], .events = POLLIN};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    poll(&end, 1, -1);
    (void)argument;
    return 0;
}

FRAME static long
in_clone(void)
{
    static char stack[64 << 10] __attribute__((aligned(16)));
    pid_t child = clone(wait_in_child, stack + sizeof stack,
                        CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

    KEEP_FRAME();
    return child;
}

FRAME static long
in_sigtimedwait(void)
{
    long result = sigtimedwait(&wakers, NULL, &relative);

    KEEP_FRAME();
    return result < 0 && errno == EAGAIN ? 0 : result;
}

FRAME static long
in_mutex_lock(void)
{
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    KEEP_FRAME();
    return 0;
}

FRAME static long
in_cond_wait(void)
{
    pthread_mutex_lock(&mutex);
    while (!atomic_load(&is_over))
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    KEEP_FRAME();
    return 0;
}

FRAME static long
in_cond_timedwait(void)
{
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&condition, &mutex, &later) == 0)
        continue;
    pthread_mutex_unlock(&mutex);
    KEEP_FRAME();
    return 0;
}

static const struct call {
    const char *name;
    long (*wait)(void);
} calls[] = {
    {"nanosleep", in_nanosleep},
    {"usleep", in_usleep},
    {"sleep", in_sleep},
    {"sem_wait", in_sem_wait},
    {"sem_timedwait", in_sem_timedwait},
    {"epoll_wait", in_epoll_wait},
    {"poll", in_poll},
    {"select", in_select},
    {"read", in_read},
    {"recv", in_recv},
    {"accept", in_accept},
    {"msgrcv", in_msgrcv},
    {"vfork", in_vfork},
    {"clone", in_clone},
    {"sigtimedwait", in_sigtimedwait},
    {"mutex_lock", in_mutex_lock},
    {"cond_wait", in_cond_wait},
    {"cond_timedwait", in_cond_timedwait},
};
#define CALLS (sizeof calls / sizeof calls[0])

FRAME static void *
blocked_thread(void *argument)
{
    const struct call *call = argument;

    pthread_setname_np(pthread_self(), call->name);
    if (call->wait() < 0 && errno == EINTR)
        atomic_fetch_add(&interrupted, 1);
    KEEP_FRAME();
    return NULL;
}

static void
prepare(unsigned ms)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct epoll_event event = {.events = EPOLLIN};

    relative = (struct timespec){ms / 1000, ms % 1000 * 1000000l};
    clock_gettime(CLOCK_REALTIME, &later);
    later.tv_sec += ms / 1000;
    later.tv_nsec += ms % 1000 * 1000000l;
    later.tv_sec += later.tv_nsec / 1000000000l;
    later.tv_nsec %= 1000000000l;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    epoll = epoll_create1(0);
    queue = msgget(IPC_PRIVATE, 0600);
    /* With the family alone, the kernel draws a name. */
    if (pipe(pipe_ends) != 0 || sem_init(&posted, 0, 0) != 0 ||
        sem_init(&never_posted, 0, 0) != 0 ||
        bind(listener, (struct sockaddr *)&name, sizeof(sa_family_t)) != 0 ||
        listen(listener, 1) != 0 || queue < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_ends[0], &event) != 0)
        work_fail("something to wait for");
    sigemptyset(&wakers);
    sigaddset(&wakers, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &wakers, NULL);
    pthread_mutex_lock(&held);
}

/* Let all go on. The pipe stays readable: one thread takes a byte. */
static void
finish(void)
{
    atomic_store(&is_over, true);
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&held);
    sem_post(&posted);
    shutdown(sockets[0], SHUT_RDWR);
    shutdown(listener, SHUT_RDWR);
    msgctl(queue, IPC_RMID, NULL);
    if (write(pipe_ends[1], "xx", 2) != 2)
        work_fail("write");
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 1000);
    pthread_t threads[CALLS];
    char line[128];

    prepare(ms);
    for (unsigned i = 0; i < CALLS; i++) {
        snprintf(line, sizeof line, "blocked_thread;in_%s(;|$| )",
                 calls[i].name);
        work_expect(line);
        if (pthread_create(&threads[i], NULL, blocked_thread,
                           (void *)&calls[i]) != 0)
            work_fail("pthread_create");
    }
    work_sleep(ms);
    finish();
    for (unsigned i = 0; i < CALLS; i++)
        pthread_join(threads[i], NULL);
    fprintf(stderr, "interrupted: %u\n", atomic_load(&interrupted));
    puts("ok");
    return 0;
}
