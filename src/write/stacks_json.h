/* SPDX-License-Identifier: MIT */
/*
 * stacks_json.h -- the stacks of all threads (profile/stacks.h) for programs,
 * as one line of JSON:
 *
 *   {"pid", "exe", "command", "host",
 *    "time_ns", "took_ns",                  (since the epoch)
 *    "thread_count",                        (before any filter)
 *    "deadlocks": [{"tids": each waits for the next, the last for the first,
 *                   "waiting_tids": who waits for them}, ...],
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
 * Frames are innermost first. Where frames are missing there is one that has
 * only "note" and tells why. What is not known is null; "cause" is null if the
 * stack is there and of that moment.
 */
#ifndef WRITE_STACKS_JSON_H
#define WRITE_STACKS_JSON_H

#include <stdio.h>

struct stacks;

/* Returns 0, or -1 with errno set if the stream failed. */
int stacks_json_write(FILE *stream, struct stacks *stacks);

#endif
