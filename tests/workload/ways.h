/* SPDX-License-Identifier: MIT */
/*
 * ways.h -- shared by workloads that do something in the way that their first
 * argument names, while a thread computes. They print what they see of it; all
 * of that must be the same with and without a profiler.
 */
#ifndef WORKLOAD_WAYS_H
#define WORKLOAD_WAYS_H

#include <stddef.h>
#include <sys/types.h>

#include "work.h"

struct way {
    const char *name;
    void (*run)(void);
    unsigned number; /* the second argument, if there is none */
};

/* The second argument, or the way's own number. */
extern unsigned ways_number;

/* Run the way that the arguments name, of COUNT; then say whether a child is
 * left that nobody made, and "ok". Returns main's status. */
int ways_run(int argc, char **argv, const struct way *ways, size_t count);

/* Compute for MS milliseconds of CPU time. */
void ways_compute(unsigned ms);

/* Use much of libc: memory, stdio, a thread. For a child; it ends with status
 * 90 or 91 if that does not work. */
void ways_use_libc(void);

/* Wait for CHILD and print how it ended. */
void ways_say_end(pid_t child);

/* If the first argument is "report": print what a new program inherits (signals
 * blocked and ignored, descriptors, its name) and end with status 42. Such a
 * program is to be started without the library, which would show itself. */
void ways_report(int argc, char **argv);

/* Handle SIGCHLD from now on; how often that has come; and wait until it has
 * COUNT times: a signal to a process may be handled by any of its threads, a
 * little later, and two of one number that wait are one. */
void ways_hear_children(void);
unsigned ways_heard(void);
void ways_hear(unsigned count);

/* Print what comes from the pipe ENDS until all others have closed it. */
void ways_say_input(const int ends[2]);

#endif
