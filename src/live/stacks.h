/* SPDX-License-Identifier: MIT */
/*
 * stacks.h -- the stacks of all threads of a process at one time: the record
 * STACKS of its spool as a model. The spool stays open. When the process has
 * written its stacks again, they can be read again; the names that are known
 * stay known.
 *
 *   threads    in the order of their tids
 *   groups     of threads that do the same with the same stack, the largest
 *              first (stacks_group.c)
 *   deadlocks  (deadlock.c)
 *
 * Callers may read everything; only the functions below change it. Strings are
 * clean (clean.h).
 */
#ifndef LIVE_STACKS_H
#define LIVE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loss.h"
#include "model/profile.h"

struct reader;
struct spool_load;
struct filter_options;

#define STACKS_NONE UINT32_MAX
#define STACKS_NO_CPU UINT64_MAX
#define DEADLOCK_NONE UINT32_MAX

struct stacks_thread {
    uint32_t tid;
    const char *name;     /* "" if unknown */
    uint32_t node;        /* leaf, of the profile; 0: no stack, see CAUSE */
    uint32_t depth;       /* frames of the real stack, with those left out */
    const char *doing;    /* "running", a system call, "waiting", ... */
    const char *waits_on; /* in words; "" if unknown */
    uint32_t owner;       /* tid of the thread that it waits for; 0: none */
    uint32_t owner_at;    /* its number in stacks.threads, or STACKS_NONE */
    uint64_t cpu;         /* ns in its life; STACKS_NO_CPU: unknown */
    uint16_t system_call;
    uint8_t state; /* the letter of proc_pid_stat(5) */
    uint8_t cause; /* enum stack_cause */
    uint32_t label;
    uint32_t group;
    bool is_kept; /* the filter keeps it */
};

/* Part of stacks.order. The node, state and so on are those of its first
 * thread. */
struct stacks_group {
    uint32_t first, count;
};

/* The labels of threads (record LABEL) are chains. Each label is added to its
 * parent: a set is a label and all its ancestors. */
struct stacks_label {
    uint32_t parent; /* 0: none */
    const char *key, *value;
};

/* Label number N is all[N - 1]; number 0 means no label. */
struct stacks_labels {
    struct stacks_label *all;
    uint32_t count;
    struct intern *ids; /* ids in the spool; entry I is label I + 1 */
};

/* Limit of the labels of a set that are shown. */
enum { STACKS_LABELS_MOST = 64 };

/* Threads that wait for each other in a circle, so that none of them ever goes
 * on: parts of deadlocks.threads. */
struct deadlock {
    uint32_t first, count; /* each waits for the next, the last for the first */
    uint32_t first_outside, outside; /* they wait for one of the circle, perhaps
                                        through others; by number */
};

struct deadlocks {
    struct deadlock *all;
    uint32_t count;
    uint32_t *threads;
};

struct stacks {
    struct profile *profile; /* names of nodes, and the process */
    uint64_t time;           /* of the first look, ns since the epoch */
    uint64_t took;           /* ns */
    uint32_t nonce;          /* of the request */
    struct stacks_thread *threads;
    uint32_t thread_count;
    uint32_t kept_count; /* threads that the filter keeps */
    struct stacks_group *groups;
    uint32_t group_count;
    uint32_t *order; /* numbers of threads, group by group */
    struct deadlocks deadlocks;
    struct stacks_labels labels;

    const char *path;      /* of the spool */
    bool is_memory;        /* the spool is in memory; no process writes to it */
    struct reader *reader; /* of the spool */
    struct spool_load *load; /* what the spool has defined so far */
    uint64_t place;          /* of the record in the spool; 0: not found yet */
};

/* Whether THREAD sleeps, by its kernel state (S, D or I). */
static inline bool
stacks_is_waiting(const struct stacks_thread *thread)
{
    return thread->state == 'S' || thread->state == 'D' || thread->state == 'I';
}

/* The process that STACKS are of. */
const struct profile_process *stacks_process(const struct stacks *stacks);

/* Open the spool at PATH. Returns NULL with a sentence in ERROR (of SIZE bytes)
 * on failure. */
struct stacks *stacks_open(const char *path,
                           const struct symbolizer_options *options,
                           char *error, size_t size);

/* Open the LENGTH BYTES of a spool in memory. They must stay valid until
 * stacks_close. Returns NULL with a sentence in ERROR (of SIZE bytes) on
 * failure. */
struct stacks *stacks_open_memory(const void *bytes, size_t length,
                                  const struct symbolizer_options *options,
                                  char *error, size_t size);

/* The process runs, and PID is its number here. In a container the process
 * itself knows another one. Its files are then read as the process sees them.
 * Call this before the first stacks_read. */
void stacks_tell_pid(struct stacks *stacks, uint32_t pid);

/* Read the stacks that the spool has now, and forget those that were read
 * before. Returns 0, or -1 with a sentence in ERROR (of SIZE bytes) if it has
 * none. */
int stacks_read(struct stacks *stacks, char *error, size_t size);

/*
 * For stacks_read and for the filter: make the groups of all threads of STACKS
 * that the filter keeps. The largest group comes first; of equal ones, the one
 * with the smallest tid. The threads of a group are in the order of their tids.
 * Returns 0, or -1 with errno set if memory is short.
 */
int stacks_group_all(struct stacks *stacks);

/*
 * Keep the threads that FILTER asks for, by the rules that filter.h has for
 * samples. The filter's time is not used. A state is what stacks_thread.doing
 * says, "waiting" for any wait, or the letter of the kernel. The groups are
 * made anew. Returns 0, or -1 with errno set if memory is short.
 */
int stacks_filter_apply(struct stacks *stacks,
                        const struct filter_options *filter);

/*
 * For stacks.c. Thread I of COUNT waits for thread OWNERS[I], which may be I
 * itself, or for none (DEADLOCK_NONE). Find every circle once. The circles are
 * in the order of their smallest thread numbers, and that thread stands first
 * in its circle. Returns 0, or -1 with errno set if memory is short; the caller
 * calls deadlock_release in both cases.
 */
int deadlock_find(struct deadlocks *deadlocks, const uint32_t *owners,
                  uint32_t count);

void deadlock_release(struct deadlocks *deadlocks);

/* Write the labels of SET to LIST, each key once, in the order in which they
 * were set. Returns their number. */
unsigned stacks_label_list(const struct stacks_labels *labels, uint32_t set,
                           const struct stacks_label *list[STACKS_LABELS_MOST]);

/* Release STACKS; NULL is allowed. */
void stacks_close(struct stacks *stacks);

#endif
