/* SPDX-License-Identifier: MIT */
/*
 * follow.h -- a process that is watched (profile/watch.h) as long as it lives:
 * from its pid to its spool, and on to the next one when it replaces itself by
 * exec or begins another.
 */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "process.h"

struct filter_options;
struct reader;
struct watch;

struct follow {
    struct process process; /* if HAS_PROCESS */
    bool has_process;       /* else it was a file that was named */
    bool is_over;           /* nothing more will come */
    struct watch *watch;    /* of the present image */
    struct reader *reader;
    char path[PATH_MAX + 64]; /* of its spool */
    dev_t device;             /* and which file that is */
    ino_t inode;
    unsigned silent; /* looks in a row without a tick */
    const struct filter_options *filter;
};

/*
 * Begin with TARGET: a pid, or the path of a spool. FILTER must outlive it.
 * Returns 0, or -1 with a sentence in ERROR (of SIZE bytes): what live_find
 * (live.h) and reader_open say, or that a spool is not of one process.
 */
int follow_begin(struct follow *follow, const char *target,
                 const struct filter_options *filter, char *error, size_t size);

/* Look at what is new. Returns 0, or -1 with errno set if memory is short. */
int follow_look(struct follow *follow);

/* What is known of it: "sampling", "has ended"... */
const char *follow_state(const struct follow *follow);

/* What is wrong with its spool, a sentence; NULL if nothing is. */
const char *follow_problem(const struct follow *follow);

void follow_end(struct follow *follow);

#endif
