/* SPDX-License-Identifier: MIT */
/*
 * mask.h -- the signal masks that the program believes its threads have.
 *
 * While we run, the borrowed numbers (signals/signals.h) are never really
 * blocked. Otherwise a thread that blocks all signals (as the workers of xz do)
 * would have no samples. The closed number is always blocked, so that no thread
 * is woken for it. What the program set for these numbers is kept beside, and
 * shown to it again. The mask is made real where it matters: in a child that
 * shares our memory, and for a new image.
 *
 * errno keeps its value. Context: any.
 */
#ifndef SIGNALS_MASK_H
#define SIGNALS_MASK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "restart.h"

/* pthread_sigmask(3) as the program sees it. NEXT is the function that the
 * program would call without us. Returns 0 or an error number. */
typedef int mask_function(int, const sigset_t *, sigset_t *);
int mask_change(int how, const sigset_t *set, sigset_t *old,
                mask_function *next);

/* Note that the calling thread's mask was inherited. Our numbers in it are
 * remembered as blocked by the program. The real mask is set as it has to be.
 * Called in the constructor and in the child of a fork. */
void mask_begin(void);

/* Called around an exec, or a call that makes a process. Masks and ignored
 * signals are made real between the two, because the new image inherits them.
 */
void mask_before_exec(void);
void mask_after_failed_exec(void);

/* Called around the making of a thread, which inherits the mask. The mask is
 * the real one for that time: signals may come before the new thread knows what
 * is blocked. The caller sets HAS_MASK in BIRTH. BIRTH becomes the data that
 * the new thread passes to mask_begin_thread. */
struct mask_birth {
    uint64_t blocked, shut; /* signals_blocked, signals_shut of the creator */
    bool has_mask;          /* its attributes give it another mask */
};
void mask_before_birth(struct mask_birth *birth);
void mask_begin_thread(const struct mask_birth *birth);
void mask_after_birth(void);

/* Called around a call that waits under the mask SET (NULL: under the thread's
 * own). BEFORE becomes the state to restore. mask_enter_wait returns the mask
 * under which the call must really wait, which lies in BEFORE. It returns SET
 * if that is NULL or cannot be read by the kernel. */
struct mask_wait {
    bool has_words; /* false: nothing is done (base/words.h) */
    uint64_t blocked;
    struct restart_wait outer;
    sigset_t set;
};
const sigset_t *mask_enter_wait(const sigset_t *set, struct mask_wait *before);
void mask_leave_wait(const struct mask_wait *before);

/* Note that the program waits for SET: a borrowed number in it is given back.
 * If SET has nearly all signals, only our usual number (SIGPROF) is. *REST
 * becomes the set for which the thread may really wait. */
void mask_take_interest(const sigset_t *set, sigset_t *rest);

/* Note that the program names SET in the mask of a handler. Its numbers must
 * really be blocked there. So the borrowed ones are given back, unless SET has
 * nearly all signals. */
void mask_name_in_handler(const sigset_t *set);

/* Make the mask real again: this process was made by fork, and is not profiled.
 */
void mask_end(void);

#endif
