/* SPDX-License-Identifier: MIT */
/*
 * follow.h -- follows a watched process (live/watch.h) from its pid to its
 * spool. When the process replaces itself by exec, or begins another spool, the
 * next spool is followed.
 */
#ifndef CLI_TOP_FOLLOW_H
#define CLI_TOP_FOLLOW_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/process/process.h"

struct filter_options;
struct reader;
struct watch;

struct follow {
    struct process process; /* valid if has_process */
    bool has_process;       /* false: a file was named */
    bool is_over;           /* no more records will come */
    struct watch *watch;    /* of the current spool */
    struct reader *reader;
    char path[PATH_MAX + 64]; /* of the spool */
    dev_t device;             /* device and inode of that file */
    ino_t inode;
    unsigned silent; /* consecutive looks without a tick */
    const struct filter_options *filter;
};

/*
 * Begin to follow TARGET: a pid, or the path of a spool. FILTER must outlive
 * FOLLOW. Returns 0, or -1 with a sentence in ERROR (of SIZE bytes). The
 * sentence comes from find_spool (find_spool.h) or reader_open, or says that
 * the spool is not of one process.
 */
int follow_begin(struct follow *follow, const char *target,
                 const struct filter_options *filter, char *error, size_t size);

/* Read the new records. Returns 0, or -1 with errno set if memory is short. */
int follow_look(struct follow *follow);

/* The state of the process as words: "sampling", "has ended"... */
const char *follow_state(const struct follow *follow);

/* A sentence that says what is wrong with the spool; NULL if nothing is. */
const char *follow_problem(const struct follow *follow);

void follow_end(struct follow *follow);

#endif
