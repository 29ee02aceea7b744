/* SPDX-License-Identifier: MIT */
/*
 * setup.h -- decides whether this process can be profiled, which files it gets,
 * and the settings of its profile.
 */
#ifndef AGENT_SETUP_H
#define AGENT_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/note.h"
#include "base/settings.h"
#include "store/layout.h"
#include "config.h"

/* Reserve memory for the names of the process's files. Returns NULL after a
 * message if the program's limits leave no room for our tables, or /proc is
 * missing. */
struct config_files *setup_reserve(const struct config *config);

/* Name the FILES of process PID. Returns 0, or -1 after a message that says why
 * they cannot be written. */
int setup_names(const struct config *config, pid_t pid,
                struct config_files *files);

/* Find out whether the trigger in CONFIG may work here, as far as is known
 * before sampling begins. Returns 0, or -1 after a message that says why
 * not. */
int setup_trigger(const struct config *config);

/* Say that the trigger that was asked for (enum option_trigger) does not work
 * here, for the errno ERROR. */
void setup_no_trigger(uint64_t wanted, int error);

/* Renew *SETTINGS for process PID, whose profile begins now. IS_CHILD: it is
 * the child of a fork. A profile that goes on where another ended begins where
 * *SETTINGS says. */
void setup_settings(const struct config *config, pid_t pid, bool is_child,
                    struct settings *settings);

/* Make the spool, and name the FILES of the process anew: plainly, or with the
 * pid in them if a living process has those names. Returns 0, or -1 with the
 * reason in ERROR of SIZE bytes. The reason is empty if the directory was that
 * of a recorder that has ended. */
int setup_journal(const struct config *config, const struct settings *settings,
                  struct config_files *files, char *error, size_t size);

/* Fill in the spool's record of the process, except the strings. */
void setup_process(const struct settings *settings,
                   struct record_process *record);

/* Whether the child of a fork is sampled as well. */
bool setup_follows_fork(const struct config *config);

/* The level at which to say that the sampler could not begin because of ERROR,
 * an errno. A thread under SCHED_DEADLINE may make no other (sched(7)). A
 * process whose children belong to another PID namespace, after
 * unshare(CLONE_NEWPID), may make no thread: EINVAL (clone(2)). Both are the
 * program's choice, and no error. */
enum note_level setup_failure_level(int error);

/* Whether the process was started with a filter of system calls (seccomp(2)).
 * Context: start. */
bool setup_has_filter(void);

/* The name of a system call that is needed here and for which a filter
 * (seccomp(2)) kills the process; NULL if
 * none is known. A filter that looks at arguments is not found. A filter that
 * kills for clone(2) kills the process here. Takes some 10 us without a filter.
 * With a filter it takes 0.2 ms: a child makes each call, with arguments that
 * no call accepts. Called after real_begin(). Context: start. */
const char *setup_forbidden_call(void);

#endif
