/* SPDX-License-Identifier: MIT */
/*
 * peek_calls.h -- what peek_test.c knows of the functions in which its threads
 * block: peek_calls.c, compiled in several ways.
 */
#ifndef TESTS_UNIT_PEEK_CALLS_H
#define TESTS_UNIT_PEEK_CALLS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A function that stays a function, and keeps its frame at its last call. */
#ifdef __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noipa))
#endif
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

#define PEEK_CHAIN 8

/* A way to block: RUN is called by "middle", that by the thread's start. */
struct peek_case {
    const char *name;
    void (*run)(void);
    const void *chain[PEEK_CHAIN]; /* functions, from the leaf; NULL: end */
    size_t repeats;                /* of the second of them, if not 0 */
    size_t stack;                  /* size of it; 0: default */
    bool is_bare;                  /* RUN is the thread's start itself */
    bool may_be_cut;               /* two answers are possible */
};

/* A compiled copy of peek_calls.c. */
struct peek_calls {
    const char *name;
    const struct peek_case *cases; /* ended by one without name */
    void *(*start)(void *);        /* of a thread; takes a struct peek_thread */
    void *(*start_bare)(void *);
};
extern const struct peek_calls peek_calls_o0, peek_calls_o2, peek_calls_o2_fp;

struct peek_thread {
    const struct peek_case *what;
    pthread_t thread;
    _Atomic pid_t tid;
};

/* Things to wait for, none of which ever comes. */
struct peek_things {
    int pipe[2], sockets[2], listener, epoll, queue, lock_fd;
    sem_t semaphore;
    pthread_mutex_t mutex, held;
    pthread_cond_t condition;
    pthread_t threads[3];
    _Atomic unsigned joined; /* of the threads; only one may wait for each */
    _Atomic int signal;      /* the next to use: a handler is everybody's */
    pid_t child;
};
extern struct peek_things things;

void library_wait(int fd);
void library_wait_alloca(int fd, unsigned size);

#endif
