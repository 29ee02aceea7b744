/* SPDX-License-Identifier: MIT */
/* waits.c -- see waits.h. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "slices.h"
#include "waits.h"

static struct timespec
length(int64_t ns)
{
    return (struct timespec){ns / 1000000000, ns % 1000000000};
}

static struct timespec
until(clockid_t clock, int64_t ns)
{
    return length(clock_now(clock) + ns);
}

static int
do_nanosleep(struct waiter *w, int64_t ns)
{
    struct timespec time = length(ns);

    (void)w;
    return nanosleep(&time, NULL);
}

static int
do_clock_nanosleep(struct waiter *w, int64_t ns)
{
    struct timespec time = length(ns);

    (void)w;
    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
    return errno ? -1 : 0;
}

static int
do_clock_nanosleep_abs(struct waiter *w, int64_t ns)
{
    struct timespec time = until(CLOCK_MONOTONIC, ns);

    (void)w;
    errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    return errno ? -1 : 0;
}

static int
do_usleep(struct waiter *w, int64_t ns)
{
    (void)w;
    return usleep((useconds_t)(ns / 1000));
}

static int
do_poll(struct waiter *w, int64_t ns)
{
    struct pollfd fd = {w->pipe[0], POLLIN, 0};

    return poll(&fd, 1, ns == FOREVER ? -1 : (int)(ns / MS));
}

static int
do_ppoll(struct waiter *w, int64_t ns)
{
    struct pollfd fd = {w->pipe[0], POLLIN, 0};
    struct timespec time = length(ns);

    return ppoll(&fd, 1, ns == FOREVER ? NULL : &time, NULL);
}

static int
do_select(struct waiter *w, int64_t ns)
{
    struct timeval time = {ns / 1000000000, ns % 1000000000 / 1000};
    fd_set set;

    FD_ZERO(&set);
    FD_SET(w->pipe[0], &set);
    return select(w->pipe[0] + 1, &set, NULL, NULL,
                  ns == FOREVER ? NULL : &time);
}

static int
do_pselect(struct waiter *w, int64_t ns)
{
    struct timespec time = length(ns);
    fd_set set;

    FD_ZERO(&set);
    FD_SET(w->pipe[0], &set);
    return pselect(w->pipe[0] + 1, &set, NULL, NULL,
                   ns == FOREVER ? NULL : &time, NULL);
}

static int
do_epoll_wait(struct waiter *w, int64_t ns)
{
    struct epoll_event event;

    return epoll_wait(w->epoll, &event, 1, ns == FOREVER ? -1 : (int)(ns / MS));
}

static int
do_epoll_pwait(struct waiter *w, int64_t ns)
{
    struct epoll_event event;
    sigset_t mask;

    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return epoll_pwait(w->epoll, &event, 1, ns == FOREVER ? -1 : (int)(ns / MS),
                       &mask);
}

static int
do_sem_timedwait(struct waiter *w, int64_t ns)
{
    struct timespec time = until(CLOCK_REALTIME, ns);

    return ns == FOREVER ? sem_wait(&w->semaphore)
                         : sem_timedwait(&w->semaphore, &time);
}

static int
do_cond_timedwait(struct waiter *w, int64_t ns)
{
    struct timespec time = until(CLOCK_REALTIME, ns);

    pthread_mutex_lock(&w->mutex);
    errno = ns == FOREVER
                ? pthread_cond_wait(&w->condition, &w->mutex)
                : pthread_cond_timedwait(&w->condition, &w->mutex, &time);
    pthread_mutex_unlock(&w->mutex);
    return errno ? -1 : 0;
}

static int
do_futex(struct waiter *w, int64_t ns)
{
    struct timespec time = length(ns);

    return (int)syscall(SYS_futex, &w->futex, FUTEX_WAIT_PRIVATE, 0,
                        ns == FOREVER ? NULL : &time, NULL, 0);
}

/* The time is the socket's own, set when the thread began. */
static int
do_recv(struct waiter *w, int64_t ns)
{
    char byte;

    (void)ns;
    return (int)recv(w->pair[0], &byte, 1, 0);
}

static int
do_read_socket(struct waiter *w, int64_t ns)
{
    char byte;

    (void)ns;
    return (int)read(w->pair[0], &byte, 1);
}

static int
do_accept(struct waiter *w, int64_t ns)
{
    int fd = accept(w->listener, NULL, NULL);

    (void)ns;
    if (fd >= 0)
        close(fd);
    return fd;
}

static int
do_read_pipe(struct waiter *w, int64_t ns)
{
    char byte;

    (void)ns;
    return (int)read(w->pipe[0], &byte, 1);
}

static int
do_sigtimedwait(struct waiter *w, int64_t ns)
{
    struct timespec time = length(ns);
    sigset_t set;

    (void)w;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigtimedwait(&set, NULL, ns == FOREVER ? NULL : &time);
}

static int
do_pause(struct waiter *w, int64_t ns)
{
    (void)w;
    (void)ns;
    return pause();
}

static int
do_sigsuspend(struct waiter *w, int64_t ns)
{
    sigset_t mask;

    (void)w;
    (void)ns;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigsuspend(&mask);
}

static int
do_msgrcv(struct waiter *w, int64_t ns)
{
    struct {
        long type;
        char text[8];
    } message;

    (void)ns;
    return (int)msgrcv(w->queue, &message, sizeof message.text, 0, 0);
}

static int
do_semtimedop(struct waiter *w, int64_t ns)
{
    struct sembuf down = {0, -1, 0};
    struct timespec time = length(ns);

    return semtimedop(w->set, &down, 1, ns == FOREVER ? NULL : &time);
}

#define BY_MONOTONIC 0, CLOCK_MONOTONIC
#define BY_JIFFIES 1, CLOCK_MONOTONIC
#define BY_REALTIME 0, CLOCK_REALTIME

const struct call calls[] = {
    {"nanosleep", do_nanosleep, TIME_ONLY, TIMED, BY_MONOTONIC},
    {"clock_nanosleep", do_clock_nanosleep, TIME_ONLY, TIMED, BY_MONOTONIC},
    {"clock_nanosleep_abs", do_clock_nanosleep_abs, TIME_ONLY, TIMED,
     BY_MONOTONIC},
    {"usleep", do_usleep, TIME_ONLY, TIMED, BY_MONOTONIC},
    {"poll", do_poll, PIPE, ALL, BY_MONOTONIC},
    {"ppoll", do_ppoll, PIPE, ALL, BY_MONOTONIC},
    {"select", do_select, PIPE, ALL, BY_MONOTONIC},
    {"pselect", do_pselect, PIPE, ALL, BY_MONOTONIC},
    {"epoll_wait", do_epoll_wait, PIPE, ALL, BY_MONOTONIC},
    {"epoll_pwait", do_epoll_pwait, PIPE, ALL, BY_MONOTONIC},
    {"sem_timedwait", do_sem_timedwait, SEMAPHORE, ALL, BY_REALTIME},
    {"pthread_cond_timedwait", do_cond_timedwait, CONDITION, ALL, BY_REALTIME},
    {"futex", do_futex, FUTEX, ALL, BY_MONOTONIC},
    {"recv", do_recv, SOCKET, ALL, BY_JIFFIES},
    {"read_socket", do_read_socket, SOCKET, ALL, BY_JIFFIES},
    {"accept", do_accept, CONNECT, ALL, BY_JIFFIES},
    {"read_pipe", do_read_pipe, PIPE, ENDLESS, BY_MONOTONIC},
    {"sigtimedwait", do_sigtimedwait, SIGNAL, ALL, BY_MONOTONIC},
    {"pause", do_pause, SIGNAL, ENDLESS, BY_MONOTONIC},
    {"sigsuspend", do_sigsuspend, SIGNAL, ENDLESS, BY_MONOTONIC},
    {"msgrcv", do_msgrcv, MESSAGE, ENDLESS, BY_MONOTONIC},
    {"semtimedop", do_semtimedop, SEMOP, ALL, BY_JIFFIES},
};

const int call_count = sizeof calls / sizeof *calls;

static void
open_sockets(struct waiter *w)
{
    struct timeval time = {w->ns / 1000000000, w->ns % 1000000000 / 1000};
    socklen_t size = sizeof w->address;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, w->pair) != 0)
        abort();
    w->listener = socket(AF_INET, SOCK_STREAM, 0);
    w->address.sin_family = AF_INET;
    w->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(w->listener, (struct sockaddr *)&w->address, size) != 0 ||
        listen(w->listener, 4) != 0 ||
        getsockname(w->listener, (struct sockaddr *)&w->address, &size) != 0)
        abort();
    if (w->ns != FOREVER) {
        setsockopt(w->pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
        setsockopt(w->listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    }
}

void
waiter_open(struct waiter *w)
{
    struct epoll_event event = {.events = EPOLLIN};
    sigset_t set;

    if (w->call->wake == SOCKET || w->call->wake == CONNECT)
        open_sockets(w);
    w->epoll = epoll_create1(0);
    if (pipe(w->pipe) != 0 ||
        epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->pipe[0], &event) != 0)
        abort();
    sem_init(&w->semaphore, 0, 0);
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->condition, NULL);
    if (w->call->wake == MESSAGE)
        w->queue = msgget(IPC_PRIVATE, 0600);
    if (w->call->wake == SEMOP)
        w->set = semget(IPC_PRIVATE, 1, 0600);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    if (w->call->wait == do_sigtimedwait)
        pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void
connect_to(struct waiter *w)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (connect(fd, (struct sockaddr *)&w->address, sizeof w->address) != 0)
        abort();
    close(fd);
}

void
waiter_wake(struct waiter *w)
{
    struct {
        long type;
        char text[8];
    } message = {1, "wake"};
    struct sembuf up = {0, 1, 0};
    ssize_t done = 1;

    __atomic_fetch_add(&w->woken, 1, __ATOMIC_SEQ_CST);
    if (w->call->wake == PIPE)
        done = write(w->pipe[1], "", 1);
    else if (w->call->wake == SOCKET)
        done = write(w->pair[1], "", 1);
    else if (w->call->wake == CONNECT)
        connect_to(w);
    else if (w->call->wake == SEMAPHORE)
        sem_post(&w->semaphore);
    else if (w->call->wake == CONDITION) {
        pthread_mutex_lock(&w->mutex);
        pthread_cond_signal(&w->condition);
        pthread_mutex_unlock(&w->mutex);
    } else if (w->call->wake == FUTEX)
        syscall(SYS_futex, &w->futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    else if (w->call->wake == MESSAGE)
        done = msgsnd(w->queue, &message, sizeof message.text, 0) + 1;
    else if (w->call->wake == SEMOP)
        done = semop(w->set, &up, 1) + 1;
    else if (w->call->wake == SIGNAL)
        pthread_kill(w->thread,
                     w->call->wait == do_sigtimedwait ? SIGUSR2 : SIGUSR1);
    if (done != 1)
        abort();
}

void
waiter_consume(struct waiter *w)
{
    char byte;

    if (w->call->wake == PIPE && w->call->wait != do_read_pipe &&
        read(w->pipe[0], &byte, 1) != 1)
        abort();
}

void
waiter_close(struct waiter *w)
{
    if (w->call->wake == MESSAGE)
        msgctl(w->queue, IPC_RMID, NULL);
    if (w->call->wake == SEMOP)
        semctl(w->set, 0, IPC_RMID);
}
