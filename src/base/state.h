/* SPDX-License-Identifier: MIT */
/*
 * state.h -- the state of a profile, and that of a process. Each state begins
 * anew as a whole. It is made of private variables of many files. The linker
 * lays them together, because each has one of the two marks below in its
 * declaration. Each variable begins as 0, and is 0 again after a renewal.
 *
 * A variable without a mark keeps its value. tests/lint/state_kept.txt lists
 * such variables of the folders that sample, each with its reason. Thread-local
 * variables belong to their thread, and have no mark.
 */
#ifndef BASE_STATE_H
#define BASE_STATE_H

/* OF_PROFILE: set to 0 when a profile begins, in any process. A process has
 * several profiles, one after the other, if it pauses or if an exec fails.
 * OF_PROCESS: set to 0 only in the child of a fork. */
#define OF_PROFILE __attribute__((section("state_of_profile"), aligned(8)))
#define OF_PROCESS __attribute__((section("state_of_process"), aligned(8)))

/* Set all variables of the state to 0. Other threads may read them meanwhile:
 * they see the old value of a variable, or 0. No sampler runs meanwhile.
 * Context: start. */
void state_renew_profile(void);
void state_renew_process(void);

#endif
