/* SPDX-License-Identifier: MIT */
/*
 * thread_list.h -- many threads in few words, and none of them lost. From the
 * threads
 *
 *   main 1   pool 2   pool 3   pool 7   conn-1 4   conn-2 5   conn-3 9
 *
 * it makes
 *
 *   conn-1..conn-3 (4-5, 9), main (1), pool (2-3, 7)
 *
 * Names and tids are in the same order, so that each can be found.
 */
#ifndef WRITE_THREAD_LIST_H
#define WRITE_THREAD_LIST_H

#include <stdint.h>
#include <stdio.h>

struct stacks_thread;

/* What it takes for one: "main (1)". */
void thread_list_name(FILE *stream, const struct stacks_thread *thread);

/*
 * Print COUNT of the THREADS, those with the NUMBERS, in lines of COLUMNS with
 * an indentation of INDENT. BEHIND follows the last of them. Ends the last
 * line. Returns 0, or -1 with errno set if memory is short.
 */
int thread_list_print(FILE *stream, const struct stacks_thread *threads,
                      const uint32_t *numbers, uint32_t count,
                      const char *behind, unsigned indent, unsigned columns);

#endif
