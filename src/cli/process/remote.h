/* SPDX-License-Identifier: MIT */
/*
 * remote.h -- sends requests to a running profiled process. A request is a
 * signal (base/request.h); the answer comes back in the process's spool. No
 * signal is sent to a process that it would end. Used by one thread; allocates.
 */
#ifndef CLI_PROCESS_REMOTE_H
#define CLI_PROCESS_REMOTE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/request.h"
#include "process.h"

struct reader;

/* Identifies a file (stat(2)). */
struct remote_file {
    uint64_t device, inode;
};

struct remote {
    struct process process;
    int pidfd;                  /* -1: the kernel has none (Linux 5.3) */
    char path[PATH_MAX + 64];   /* of the spool */
    struct reader *reader;      /* of the spool, at its end */
    uint64_t control;           /* offset of CONTROL; 0: none */
    struct remote_file file;    /* the spool that is open */
    uint32_t rotations;         /* how often the spool was rotated */
    char error[PATH_MAX + 512]; /* of the function that failed: a sentence */
};

/* Find process PID and open its spool. Returns 0, or -1 with a sentence. The
 * caller calls remote_close in both cases. */
int remote_open(struct remote *remote, pid_t pid);

/*
 * Send REQUEST and wait up to SECONDS for the answer. Returns the text of the
 * answer, which the caller frees: one or several lines, or "". Returns NULL
 * with a sentence if the request could not be sent, if no answer came, or if
 * the answer is an error.
 */
char *remote_ask(struct remote *remote, enum request request, unsigned seconds);

/* Whether the process has rotated its spool since the last request: a flight
 * recorder continues in another file under the same name. */
bool remote_has_rotated(const struct remote *remote);

void remote_close(struct remote *remote);

#endif
