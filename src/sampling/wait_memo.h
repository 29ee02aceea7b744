/* SPDX-License-Identifier: MIT */
/*
 * wait_memo.h -- the places of waits, for looks at short ones. A walk of the
 * stack takes as long as such a wait. If the thread has gone on meanwhile, the
 * walk is no good, and short waits would have too little time. So right after a
 * look the stack above the thread's note (waiting.h) is copied. If an earlier
 * walk began with the same wait, and all return addresses that it found in such
 * a copy are in this one, it has the place. Context: sampler.
 */
#ifndef SAMPLING_WAIT_MEMO_H
#define SAMPLING_WAIT_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "journal/journal.h"
#include "unwind/walk.h"

/* Words of the stack that are copied: 4 KiB. */
#define WAIT_MEMO_WORDS 512u

struct wait_memo {
    struct regs at; /* the note; pc 0: there is none */
    uint32_t count; /* words in the copy, from AT.sp on */
    uint64_t words[WAIT_MEMO_WORDS];
};

/* Reserve what is remembered. Returns 0, or -1 if memory is short. */
int wait_memo_begin(void);

/* Take the note of thread INDEX and copy the stack above it. */
void wait_memo_read(uint32_t index, struct wait_memo *memo);

/* Thread INDEX stood AT (pc and sp) when MEMO was read. WALK has found that
 * this is at PLACE. */
void wait_memo_put(uint32_t index, const struct wait_memo *memo,
                   const struct regs *at, const struct walk *walk,
                   const struct journal_place *place);

/* Find the place of thread INDEX, which stood AT when MEMO was read. Its labels
 * must be those in *PLACE. Returns whether it is now in *PLACE. */
bool wait_memo_find(uint32_t index, const struct wait_memo *memo,
                    const struct regs *at, struct journal_place *place);

#endif
