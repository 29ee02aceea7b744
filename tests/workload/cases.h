/* SPDX-License-Identifier: MIT */
/*
 * cases.h -- shared by workloads that do what their first
 * argument names, while a thread computes. They print what they see of it; all
 * of that must be the same with and without a profiler.
 */
#ifndef WORKLOAD_CASES_H
#define WORKLOAD_CASES_H

#include <stddef.h>
#include <sys/types.h>

#include "work.h"

struct named_case {
    const char *name;
    void (*run)(void);
    unsigned number; /* the second argument, if there is none */
};

/* The second argument, or the case's own number. */
extern unsigned cases_number;

/* Run the case of COUNT that the arguments name. Then say whether a child is
 * left that the case did not make, and print "ok". Returns main's status. */
int cases_run(int argc, char **argv, const struct named_case *cases,
              size_t count);

/* Compute for MS milliseconds of CPU time. */
void cases_compute(unsigned ms);

/* Use much of libc: memory, stdio, a thread. For a child; it ends with status
 * 90 or 91 if that does not work. */
void cases_use_libc(void);

/* Wait for CHILD and print how it ended. */
void cases_say_end(pid_t child);

/* If the first argument is "report": print what a new program inherits (signals
 * blocked and ignored, descriptors, its name) and end with status 42. Such a
 * program is to be started without the library, which would show itself. */
void cases_report(int argc, char **argv);

/* Handle SIGCHLD from now on; how often it has come; and wait until it has come
 * COUNT times: any thread of a process may handle its signals, a little later,
 * and two of one number that are pending become one. */
void cases_hear_children(void);
unsigned cases_heard(void);
void cases_hear(unsigned count);

/* Print what comes from the pipe ENDS until all others have closed it. */
void cases_say_input(const int ends[2]);

#endif
