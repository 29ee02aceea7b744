/* SPDX-License-Identifier: MIT */
/*
 * config.h -- the settings from the environment, and the names of files that
 * follow from them. Read once, before the program can change anything.
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
#define CONFIG_CONDITIONS 1000

/* ns that a flight recorder keeps if only SPROF_DUMP_WHEN is set. */
#define CONFIG_KEEP UINT64_C(60000000000)

struct config {
    struct options options;
    char output[CONFIG_TEMPLATES + 1];     /* options.output, our own copy */
    char dump_when[CONFIG_CONDITIONS + 1]; /* options.dump_when, likewise */
    char exe[PATH_MAX];                    /* of the program */
    char command[4096];                    /* its arguments */
    char directory[PATH_MAX];              /* in which it started, see below */
    bool is_elsewhere;   /* that could not be written: another */
    uint64_t start_time; /* seconds since the epoch, for %t */
};

/* The files of one process. */
struct config_files {
    unsigned count;
    char outputs[CONFIG_OUTPUTS][PATH_MAX]; /* absolute */
    bool has_pid[CONFIG_OUTPUTS]; /* the name is meant for one process alone */
    char spool[PATH_MAX];
    /* For a flight recorder (SPROF_KEEP), else empty: the spool before the
     * present one, and the next spool while it is being made. */
    char past[PATH_MAX], next[PATH_MAX];
    unsigned beside; /* N of a spool without the plain name, else 0 */
    /* The process, and "start_monotonic" in the headers of its spools. These
     * identify the spools. */
    pid_t pid;
    uint64_t start;
};

/*
 * Read into CONFIG the ENVIRONMENT and the COUNT ARGUMENTS of main. Of /proc
 * only the program's name is read: each of its files costs a short process some
 * 15 us. Returns 0 to profile, 1 if this program is not to be profiled
 * (SPROF_ONLY). Otherwise it returns -1 with a sentence in ERROR of SIZE bytes.
 */
int config_read(struct config *config, int count, char *const arguments[],
                char *const environment[], char *error, size_t size);

/* Where the user named no output and the present directory cannot be written,
 * take the one for temporary files of ENVIRONMENT (environ(7)). */
void config_choose_directory(struct config *config, char *const environment[]);

/* Write the names of process PID for number ATTEMPT (see below) to FILES, if
 * files can be written there. No file is looked at. Returns 0, or -1 with a
 * sentence in ERROR of SIZE bytes. */
int config_names(const struct config *config, pid_t pid, unsigned attempt,
                 struct config_files *files, char *error, size_t size);

/*
 * Write the names of the files for process PID to FILES. ATTEMPT is 0 for the
 * plain names. It is one more each time that another process has the names.
 * From 1 on, names have the pid, and then a number, before their ending.
 *
 * A name with the pid is never the name of an existing file. For names without
 * the pid, a spool of a dead process is removed. The spool of an earlier image
 * of this process gets the name that it would have got at the exec. If a
 * profile that is to stay has the spool's name, the spool alone gets ".spoolN"
 * before its ending.
 *
 * Returns 0; 1 if another process has one of these names; or -1 with a sentence
 * in ERROR: an unknown ending, or a directory that is missing or cannot be
 * written.
 */
int config_name_files(const struct config *config, pid_t pid, unsigned attempt,
                      struct config_files *files, char *error, size_t size);

/* If no output was named, change ERROR of SIZE bytes: it suggests SPROF_OUTPUT,
 * and does not blame it. */
void config_spare_variable(const struct config *config, char *error,
                           size_t size);

/* Whether the spool's directory was one of a `sprofile record` that has ended
 * and removed it. */
bool config_recording_is_over(const struct config_files *files);

/* Whether CONFIG asks for the spool as well. */
bool config_keeps_spool(const struct config *config);

/* Write the names in FILES to *DUMP, with the first free ".WORDn" before their
 * ending. Under `sprofile record` it is one spool, beside the directory of the
 * recording. Returns 0, or -1 if all are taken. */
int config_name_dump(const struct config *config,
                     const struct config_files *files, const char *word,
                     struct config_files *dump);

/* Remove the spool, if it is PRESENT, and the spool of the past. A file that
 * another process has put in their place is not removed. Returns 0, or -1 with
 * errno: the spool could not be removed. Async-signal-safe. */
int config_remove_spools(const struct config_files *files, bool present);

/* Another file has the spool's name: give the spool the next ".spoolN" before
 * its ending. Returns false if none is left, and for a flight recorder, whose
 * files are known by the plain name. */
bool config_name_beside(struct config_files *files);

/* Called when only the spool was asked for, and it is closed. If its plain name
 * is that of an output, the spool replaces the profile there. */
void config_take_plain_name(struct config_files *files);

/* Put the first free ".execN" before the ending of all names in FILES, and
 * rename the spools to match. Returns 0, or -1 with errno. */
int config_rename_for_exec(struct config_files *files);

/* Write one line on stderr (NOTE_ERROR) for each "SPROF_NAME=value" of
 * ENVIRONMENT that only looks like a setting. Lines that the parent process has
 * printed are left out. In the constructor. */
void config_tell_misspelt(char *const environment[]);

/* Say that the process is not profiled because of ERROR ("SPROF_NAME=value:
 * ...", from options_parse with ENVIRONMENT), unless the parent has said so. In
 * the constructor. */
void config_refuse(const char *error, char *const environment[]);

#endif
