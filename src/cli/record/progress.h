/* SPDX-License-Identifier: MIT */
/*
 * progress.h -- the line on the terminal that shows how a recording goes, as
 * long as the program itself writes nothing.
 */
#ifndef CLI_RECORD_PROGRESS_H
#define CLI_RECORD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct spools;

struct progress {
    bool is_wanted, is_shown;
    pid_t pid;        /* of the program */
    uint64_t start;   /* ns, CLOCK_MONOTONIC */
    uint64_t written; /* bytes, by the living processes, at the last look */
};

/* Begin. IS_WANTED is false if the user turned the line off. The line is shown
 * only if stderr is a terminal. */
void progress_begin(struct progress *progress, pid_t pid, bool is_wanted);

/* Show the present counts of SPOOLS. The line is hidden instead if the program
 * has written something since the last call, or if the line would disturb it.
 */
void progress_show(struct progress *progress, const struct spools *spools);

void progress_hide(struct progress *progress);

#endif
