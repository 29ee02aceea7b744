/* SPDX-License-Identifier: MIT */
/*
 * top_head.h -- the head of what `sprofile top` shows: the program, its CPU
 * time, threads, samples, losses and cost.
 */
#ifndef CLI_TOP_TOP_HEAD_H
#define CLI_TOP_TOP_HEAD_H

#include <stdbool.h>

struct page;
struct watch;

/* Add the head to PAGE: one line if IS_SHORT, else several. STATE is the state
 * of the process ("sampling"). PROBLEM says what is wrong with the spool, or is
 * NULL. */
void top_head_add(struct page *page, const struct watch *watch,
                  const char *state, const char *problem, bool is_short);

#endif
