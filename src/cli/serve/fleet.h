/* SPDX-License-Identifier: MIT */
/*
 * fleet.h -- the profiled processes that the caller may see, each with its
 * spool. A process is known by its pid, its start time and the start of its
 * image, because pids are used again and exec(2) begins another image.
 *
 * The spool of a process stays open here, so it can be read to its end after
 * the process has ended and removed it. An ended process is kept for a while,
 * so that its last seconds are in the next answers.
 *
 * Used by one thread. Allocates.
 */
#ifndef CLI_SERVE_FLEET_H
#define CLI_SERVE_FLEET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/process/process.h"
#include "store/layout.h"
#include "tally.h"

/* KEPT_SECONDS: how long an ended process is kept, unless a caller needs it for
 * longer. */
enum { FLEET_KEPT_SECONDS = 60 };

struct member {
    struct process process;
    struct spool_header header; /* of its spool */
    char path[PATH_MAX + 64];   /* of the spool while the process lives */
    int fd;                     /* the spool, open for reading */
    uint64_t device, inode;     /* of the spool */
    char *exe, *command, *host; /* from the spool */
    struct tally tally;
    uint64_t ended;  /* CLOCK_MONOTONIC, ns; 0: it lives */
    unsigned misses; /* scans in a row in which its spool was not there */
};

struct fleet_stranger;

struct fleet {
    struct member **members; /* in the order of their pids */
    uint32_t count;
    struct fleet_stranger *strangers; /* processes that have no sampler */
    uint32_t stranger_count;
    uint64_t scanned; /* CLOCK_MONOTONIC of the last scan, ns */
    const char *only; /* the directory of the spools that are wanted; NULL: all.
                       * The caller sets it. */
    uint32_t hidden;  /* profiled processes that could not be read then */
};

/* Bring FLEET up to date. Ended processes that ended before NEEDED
 * (CLOCK_MONOTONIC, ns) may be forgotten. Returns 0, or -1 with errno set. */
int fleet_scan(struct fleet *fleet, uint64_t needed);

/* A path by which the spool of MEMBER can be opened now. TEXT has SIZE bytes
 * (PATH_MAX + 64 suffice). */
const char *fleet_path(const struct member *member, char *text, size_t size);

/* Count what MEMBER has done so far. Returns 0, or -1 if its spool cannot be
 * read; the counters then stay as they were. */
int fleet_count(struct member *member);

void fleet_release(struct fleet *fleet);

#endif
