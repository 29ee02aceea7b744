/* SPDX-License-Identifier: MIT */
/*
 * mask.h -- the signal mask that the program believes its threads have. The
 * numbers that are borrowed (capture/signals.h) are never really blocked while
 * we run: a thread that blocks all signals (the workers of xz do) would have no
 * samples; but the closed one always is, so that no thread is woken for it.
 * What the program set for them is kept beside and shown to it again. Where it
 * matters, the mask is made real: in a child that shares our memory, and for a
 * new image.
 *
 * Context of all: any thread, in handlers too. errno stays.
 */
#ifndef AGENT_MASK_H
#define AGENT_MASK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/interrupted.h"

/* pthread_sigmask(3) as the program sees it. Returns 0 or an error number. */
int mask_change(int how, const sigset_t *set, sigset_t *old);

/* The calling thread's mask was inherited: of the numbers that are ours, those
 * in it are remembered as blocked by the program, and the real mask is made
 * what it has to be. In the constructor and in the child of a fork. */
void mask_begin(void);

/* Around an exec, or a call that makes a process: the mask and what is ignored
 * are made real, because the new image inherits them. */
void mask_before_exec(void);
void mask_after_failed_exec(void);

/* Around the making of a thread, which inherits the mask: it is the real one
 * for that time, because signals may come before the new thread knows what is
 * blocked. BIRTH, of which HAS_MASK is given, says what the new thread has to
 * know when it calls mask_begin_thread. */
struct mask_birth {
    uint64_t blocked, shut; /* signals_blocked, settle_shut of the creator */
    bool has_mask;          /* its attributes give it another mask */
};
void mask_before_birth(struct mask_birth *birth);
void mask_begin_thread(const struct mask_birth *birth);
void mask_after_birth(void);

/* Around a call that waits under the mask SET (NULL: under the thread's own).
 * BEFORE is what has to be restored. Returns the mask to wait under really,
 * which lies in BEFORE, or SET if it is NULL or the kernel cannot read it. */
struct mask_wait {
    bool has_words; /* of the calling thread; if not, nothing is done */
    uint64_t blocked;
    struct interrupted_wait outer;
    sigset_t set;
};
const sigset_t *mask_enter_wait(const sigset_t *set, struct mask_wait *before);
void mask_leave_wait(const struct mask_wait *before);

/* The program waits for SET: a number in it that is borrowed is given back. Of
 * a set of nearly all signals that is said only for our usual number. REST is
 * what may really be waited for. */
void mask_take_interest(const sigset_t *set, sigset_t *rest);

/* The program names SET in the mask of a handler: its numbers must really be
 * blocked there, and those that are borrowed are given back, unless it is a set
 * of nearly all. */
void mask_name_in_handler(const sigset_t *set);

/* This process was made by fork and is not profiled: the mask is real again. */
void mask_end(void);

#endif
