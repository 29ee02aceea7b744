/* SPDX-License-Identifier: MIT */
/*
 * wait.h -- the waits of threads. A wait is one record, however long: it is
 * written when the thread is first seen to wait, with the stack that is found
 * without waking it, stays open while the thread does not run, and is closed
 * when it has run. Sampler thread alone.
 */
#ifndef AGENT_WAIT_H
#define AGENT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/walk.h"
#include "target/look.h"

/* Reserve what is needed for stacks of MAX_DEPTH frames. Returns 0, or -1. */
int wait_begin(uint32_t max_depth);

/* Walk the stack of thread TID, which waits as LOOK says since its CPU clock
 * read CLOCK, into WALK (peek_stack). False if it moved meanwhile. */
bool wait_look(pid_t tid, const struct look *look, uint64_t clock,
               struct walk *walk);

/* The number of the words for what it waits for (journal_text), 0 for none. */
uint32_t wait_words(pid_t tid, const struct look *look);

/*
 * Thread INDEX, whose CPU clock reads CLOCK, waits at NOW as LOOK says: open a
 * record, which stands for the account's rest of wall time to begin with. False
 * if the thread moved meanwhile: nothing is known then.
 */
bool wait_open(uint32_t index, const struct look *look, uint64_t clock,
               uint64_t now);

/* The wait of thread INDEX, if it has one, was over at END. */
void wait_close(uint32_t index, uint64_t end);

#endif
