/* SPDX-License-Identifier: MIT */
/*
 * claim.h -- finds the owner of a spool that lies where ours is to be made.
 * Uses system calls only. The caller is in no signal handler. Context: any
 * thread.
 */
#ifndef AGENT_CLAIM_H
#define AGENT_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/layout.h"

enum claim {
    CLAIM_NONE,    /* no file is at that path */
    CLAIM_LIVING,  /* a process that lives has it, or it is no spool */
    CLAIM_EARLIER, /* an earlier image of this process, replaced unseen */
    CLAIM_DEAD,    /* a process that has ended left it */
    CLAIM_WANTED,  /* the same, but it was to stay (SPOOL_WANTED) */
    CLAIM_RESULT,  /* a profile that the user may have asked for */
};

/*
 * Look at PATH for process PID. SINCE returns when that process began (ns since
 * 1970), and is called only if a spool is found. A living process keeps its
 * spool locked (flock(2)), because process ids have no meaning across PID
 * namespaces. The function does not wait for a file such as a FIFO.
 */
enum claim claim_look(const char *path, pid_t pid, uint64_t (*since)(void));

/*
 * Whether the file at PATH is another than the spool of process PID with START
 * (CLOCK_MONOTONIC ns) in its header. Such a spool was removed, or another file
 * has taken its place. A file that cannot be opened because no descriptor is
 * free counts as the process's own. So does one that a process may not read
 * because it has changed its user. Async-signal-safe.
 */
bool claim_is_other(const char *path, pid_t pid, uint64_t start);

/*
 * How the file at PATH belongs to PARENT, which looks for the spools of
 * children that have begun since START (CLOCK_MONOTONIC ns) and ended.
 * CLAIM_RESULT: one of these, complete, and not to stay; *HEADER is then its
 * header. CLAIM_DEAD: one that has no end, and no sample. CLAIM_NONE: anything
 * else.
 */
enum claim claim_of_child(const char *path, pid_t parent, uint64_t start,
                          struct spool_header *header);

/* Remove the spool at PATH, which claim_look has found DEAD or WANTED. It stays
 * if another process has put its own spool there meanwhile. Returns 0, or -1.
 */
int claim_remove(const char *path);

#endif
