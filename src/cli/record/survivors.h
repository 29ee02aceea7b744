/* SPDX-License-Identifier: MIT */
/*
 * survivors.h -- the processes of a recording that live when its program has
 * ended: daemons, and what a shell has left in the background. A daemon that
 * has just begun has no spool yet, so the environments of processes are read.
 */
#ifndef CLI_RECORD_SURVIVORS_H
#define CLI_RECORD_SURVIVORS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/process/process.h"

struct spools;

/* SURVIVORS_NAMED: how many of them are named. */
enum { SURVIVORS_NAMED = 3 };

struct survivor {
    struct process process;
    bool is_recorded; /* its spool is there, or will be */
};

struct survivors {
    struct survivor *all;
    unsigned count;
};

/* Find those of the recording in DIRECTORY, as it was called while the program
 * ran. They began when this process had begun. One that ends within a moment
 * does not count. */
void survivors_find(struct survivors *survivors, const char *directory);

/* Print a line on them, and on those of SPOOLS that live besides: in another
 * PID namespace, or where this user may not look. Processes that are not
 * recorded have a line of their own. Prints nothing without such processes. */
void survivors_say(const struct survivors *survivors,
                   const struct spools *spools);

void survivors_release(struct survivors *survivors);

#endif
