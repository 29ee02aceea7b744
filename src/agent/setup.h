/* SPDX-License-Identifier: MIT */
/*
 * setup.h -- turns what the environment asks for into the options of the
 * sampler and the journal.
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

/* Reserve memory for the names of the process's files. Returns NULL, having
 * said so, if the program's limits leave no room for our tables, or there is no
 * /proc. */
struct config_files *setup_reserve(const struct config *config);

/* Name the FILES of process PID. Returns 0, or -1 having said why they cannot
 * be written. */
int setup_names(const struct config *config, pid_t pid,
                struct config_files *files);

/* Find out whether the trigger that CONFIG names may work here, as far as that
 * can be known before sampling begins. Returns 0, or -1 having said why not. */
int setup_trigger(const struct config *config);

/* Make the spool of process PID, which is sampled from NOW on, and name its
 * FILES anew: plainly, or with the pid in them if a living process has those
 * names. Returns 0, or -1 with the reason in ERROR of SIZE bytes, which is
 * empty if the recorder whose directory this was has ended. */
int setup_journal(const struct config *config, pid_t pid, uint64_t now,
                  struct config_files *files, char *error, size_t size);

/* Fill in what the spool of process PID says of it, but for the strings. */
void setup_process(const struct config *config, pid_t pid,
                   struct record_process *record);

/* When the first thread begins in a profile (CLOCK_MONOTONIC ns, 0: when it is
 * first seen), and its CPU clock: see struct sampler_options. */
struct setup_origin {
    uint64_t since, clock, base;
};

/* Fill in *SAMPLER for process PID, which starts to be sampled at NOW
 * (CLOCK_MONOTONIC ns). IS_CHILD: it is the child of a fork. Its thread begins
 * where *ORIGIN says. If *ORIGIN is all 0, or a parent's, it is set. */
void setup_sampler(const struct config *config, pid_t pid, uint64_t now,
                   bool is_child, struct setup_origin *origin,
                   struct sampler_options *sampler);

/* Whether the child of a fork is sampled as well. */
bool setup_follows_fork(const struct config *config);

/* The level at which to say that the sampler could not begin because of ERROR,
 * an errno. A thread under SCHED_DEADLINE may make no other (sched(7)). A
 * process whose children belong to another PID namespace, after
 * unshare(CLONE_NEWPID), may make no thread: EINVAL (clone(2)). Both are the
 * program's choice, and no error. */
enum note_level setup_failure_level(int error);

#endif
