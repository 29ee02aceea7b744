/* SPDX-License-Identifier: MIT */
/*
 * work.h -- what every workload shares: burning a known amount of CPU time,
 * and saying which stacks it has. A workload prints, for each stack it knows,
 *
 *     expect: main;outer;inner
 *
 * an extended regular expression that a folded stack, root first, contains.
 * The scenarios compare the profile with these lines: the source is the
 * expectation.
 */
#ifndef WORKLOAD_WORK_H
#define WORKLOAD_WORK_H

#include <stddef.h>
#include <stdint.h>

/* A function that stays a function: not inlined, cloned or merged. */
#ifdef __clang__
#define FRAME __attribute__((noinline, optnone))
#else
#define FRAME __attribute__((noipa))
#endif

/* After a call, so that the call is not the last thing done and the caller
 * keeps its frame. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

/* The calling thread's CPU clock, in ns. */
uint64_t work_cpu_ns(void);

/* CLOCK_MONOTONIC, in ns. */
uint64_t work_now_ns(void);

/* Compute for MS milliseconds of the calling thread's CPU time. The return
 * value depends on all of the work. */
FRAME uint64_t work_burn(unsigned ms);

/* Sleep for MS milliseconds of wall time, whatever interrupts it. */
void work_sleep(unsigned ms);

/* Print an "expect:" line at once. */
void work_expect(const char *pattern);

/* Argument INDEX as a number, or FALLBACK if there is none. */
unsigned work_argument(int argc, char **argv, int index, unsigned fallback);

/* Put the path of the file NAME that lies beside the program into PATH. */
void work_beside(const char *name, char *path, size_t size);

/* Say that WHAT went wrong and end with status 1. */
_Noreturn void work_fail(const char *what);

#endif
