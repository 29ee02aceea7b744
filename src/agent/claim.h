/* SPDX-License-Identifier: MIT */
/*
 * claim.h -- whose a spool is that stands where ours is to be made. Uses system
 * calls only. Context: the thread that starts the profiler, no signal handler.
 */
#ifndef AGENT_CLAIM_H
#define AGENT_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/layout.h"

enum claim {
    CLAIM_NONE,    /* nothing is at that path */
    CLAIM_LIVING,  /* a process that lives has it, or it is no spool */
    CLAIM_EARLIER, /* an earlier image of this process, replaced unseen */
    CLAIM_DEAD,    /* a process that is no more left it */
    CLAIM_WANTED,  /* the same, and it was to stay (SPOOL_WANTED) */
    CLAIM_RESULT,  /* a profile that somebody may have asked for */
};

/*
 * Look at PATH for process PID, which began at SINCE (ns since 1970).
 * Whoever lives has its spool locked (flock(2)), as process ids mean nothing
 * where PID namespaces differ. What somebody put there to make us wait, a FIFO
 * say, is not waited for.
 */
enum claim claim_look(const char *path, pid_t pid, uint64_t since);

/*
 * Whether the file at PATH is not the spool that process PID made there, with
 * START (CLOCK_MONOTONIC ns) in its header: it was removed, or somebody has put
 * another one in its place. One that cannot be opened for want of a descriptor,
 * or that a process which has changed its user may
 * not read, passes for its own. Async-signal-safe.
 */
bool claim_is_other(const char *path, pid_t pid, uint64_t start);

/* Whether the file at PATH is the spool of a child of PARENT that has begun
 * since START (CLOCK_MONOTONIC ns) and ended, and was not to stay; *HEADER is
 * then its header. */
bool claim_is_left(const char *path, pid_t parent, uint64_t start,
                   struct spool_header *header);

/* The PID namespace of this process, as the number of the file
 * /proc/self/ns/pid (namespaces(7)); 0: not known. */
uint32_t claim_namespace(void);

/* Remove the spool at PATH, which claim_look has found DEAD or WANTED, unless
 * another process has put one of its own there meanwhile. Returns 0, or -1. */
int claim_remove(const char *path);

#endif
