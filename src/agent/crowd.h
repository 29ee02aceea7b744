/* SPDX-License-Identifier: MIT */
/*
 * crowd.h -- a few places that the processes of a tree share, so that many of
 * them at once cost little. A tree is a process and all processes forked from
 * it. An exec begins another tree. A process that has not forked and was not
 * forked gets every place. Uses system calls and atomics only.
 */
#ifndef AGENT_CROWD_H
#define AGENT_CROWD_H

#include <stdbool.h>
#include <stdint.h>

enum crowd_place {
    CROWD_WAITING, /* it is sampled, though it has only waited */
    CROWD_WRITING, /* runs libsprof-report.so at its end */
    CROWD_PLACES
};

/* Called before a fork. Context: any thread. */
void crowd_before_fork(void);

/* Take a PLACE, which this process keeps until crowd_leave or its end, or until
 * it is stopped (SIGSTOP) and another needs it. Returns false if others have
 * all of these. Context: any. */
bool crowd_enter(enum crowd_place place);

/* The same, but wait for a place until CLOCK_MONOTONIC UNTIL. Context: any. */
bool crowd_enter_until(enum crowd_place place, uint64_t until);

/* Give the PLACE back, if this process has one. Context: any. */
void crowd_leave(enum crowd_place place);

/* Whether this process may say that its profile was not written in time: one
 * process of the tree does so a minute. Context: any. */
bool crowd_may_complain(void);

#endif
