/* SPDX-License-Identifier: MIT */
/*
 * spools.h -- the directory in which the processes of one recording write their
 * spools, and the counters of these spools while they grow.
 */
#ifndef CLI_RECORD_SPOOLS_H
#define CLI_RECORD_SPOOLS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Read which spools there are and what they count now. Returns 0, or -1 with
 * errno set. */
int spools_look(struct spools *spools);

/* How many processes of the spools live. */
unsigned spools_living(const struct spools *spools);

/* The recording is over: take the spools from their processes, and read which
 * there are. Processes that still live run on without a file to write to.
 * Returns as spools_look. */
int spools_detach(struct spools *spools);

/* Whether all spools are empty. */
bool spools_are_empty(const struct spools *spools);

/* Remove the directory with all files in it, and release SPOOLS. With KEEP all
 * files stay. */
void spools_end(struct spools *spools, bool keep);

#endif
