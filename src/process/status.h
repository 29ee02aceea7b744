/* SPDX-License-Identifier: MIT */
/* status.h -- what the kernel shows of a thread's state. Context: sampler. */
#ifndef PROCESS_STATUS_H
#define PROCESS_STATUS_H

#include <stdint.h>
#include <sys/types.h>

struct status {
    char state;       /* the letter of proc_pid_status(5) */
    uint64_t blocked; /* signals: N is bit N - 1 */
    uint64_t pending; /* of the thread and of its process */
    uint64_t threads; /* of the process */
    /* Queued signals of its user's processes, and their limit. */
    uint64_t queued, queued_most;
};

/* The letter alone; 0 if the thread does not exist, or it cannot be read. */
char status_state(pid_t tid);

/* The time that it has spent outside the kernel, in ns, as exact as the
 * kernel's ticks ("utime" of proc_pid_stat(5)); 0 if that cannot be read. */
uint64_t status_user_time(pid_t tid);

/* Read /proc/self/task/TID/status. Returns 0, or -1 if the thread does not
 * exist or the file cannot be read. Some 10 us. */
int status_read(pid_t tid, struct status *status);

/* The process that traces thread TID; 0: none, or not readable. The file stays
 * open, as task_file_read_again says. Some 5 us. */
pid_t status_tracer(pid_t tid);

#endif
