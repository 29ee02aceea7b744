/* SPDX-License-Identifier: MIT */
/*
 * filter.h -- finds out whether the process was started with a filter of system
 * calls (seccomp(2)) that kills it for what the profiler does. Filters of
 * services and sandboxes may kill; those of containers answer with an error.
 */
#ifndef AGENT_FILTER_H
#define AGENT_FILTER_H

/* The name of a system call that is needed here and kills the process; NULL if
 * none is known. A filter that looks at arguments is not found. A filter that
 * kills for clone(2) kills the process here. Takes some 10 us without a filter.
 * With a filter it takes 0.2 ms: a child makes each call, with arguments that
 * no call accepts. Called after real_begin(). Context: start. */
const char *filter_forbids(void);

#endif
