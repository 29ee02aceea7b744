/* SPDX-License-Identifier: MIT */
/*
 * setup.h -- from what the environment asks for to what the sampler and the
 * journal are told.
 */
#ifndef AGENT_SETUP_H
#define AGENT_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/note.h"
#include "store/layout.h"
#include "config.h"
#include "sampler.h"

/* Memory for the names of the process's files; NULL if the program's limits
 * leave no room for our tables, having said so. */
struct config_files *setup_reserve(void);

/* Name the FILES of process PID. Returns 0, or -1 having said why they cannot
 * be written. */
int setup_names(const struct config *config, pid_t pid,
                struct config_files *files);

/* Whether the trigger that CONFIG names may work here, as far as that can be
 * known before sampling begins. Returns 0, or -1 having said why not. */
int setup_trigger(const struct config *config);

/* Make the spool of process PID, which is sampled from NOW on, and name its
 * FILES anew: plainly, or with the pid in them if a living process has those
 * names. Returns 0, or -1 with the reason in ERROR of SIZE bytes. */
int setup_journal(const struct config *config, pid_t pid, uint64_t now,
                  struct config_files *files, char *error, size_t size);

/* What the spool of process PID says of it, but for the strings. */
void setup_process(const struct config *config, pid_t pid,
                   struct record_process *record);

/* From when on the first thread is in a profile (CLOCK_MONOTONIC ns, 0: from
 * when it is seen), and its CPU clock: struct sampler_options. */
struct setup_origin {
    uint64_t since, clock, base;
};

/* For process PID, which starts to be sampled at NOW (CLOCK_MONOTONIC ns);
 * IS_CHILD: of a fork. Its thread begins where *ORIGIN says, unless that is all
 * 0 or a parent's; then *ORIGIN is set. */
void setup_sampler(const struct config *config, pid_t pid, uint64_t now,
                   bool is_child, struct setup_origin *origin,
                   struct sampler_options *sampler);

/* Whether the child of a fork is sampled, too. */
bool setup_follows_fork(const struct config *config);

/* How loudly to say that the sampler could not begin because of ERROR, an
 * errno. A thread under SCHED_DEADLINE may make no other (sched(7)). A process
 * whose children belong to another PID namespace, after unshare(CLONE_NEWPID),
 * may make no thread: EINVAL (clone(2)). Both are the program's choice, and no
 * error. */
enum note_level setup_failure_level(int error);

#endif
