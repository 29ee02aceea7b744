/* SPDX-License-Identifier: MIT */
/*
 * stacks.h -- what all threads of a process were doing at one time: the record
 * STACKS of its spool as a model. The spool stays open: when the process has
 * written its stacks again, they can be read again, and what is known of its
 * names stays known.
 *
 *   threads    in the order of their tids
 *   groups     of threads that do the same with the same stack, the largest
 *              first (stacks_group.h)
 *   deadlocks  (deadlock.h)
 *
 * Everything is read directly and changed only by the functions below. Strings
 * are clean (clean.h).
 */
#ifndef PROFILE_STACKS_H
#define PROFILE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stack_cause.h"

#include "deadlock.h"
#include "profile.h"
#include "stacks_label.h"

struct reader;
struct build;

#define STACKS_NONE UINT32_MAX
#define STACKS_NO_CPU UINT64_MAX

struct stacks_thread {
    uint32_t tid;
    const char *name;     /* "" if unknown */
    uint32_t node;        /* leaf, of the profile; 0: no stack, for CAUSE */
    uint32_t depth;       /* frames of the real stack, those left out, too */
    const char *doing;    /* "running", a system call, "waiting", ... */
    const char *waits_on; /* in words, "" if that is not known */
    uint32_t owner;       /* tid of the thread that it waits for; 0: none */
    uint32_t owner_at;    /* its number here, or STACKS_NONE */
    uint64_t cpu;         /* ns in its life; STACKS_NO_CPU: unknown */
    uint16_t system_call;
    uint8_t state; /* the letter of proc_pid_stat(5) */
    uint8_t cause; /* enum stack_cause */
    uint32_t label;
    uint32_t group;
    bool is_kept; /* by the filter */
};

/* Part of stacks.order. NODE and the like are those of its first thread. */
struct stacks_group {
    uint32_t first, count;
};

struct stacks {
    struct profile *profile; /* names of nodes; processes[0] */
    uint64_t time;           /* of the first look, ns since the epoch */
    uint64_t took;           /* ns */
    uint32_t nonce;          /* of the request */
    struct stacks_thread *threads;
    uint32_t thread_count;
    uint32_t kept_count; /* by the filter */
    struct stacks_group *groups;
    uint32_t group_count;
    uint32_t *order; /* numbers of threads, group by group */
    struct deadlocks deadlocks;
    struct stacks_labels labels;

    const char *path;      /* of the spool */
    bool is_memory;        /* it is none that anybody writes to */
    struct reader *reader; /* on it */
    struct build *build;   /* what it has defined so far */
    uint64_t place;        /* of the record in the spool; 0: not found yet */
};

/* Whether a thread waits: for something, or until somebody wakes it. */
bool stacks_is_waiting(const struct stacks_thread *thread);

/* The process. */
const struct profile_process *stacks_process(const struct stacks *stacks);

/* The spool at PATH. NULL with a sentence in ERROR (of SIZE bytes) if it is
 * none. */
struct stacks *stacks_open(const char *path,
                           const struct symbolizer_options *options,
                           char *error, size_t size);

/* The same for LENGTH bytes in memory that stay valid until stacks_close. */
struct stacks *stacks_open_memory(const void *bytes, size_t length,
                                  const struct symbolizer_options *options,
                                  char *error, size_t size);

/* The process runs, and has the number PID here, which is not the one that it
 * knows if it lives in a container: its files are read as it sees them. To be
 * told before the first stacks_read. */
void stacks_tell_pid(struct stacks *stacks, uint32_t pid);

/* Read the stacks that the spool has now; what was read before is forgotten.
 * Returns 0, or -1 with a sentence in ERROR: there are none. */
int stacks_read(struct stacks *stacks, char *error, size_t size);

/* NULL is allowed. */
void stacks_close(struct stacks *stacks);

#endif
