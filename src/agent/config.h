/* SPDX-License-Identifier: MIT */
/*
 * config.h -- what the environment asks for, and the names of the files that
 * follow from it. Read once, before the program can change anything.
 */
#ifndef AGENT_CONFIG_H
#define AGENT_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/options.h"

#define CONFIG_OUTPUTS 8
#define CONFIG_TEMPLATES 4000 /* bytes: as the option table says */

struct config {
    struct options options;
    char output[CONFIG_TEMPLATES + 1]; /* options.output, our own copy */
    char exe[PATH_MAX];                /* of the program */
    char command[4096];                /* its arguments */
    char directory[PATH_MAX];          /* in which it started */
    uint64_t start_time;               /* seconds since the epoch, for %t */
};

/* The files of one process. */
struct config_files {
    unsigned count;
    char outputs[CONFIG_OUTPUTS][PATH_MAX]; /* absolute */
    bool has_pid[CONFIG_OUTPUTS]; /* the name is meant for one process alone */
    char spool[PATH_MAX];
    /* Of a flight recorder (SPROF_KEEP), else empty: the spool before that one,
     * and the next one while it is being made. */
    char past[PATH_MAX], next[PATH_MAX];
    bool is_beside; /* the spool has another name than the plain one */
    /* The process, and "start_monotonic" of the spools' headers, by which they
     * are known again. */
    pid_t pid;
    uint64_t start;
};

/*
 * Read the ENVIRONMENT into CONFIG, and how the program was called: COUNT
 * ARGUMENTS, as main has them. Nothing of /proc but the name of the program is
 * read: each of its files costs a short process some 15 us. Returns 0 to
 * profile, 1 if this program is not to be profiled (SPROF_ONLY), or -1 with a
 * sentence in ERROR of SIZE bytes.
 */
int config_read(struct config *config, int count, char *const arguments[],
                char *const environment[], char *error, size_t size);

/* Whether the outputs of process PID can be written where they are wanted:
 * returns 0 with their plain names in FILES, or -1 with a sentence in ERROR, as
 * config_name_files. Nothing is changed. */
int config_check_names(const struct config *config, pid_t pid,
                       struct config_files *files, char *error, size_t size);

/*
 * The names of the files for process PID. ATTEMPT is 0 for the plain ones, then
 * one more each time that these are another process's: from 1 on names have the
 * pid, and then a number, before their ending. Names with the pid are never
 * those of files that are there. Without it, a spool that a dead process left
 * is removed; that of an earlier image of this process gets the name that it
 * would have got at the exec; and where a profile has the spool's name that is
 * to stay, the spool alone gets ".spoolN" before its ending.
 * Returns 0; 1 if another process has one of these names; or -1 with a sentence
 * in ERROR: an unknown ending, a directory that is missing or cannot be
 * written.
 */
int config_name_files(const struct config *config, pid_t pid, unsigned attempt,
                      struct config_files *files, char *error, size_t size);

/* Whether CONFIG asks for the spool, too. */
bool config_keeps_spool(const struct config *config);

/* The names in FILES with the first free ".dumpN" before their ending, as
 * *DUMP. Returns 0, or -1 if all are taken. */
int config_name_dump(const struct config_files *files,
                     struct config_files *dump);

/* The names that process PID has tried as number ATTEMPT, in FILES. Nothing is
 * looked at. Returns 0 or -1. */
int config_names_of(const struct config *config, pid_t pid, unsigned attempt,
                    struct config_files *files);

/* Remove the spool, if it is PRESENT, and that of the past, but nothing that
 * somebody else has put in their place. Async-signal-safe. */
void config_remove_spools(const struct config_files *files, bool present);

/* The spool is all that was asked for, and is closed: if its plain name is that
 * of an output, it takes the place of the profile there. */
void config_take_plain_name(struct config_files *files);

/* Put the first free ".execN" before the ending of all names in FILES, and
 * rename the spools so. Returns 0, or -1 with errno. */
int config_rename_for_exec(struct config_files *files);

#endif
