/* SPDX-License-Identifier: MIT */
/*
 * process.h -- what the kernel reports of a running process, from
 * /proc/PID/status and /proc/PID/stat (proc(5)), and the spool that it writes.
 * Every user may read these two files of any process that /proc shows. The
 * library has the spool open, so the kernel knows its path, whatever directory
 * or SPROF_OUTPUT was used.
 */
#ifndef CLI_PROCESS_PROCESS_H
#define CLI_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;       /* as given */
    pid_t group;     /* the pid of its process; PID may be a thread */
    pid_t inner;     /* its pid in its own pid namespace */
    char state;      /* state letter of the main thread (proc_pid_stat(5)) */
    uint64_t caught; /* bit N - 1: it has a handler for signal N */
    uint64_t start;  /* start time, in clock ticks since boot */
    char name[64];   /* of its main thread, without control characters */
};

/*
 * Read what the kernel reports of PID into PROCESS. Returns 0, or -1 with a
 * sentence in ERROR (of SIZE bytes): the process does not exist, or /proc hides
 * it from this user.
 */
int process_look(struct process *process, pid_t pid, char *error, size_t size);

/* Call IS_WANTED(PID, TID, CONTEXT) for each thread of process PID until it
 * returns true. Returns whether it did. */
bool process_find_thread(pid_t pid, bool (*is_wanted)(pid_t, pid_t, void *),
                         void *context);

/* Whether the thread has the name of the library's sampler. */
bool process_is_sampler(pid_t pid, pid_t tid);

/* Whether the pid still belongs to the same process, and a thread of it may
 * still run. */
bool process_is_alive(const struct process *process);

/*
 * Store the path of the spool that process PID writes in PATH, of PATH_SIZE
 * bytes (PATH_MAX + 64 suffice). The path can be opened here even if the
 * process lives in a container or has another root. Returns 0, or -1 with a
 * sentence in ERROR (of ERROR_SIZE bytes). It fails if the process does not
 * exist, if this user may not look at it, if libsprof does not profile it, or
 * if its spool cannot be read.
 */
int process_find_spool(pid_t pid, char *path, size_t path_size, char *error,
                       size_t error_size);

/* Whether process PID has mapped libsprof.so; false where this user may not
 * look. */
bool process_has_library(pid_t pid);

/* Whether the spool at PATH is in DIRECTORY itself. */
bool process_spool_is_in(const char *path, const char *directory);

#endif
