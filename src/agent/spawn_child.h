/* SPDX-License-Identifier: MIT */
/*
 * spawn_child.h -- the process that spawn.c starts, up to its exec. It shares
 * our memory until then, and makes only system calls.
 */
#ifndef AGENT_SPAWN_CHILD_H
#define AGENT_SPAWN_CHILD_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>

struct spawn_child {
    const char *path;
    const char *const *arguments;
    int output;  /* becomes its standard output */
    int message; /* and this its standard error, unless it is -1 */
    int error;   /* errno of what failed, 0 if it runs */
    char *stack;
    _Atomic uint32_t is_started; /* or it has failed */
};

/* Keep the part of ENVIRONMENT that it is to have. In the constructor. */
void spawn_child_begin(char *const environment[]);

/* Raise soft limits of the calling process to the hard ones, and restore those
 * that were BEFORE. */
#define SPAWN_CHILD_LIMITS 6
void spawn_child_lift(struct rlimit before[SPAWN_CHILD_LIMITS]);
void spawn_child_put_back(const struct rlimit before[SPAWN_CHILD_LIMITS]);

/* Run the process from its start to its exec, on its own stack. ARGUMENT is a
 * struct spawn_child; its ERROR is set if the exec fails. Does not return. For
 * clone(2). */
int spawn_child_run(void *argument);

#endif
