/* SPDX-License-Identifier: MIT */
/*
 * spools.h -- the directory in which the processes of one recording write their
 * spools, the counters of these spools while they grow, and the line on the
 * terminal that shows them as long as the program itself writes nothing.
 */
#ifndef CLI_RECORD_SPOOLS_H
#define CLI_RECORD_SPOOLS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct spool {
    char *path;
    uint64_t start; /* ns since the epoch */
    uint32_t pid;
    bool is_over;  /* the counts are final */
    bool is_empty; /* the process has written nothing yet */
    uint64_t samples, lost;
};

struct spools {
    char directory[PATH_MAX]; /* spools_detach renames it */
    struct spool *all;        /* oldest first, after spools_look */
    size_t count;
};

/* Make a directory beside the file OUT, for this user alone. The superuser's
 * directory also takes the files of other users. Returns 0, or -1 with errno
 * set. */
int spools_begin(struct spools *spools, const char *out);

/* Read which spools exist, and their present counters. Returns 0, or -1 with
 * errno set. */
int spools_look(struct spools *spools);

/* Whether the process of spool I lives. Of two spools of one process, the first
 * counts. */
bool spools_lives(const struct spools *spools, size_t i);

/* The recording is over: take the spools from their processes, and read which
 * exist. Processes that still live run on without a file to write to. Returns
 * as spools_look. */
int spools_detach(struct spools *spools);

/* Whether all spools are empty. */
bool spools_are_empty(const struct spools *spools);

/* Remove the directory with all files in it, and release SPOOLS. With KEEP all
 * files stay. */
void spools_end(struct spools *spools, bool keep);

struct spools_line {
    bool is_wanted, is_shown;
    pid_t pid;        /* of the program */
    uint64_t start;   /* ns, CLOCK_MONOTONIC */
    uint64_t written; /* bytes, by the living processes, at the last look */
};

/* Begin. IS_WANTED is false if the user turned the line off. The line is shown
 * only if stderr is a terminal. */
void spools_begin_line(struct spools_line *line, pid_t pid, bool is_wanted);

/* Show the present counts of SPOOLS. The line is hidden instead if the program
 * has written something since the last call, or if the line would disturb it.
 */
void spools_show_line(struct spools_line *line, const struct spools *spools);

void spools_hide_line(struct spools_line *line);

#endif
