/* SPDX-License-Identifier: MIT */
/*
 * spawn.h -- runs our own program from inside the profiled process, so that the
 * process does not notice. The process gets no SIGCHLD, its wait(2) finds
 * nothing, and no fork handlers run. The spawned program gets only the part of
 * the environment that was kept.
 */
#ifndef AGENT_SPAWN_H
#define AGENT_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sys.h"

/* Keep the part of ENVIRONMENT for spawned programs, before the program can
 * change it. In the constructor. */
void spawn_begin(char *const environment[]);

/*
 * Run the program ARGUMENTS[0] with ARGUMENTS, which end with NULL. Read its
 * standard output into ANSWER of SIZE bytes, NUL-terminated, up to its end.
 * Waits for it, but kills it after NS. It has no other descriptors, and gets no
 * signal that is sent to the group. Returns 0, or -1 with errno if it could not
 * be run, ETIME if it was killed. One child at a time. Async-signal-safe. The
 * profiled program is ending: if it has only one thread, that thread waits for
 * this call.
 */
int spawn_run(const char *const arguments[], uint64_t ns, char *answer,
              size_t size);

/* The same in two steps. SPAWNED and the arguments stay valid until the child
 * is over. MESSAGE, if it is not -1, becomes its standard error. */
struct spawned {
    pid_t pid; /* of the go-between */
    /* Only the program could wait for the child, but it waits for the library.
     */
    bool is_hidden;
    bool is_plain; /* a child like the program's own */
    /* If IS_PLAIN: the disposition of SIGCHLD that is put back. */
    struct sys_action before;
    int fd;    /* of the answer; -1 after its end */
    int error; /* errno as of spawn_run, once it is over */
    char *stack;
    uint64_t until; /* CLOCK_MONOTONIC ns */
    char *answer;
    size_t size, length;
};
int spawn_start(struct spawned *spawned, bool is_hidden,
                const char *const arguments[], int message, uint64_t ns,
                char *answer, size_t size);

/* Whether the child has ended, or was killed after its time. WAITS: wait a
 * while for it; the caller calls again until it is over. Otherwise returns at
 * once. */
bool spawn_is_over(struct spawned *spawned, bool waits);

/* Kill the running child, if any. Context: any. */
void spawn_kill(void);

#endif
