/* SPDX-License-Identifier: MIT */
/*
 * process.h -- what the kernel says of a process that runs: /proc/PID/status
 * and /proc/PID/stat (proc(5)). Anybody may read these two of any process that
 * /proc shows.
 */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;       /* as given */
    pid_t group;     /* the process's own pid; not PID if that is a thread's */
    pid_t inner;     /* its pid in its own namespace, as getpid(2) says there */
    char state;      /* the letter of proc_pid_stat(5), of its main thread */
    uint64_t caught; /* bit N - 1: it has a handler for signal N */
    uint64_t start;  /* when it began, in clock ticks since boot */
    char name[64];   /* of its main thread, fit to be shown */
};

/*
 * Look at PID. Returns 0, or -1 with a sentence in ERROR (of SIZE bytes): there
 * is no such process, or /proc shows it to others only.
 */
int process_look(struct process *process, pid_t pid, char *error, size_t size);

/* The same pid is still the same process, whose threads may yet run. */
bool process_is_alive(const struct process *process);

#endif
