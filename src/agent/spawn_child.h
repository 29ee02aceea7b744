/* SPDX-License-Identifier: MIT */
/*
 * spawn_child.h -- the process that spawn.c starts, up to its exec: it shares
 * our memory until then, and makes system calls only.
 */
#ifndef AGENT_SPAWN_CHILD_H
#define AGENT_SPAWN_CHILD_H

#include <stdatomic.h>
#include <stdint.h>

struct spawn_child {
    const char *path;
    const char *const *arguments;
    int output;  /* becomes its standard output */
    int message; /* and this its standard error, unless it is -1 */
    int error;   /* errno of what failed, 0 if it runs */
    char *stack;
    _Atomic uint32_t is_started; /* or has failed */
};

/* Keep what it is to have of ENVIRONMENT. In the constructor. */
void spawn_child_begin(char *const environment[]);

/* The whole of it, on a stack of its own; ARGUMENT is a struct spawn_child, of
 * which ERROR is set if there is no exec. Does not return. For clone(2). */
int spawn_child_run(void *argument);

#endif
