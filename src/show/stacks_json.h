/* SPDX-License-Identifier: MIT */
/*
 * stacks_json.h -- the stacks of all threads (live/stacks.h) for programs, as
 * one line of JSON:
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
 */
#ifndef SHOW_STACKS_JSON_H
#define SHOW_STACKS_JSON_H

#include <stdio.h>

struct stacks;

/* Print STACKS to STREAM. Returns 0, or -1 with errno set if memory was short
 * or the stream failed. */
int stacks_json_write(FILE *stream, struct stacks *stacks);

#endif
