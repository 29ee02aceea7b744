/* SPDX-License-Identifier: MIT */
/*
 * thread_list.h -- many threads in few words, with no thread left out. From the
 * threads
 *
 *   main 1   pool 2   pool 3   pool 7   conn-1 4   conn-2 5   conn-3 9
 *
 * it makes
 *
 *   conn-1..conn-3 (4-5, 9), main (1), pool (2-3, 7)
 *
 * Names and tids are in the same order, so that each thread can be found.
 */
#ifndef SHOW_THREAD_LIST_H
#define SHOW_THREAD_LIST_H

#include <stdint.h>
#include <stdio.h>

struct stacks_thread;

/* Print one thread: "main (1)". */
void thread_list_name(FILE *stream, const struct stacks_thread *thread);

/*
 * Print COUNT of the THREADS, those with the NUMBERS, in lines of COLUMNS,
 * indented by INDENT. The text BEHIND follows the last thread. The last line is
 * ended. Returns 0, or -1 with errno set if memory is short.
 */
int thread_list_print(FILE *stream, const struct stacks_thread *threads,
                      const uint32_t *numbers, uint32_t count,
                      const char *behind, unsigned indent, unsigned columns);

#endif
