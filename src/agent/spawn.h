/* SPDX-License-Identifier: MIT */
/*
 * spawn.h -- runs a program of ours from inside a process that is not ours, so
 * that the process does not notice: no SIGCHLD, nothing for its wait(2) to
 * find, no fork handlers, no environment of the profiled program but what was
 * kept.
 */
#ifndef AGENT_SPAWN_H
#define AGENT_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sys.h"

/* Keep what a spawned program is to have of ENVIRONMENT, before the program can
 * change it. In the constructor. */
void spawn_begin(char *const environment[]);

/*
 * Run PATH with ARGUMENTS (argv[0] included, ending with NULL), and read what
 * it writes to its standard output into ANSWER of SIZE bytes, NUL-terminated,
 * up to its end. Waits for it, but kills it after NS. It has no other
 * descriptors and gets no signal that is sent to the group. Returns 0, or -1
 * with errno if it could not be run, ETIME if it was killed. One child at a
 * time; async-signal-safe. The program is at its end: a thread of its that is
 * the only one waits for this.
 */
int spawn_run(const char *path, const char *const arguments[], uint64_t ns,
              char *answer, size_t size);

/* The same in two steps. SPAWNED and what it was given stay valid until it is
 * over. MESSAGE, if it is not -1, becomes its standard error. */
struct spawned {
    pid_t pid;      /* of the go-between */
    bool is_hidden; /* the program alone would wait for it, and waits for us */
    bool is_plain;  /* it is a child like the program's own */
    struct sys_action before; /* then: the disposition of SIGCHLD, for after */
    int fd;                   /* of the answer; -1 after its end */
    int error;                /* errno as of spawn_run, once it is over */
    char *stack;
    uint64_t until; /* CLOCK_MONOTONIC ns */
    char *answer;
    size_t size, length;
};
int spawn_start(struct spawned *spawned, const char *path,
                const char *const arguments[], int message, uint64_t ns,
                char *answer, size_t size);

/* Whether it has ended, or was killed after its time. WAITS: call again until
 * it has; this takes a while. Else it returns at once. */
bool spawn_is_over(struct spawned *spawned, bool waits);

/* In the child of a fork: what runs is its parent's. */
void spawn_forget(void);

/* Kill the child that runs, if there is one. Any context. */
void spawn_kill(void);

#endif
