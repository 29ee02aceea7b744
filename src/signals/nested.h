/* SPDX-License-Identifier: MIT */
/*
 * nested.h -- the program's handlers that run on top of our handler, for
 * signals that an instruction raises. Our handler does not block these signals:
 * a thread that blocks a signal which its own instruction raises dies of it
 * (sigaction(2)). Such a handler may repair the fault in ours, for example an
 * alternate stack that another thread has made read-only. Or it may leave our
 * handler by longjmp.
 */
#ifndef SIGNALS_NESTED_H
#define SIGNALS_NESTED_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* The signals that an instruction raises, as words (signals.h): those that a
 * read raises, and all of them. */
#define NESTED_READS (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1))
#define NESTED_FAULTS                                             \
    (NESTED_READS | 1ull << (SIGFPE - 1) | 1ull << (SIGILL - 1) | \
     1ull << (SIGSYS - 1))

/* A mark on the stack of a handler that fills a slot. */
struct nested_mark {
    _Atomic uint64_t value;
    uint64_t outer;
};

/* The handler begins and ends to fill a slot with the time TIME. Meanwhile the
 * address of its mark is in *PLACE. HAS_WORDS: its thread has thread-local
 * words. nested_leave comes after the slot was given away. Context: any. */
void nested_enter(struct nested_mark *mark, _Atomic uint64_t *place,
                  uint64_t time, bool has_words, const ucontext_t *context);
void nested_leave(struct nested_mark *mark, bool has_words);

/* Whether a jump or the thread's end has left the handler that fills the slot
 * of TIME, and has set the mark at MARK. Its mark is then gone, as it is after
 * the slot was given away. Context: sampler. */
bool nested_is_gone(uint64_t mark, uint64_t time);

/* The calling thread is in the child of a fork, which a handler on top of ours
 * may have made. Remember its marks. Context: any. */
void nested_note_fork(void);

/* Whether the handler that set the mark at MARK may go on in this child.
 * Context: sampler. */
bool nested_is_forked(uint64_t mark);

/* Let the calling thread block no more than it would without us. Hooks call it
 * before the mask is read, changed or inherited. The thread may be in a handler
 * on top of our handler. It may also have left our handler by a jump, or a
 * handler on an alternate stack that is avoided. It has thread-local words.
 * Context: hook. */
void nested_settle(void);

#endif
