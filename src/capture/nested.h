/* SPDX-License-Identifier: MIT */
/*
 * nested.h -- the program's handlers of signals that an instruction raises. Our
 * handler does not block those: whoever blocks one that his own instruction
 * raises dies of it (sigaction(2)). A program may repair what we run into, an
 * alternate stack say that another thread has made read-only; or leave our
 * handler by longjmp.
 */
#ifndef CAPTURE_NESTED_H
#define CAPTURE_NESTED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct slot;

/* Those signals, as a word (signals.h). */
#define NESTED_FAULTS                                                      \
    (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) | \
     1ull << (SIGILL - 1) | 1ull << (SIGSYS - 1))

/* Lies on the stack of a handler that fills a slot. */
struct nested_mark {
    volatile uint64_t value;
    uint64_t outer;
};

/* The handler, of a thread with words of its own if HAS_WORDS, begins and ends
 * to fill SLOT. False at the end: the slot is not ours any more, in a child
 * that a handler on top of us has forked. */
void nested_enter(struct nested_mark *mark, struct slot *slot, bool has_words,
                  const ucontext_t *context);
bool nested_leave(struct nested_mark *mark, struct slot *slot, bool has_words);

/* Whether the handler that fills SLOT was left by a jump, or its thread has
 * ended: its mark is gone. Context: sampler. */
bool nested_is_gone(const struct slot *slot);

/* In a hook of a thread with words of its own, before its mask is read, changed
 * or inherited: if it has left our handler by a jump, or one on an alternate
 * stack that is avoided, or is on top of ours, it blocks no more than it would
 * without us. */
void nested_settle(void);

#endif
