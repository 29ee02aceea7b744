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

/* Columns to which lists of threads are broken without a terminal. */
enum { STACKS_TEXT_COLUMNS = 100 };

/* For stacks_text.c: print every circle in which the filter keeps a thread,
 * each behind an empty line. Returns 0, or -1 with errno set if memory is
 * short. */
int stacks_deadlock_write(FILE *stream, struct stacks *stacks,
                          const struct stacks_text_options *options);

/*
 * For the parts of stacks_text.c: print frame I of NODE, "serve server.c:200",
 * with " (inlined)" if it is inlined. If the file is unknown, the module stands
 * in its place. The function's name is shortened so that the line fits into
 * COLUMNS (0: any number), but keeps at least 10 columns. The place is never
 * cut.
 */
void stacks_place_print(FILE *stream, struct profile *profile, uint32_t node,
                        unsigned i, unsigned columns);

#endif
