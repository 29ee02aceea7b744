/* SPDX-License-Identifier: MIT */
/*
 * waits.h -- the ways to wait that disturb.c tries. signal(7) says that most of
 * them are never restarted after a handler; some are.
 */
#ifndef BENCH_WAITS_H
#define BENCH_WAITS_H

#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

#define FOREVER (-1)

struct waiter;

enum wake {
    TIME_ONLY,
    PIPE,
    SOCKET,
    CONNECT,
    SEMAPHORE,
    CONDITION,
    FUTEX,
    MESSAGE,
    SEMOP,
    SIGNAL
};

/* One way to wait. The function returns -1 with errno or anything else. */
struct call {
    const char *name;
    int (*wait)(struct waiter *waiter, int64_t ns);
    enum wake wake; /* what ends a wait without end */
    int lengths;    /* enum length, or-ed */
    int coarse;     /* the kernel counts it in jiffies */
    clockid_t clock;
};
enum length { SHORT = 1, LONG = 2, ENDLESS = 4 };
#define TIMED (SHORT | LONG)
#define ALL (TIMED | ENDLESS)

/* One thread, with everything that any call could need. */
struct waiter {
    const struct call *call;
    int64_t ns;
    pthread_t thread;
    int ready;
    long waits, interrupted, early;
    long woken; /* by the waker, so far */
    int pipe[2], pair[2], listener, epoll, futex, queue, set;
    struct sockaddr_in address;
    sem_t semaphore;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
};

extern const struct call calls[];
extern const int call_count;

/* Make what the call of W needs, in its thread; remove it; end a wait. */
void waiter_open(struct waiter *w);
void waiter_close(struct waiter *w);
void waiter_wake(struct waiter *w);

/* Take what waiter_wake() left, where the call itself does not. */
void waiter_consume(struct waiter *w);

#endif
