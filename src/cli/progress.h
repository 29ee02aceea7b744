/* SPDX-License-Identifier: MIT */
/*
 * progress.h -- the line on the terminal that tells how a recording goes, while
 * the program itself writes nothing.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct spools;

struct progress {
    bool is_wanted, is_shown;
    pid_t pid;        /* of the program */
    uint64_t start;   /* ns, CLOCK_MONOTONIC */
    uint64_t written; /* bytes, by the processes that live, when last seen */
};

/* IS_WANTED: not turned off. There is a line only if stderr is a terminal. */
void progress_begin(struct progress *progress, pid_t pid, bool is_wanted);

/* Show what SPOOLS count now, or hide the line if the program has written
 * something since the last call, or has the terminal for itself. */
void progress_show(struct progress *progress, const struct spools *spools);

void progress_hide(struct progress *progress);

#endif
