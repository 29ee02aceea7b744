/* SPDX-License-Identifier: MIT */
/*
 * labels.h -- the labels that each thread has at this moment, as the number of
 * a set (label_tree.h) in a table by tid: its own handler reads it there, and
 * the sampler, for a thread that waits. What a thread that does not run has
 * cannot change.
 *
 * All errors are of enum sprof_error (sprof.h).
 */
#ifndef AGENT_LABELS_H
#define AGENT_LABELS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Labels are taken from now on, whether or not there is sampling; or never
 * again, because the profile ends. Where they are not taken, or there is no
 * memory, all calls say "not running", and make no system call: a filter of the
 * program may be in force. Memory is reserved when the first label is set: 52
 * MiB of addresses, which few programs need.
 */
void labels_begin(void);
void labels_end(void);
bool labels_are_on(void);

/* The calling thread has KEY=VALUE from now on, or no KEY if VALUE is NULL.
 * Returns 0 or an error; then it has no KEY. Context: any thread. Safe in
 * signals. Locks: none. */
int labels_set(const char *key, const char *value);

/* The same until labels_pop gets what this returns, a token > 0. After an
 * error, which is < 0, nothing has changed. Context: as labels_set. */
int64_t labels_push(const char *key, const char *value);
int labels_pop(int64_t token);

/* The set of thread TID, which waits or is the caller; 0: none. Any thread. */
uint32_t labels_of(pid_t tid);

/* Whether any thread has set or ended a label since the last call; one that did
 * so in the same moment may be told of too early to be seen. Context: sampler.
 */
bool labels_have_changed(void);

/* The calling thread ends: who gets its tid next has no labels. */
void labels_end_thread(void);

#endif
