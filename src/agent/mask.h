/* SPDX-License-Identifier: MIT */
/*
 * mask.h -- the signal mask that the program believes its threads have. Our
 * signals are never really blocked while we run: a thread that blocks all
 * signals (the workers of xz do) would have no samples. What the program set
 * for them is kept beside, shown to it again, and obeyed for the signals of
 * those numbers that are not ours: they are held until it unblocks them.
 */
#ifndef AGENT_MASK_H
#define AGENT_MASK_H

#include <signal.h>

/* pthread_sigmask(3) as the program sees it. Returns 0 or an error number.
 * Context: any thread. Safe in signals. */
int mask_change(int how, const sigset_t *set, sigset_t *old);

/* The calling thread's mask was inherited: signals of ours that are in it are
 * taken out, and remembered as the program's. In the constructor. */
void mask_begin(void);

/* Around an exec: the mask is made real, because the new image inherits it. */
void mask_before_exec(void);
void mask_after_failed_exec(void);

#endif
