/* SPDX-License-Identifier: MIT */
/*
 * labels.h -- the labels that each thread has at this moment. A table holds the
 * number of each thread's set (label_tree.h) by tid. A thread's own handler
 * reads the table, and the sampler reads it for a thread that waits: the labels
 * of a thread that does not run cannot change.
 *
 * All errors are of enum sprof_error (sprof.h).
 */
#ifndef LABELS_LABELS_H
#define LABELS_LABELS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Labels can be set from now on, whether or not sampling is on; or no longer,
 * because the profile ends.
 *
 * Before and after that, and without memory, labels_set, labels_push and
 * labels_pop return SPROF_ERROR_NOT_RUNNING. They make no system call while
 * labels are off, because a filter of the program may be in force. The first
 * label that is set reserves memory: 52 MiB of addresses, which few programs
 * need.
 */
void labels_accept(bool is_on);
bool labels_are_on(void);

/* Give the calling thread KEY=VALUE, or remove KEY if VALUE is NULL. Returns 0
 * or an error; after an error the thread has no label of KEY. The function
 * takes no lock.
 * Context: any. */
int labels_set(const char *key, const char *value);

/* labels_push does the same until labels_pop gets the token that it returned.
 * Returns the token, which is > 0, or an error, which is < 0; after an error
 * nothing has changed.
 * Context: any. */
int64_t labels_push(const char *key, const char *value);
int labels_pop(int64_t token);

/* Returns the set of thread TID, or 0 if it has none. The thread waits, or is
 * the caller.
 * Context: any thread. */
uint32_t labels_of(pid_t tid);

/* Whether any thread has set or ended a label since the last call. A change at
 * this moment may be reported before its label can be read.
 * Context: sampler. */
bool labels_have_changed(void);

/* Remove all labels of the calling thread, which ends: the next thread with its
 * tid begins without labels. */
void labels_end_thread(void);

#endif
