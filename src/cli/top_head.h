/* SPDX-License-Identifier: MIT */
/*
 * top_head.h -- the head of what `sprofile top` shows: the program, its CPU
 * time, threads, samples, losses and cost.
 */
#ifndef CLI_TOP_HEAD_H
#define CLI_TOP_HEAD_H

#include <stdbool.h>

struct page;
struct watch;

/* Add it to PAGE; if IS_SHORT, in one line. STATE is what is known of the
 * process ("sampling"), and PROBLEM, unless NULL, what is wrong with its spool.
 */
void top_head_add(struct page *page, const struct watch *watch,
                  const char *state, const char *problem, bool is_short);

#endif
