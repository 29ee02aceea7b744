/* SPDX-License-Identifier: MIT */
/*
 * spools.h -- the directory in which the processes of one recording leave their
 * spools, and what these say while they grow.
 */
#ifndef CLI_SPOOLS_H
#define CLI_SPOOLS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool {
    char *path;
    uint64_t start; /* ns since the epoch */
    uint32_t pid;
    bool is_over;  /* its counts are final */
    bool is_empty; /* its process has written nothing yet */
    uint64_t samples, lost;
};

struct spools {
    char directory[PATH_MAX]; /* its name changes with spools_detach */
    struct spool *all;        /* oldest first, once looked at */
    size_t count;
};

/* Make a directory beside the file OUT, for this user alone; that of the
 * superuser takes the files of others, too. Returns 0, or -1 with errno set. */
int spools_begin(struct spools *spools, const char *out);

/* See which spools there are, and what they count now. Returns 0, or -1 with
 * errno set. */
int spools_look(struct spools *spools);

/* How many of their processes live. */
unsigned spools_living(const struct spools *spools);

/* The recording is over: see which spools there are, and take them from their
 * processes. Those that live go on with nothing to write to. Returns as
 * spools_look. */
int spools_detach(struct spools *spools);

/* Whether nothing stands in any of them. */
bool spools_are_empty(const struct spools *spools);

/* Remove the directory with all that is in it; release. With KEEP all files
 * stay. */
void spools_end(struct spools *spools, bool keep);

#endif
