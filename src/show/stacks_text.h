/* SPDX-License-Identifier: MIT */
/*
 * stacks_text.h -- the stacks of all threads (live/stacks.h) as text, for
 * people who want to know why a program hangs:
 *
 *   Stacks of bank, process 4711, 2026-05-09 07:29:33.120 UTC
 *   command  ./bank --fast
 *   threads  6 in 3 groups, looked at within 1.300 ms
 *
 *   Deadlock: 2 threads wait for each other's mutexes
 *     a (4712) waits for the mutex of b (4713)
 *         in transfer bank.c:42
 *     b (4713) waits for the mutex of a (4712)
 *         in audit bank.c:57
 *     1 more waits for them, or for others that do:
 *         c (4714)
 *
 *   3 threads waiting in accept4, socket:[123], 0.012 s of CPU time
 *     pool-1..pool-3 (4715-4717)
 *       __libc_accept4 accept4.c:32
 *       next_connection server.h:80 (inlined)
 *       serve server.c:200
 *       start_thread (libc.so.6)
 */
#ifndef SHOW_STACKS_TEXT_H
#define SHOW_STACKS_TEXT_H

#include <stdio.h>

#include "live/stacks.h"

struct paint;

struct stacks_text_options {
    unsigned columns; /* of the terminal, to which lines are cut; 0: only lists
                         of threads are broken */
    uint32_t groups;  /* most groups to print; 0: all */
    const struct paint *paint; /* NULL: plain */
};

/* Print STACKS to STREAM. Returns 0, or -1 with errno set if memory is short.
 * Errors of the stream stay in it. */
int stacks_text_write(FILE *stream, struct stacks *stacks,
                      const struct stacks_text_options *options);

/*
 * Print STACKS to STREAM for programs (stacks_json.c), as one line of JSON:
 *
 *   {"pid", "exe", "command", "host",
 *    "time_ns", "took_ns",                  (since the epoch)
 *    "thread_count",                        (before any filter)
 *    "deadlocks": [{"tids": each waits for the next, the last for the first,
 *                   "waiting_tids": those that wait for them}, ...],
 *    "threads": [{"tid", "name",
 *                 "state",                  (as --state takes it)
 *                 "kernel_state",           (the letter of proc_pid_stat(5))
 *                 "system_call", "waits_on", "owner_tid", "cpu_ns",
 *                 "labels": {key: value},
 *                 "group"}, ...],           (index of "groups")
 *    "groups": [{"tids", "state", "depth", "cause", "cause_text",
 *                "frames": [{"function", "linkage", "file", "line", "module",
 *                            "offset", "inlined"}, ...]}, ...]}
 *
 * Frames are innermost first. Missing frames are replaced by one that has only
 * "note", the reason. An unknown value is null. "cause" is null if the stack is
 * there and is of that moment.
 * Returns 0, or -1 with errno set if memory was short or the stream failed.
 */
int stacks_json_write(FILE *stream, struct stacks *stacks);

#endif
