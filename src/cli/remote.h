/* SPDX-License-Identifier: MIT */
/*
 * remote.h -- speaks to a profiled process that runs: a request goes there with
 * a signal (base/request.h), the answer comes back in its spool. Nothing is
 * sent to a process that would die of it. One thread; allocates.
 */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/request.h"

#include "process.h"

struct reader;

/* Which file it is (stat(2)). */
struct remote_file {
    uint64_t device, inode;
};

struct remote {
    struct process process;
    int pidfd;                /* -1: the kernel has none (Linux 5.3) */
    char path[PATH_MAX + 64]; /* of its spool */
    struct reader *reader;    /* of the same, at its end */
    uint64_t control;         /* offset of CONTROL, 0: there is none */
    struct remote_file file;  /* the spool */
    uint32_t turns;           /* of a flight recorder: the spool is another */
};

/* Find process PID and its spool. Returns 0, or -1 with a sentence in ERROR (of
 * SIZE bytes); remote_close is due in both cases. */
int remote_open(struct remote *remote, pid_t pid, char *error, size_t size);

/*
 * Send REQUEST and wait up to SECONDS for the answer. Returns its text, which
 * the caller frees: one or several lines, or "". NULL with a sentence in ERROR:
 * it could not be sent, there was no answer, or that is what it says.
 */
char *remote_ask(struct remote *remote, enum request request, unsigned seconds,
                 char *error, size_t size);

/* Whether the process goes on in another spool under the same name, as a flight
 * recorder does, since the last request. */
bool remote_has_turned(const struct remote *remote);

void remote_close(struct remote *remote);

#endif
