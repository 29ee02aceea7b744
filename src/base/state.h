/* SPDX-License-Identifier: MIT */
/*
 * state.h -- the state of a profile and of a process, which begins anew as a
 * whole. It is made of private variables of many files. The linker lays these
 * together, because each has one of the two marks below in its declaration.
 * Every one begins as 0, and is 0 again when its state is renewed.
 *
 * A variable without a mark keeps its value. tests/lint/state_kept.txt has all
 * of these in the folders that sample, each with its reason. Thread-local
 * variables belong to their thread, and have no mark.
 */
#ifndef BASE_STATE_H
#define BASE_STATE_H

/* OF_PROFILE: 0 when a profile begins, in whatever process that is. A process
 * has one profile after the other if it pauses, or if an exec fails.
 * OF_PROCESS: 0 in the child of a fork alone. */
#define OF_PROFILE __attribute__((section("state_of_profile"), aligned(8)))
#define OF_PROCESS __attribute__((section("state_of_process"), aligned(8)))

/* Renew the state. Other threads may read it meanwhile: each sees the old value
 * of a variable, or 0. No sampler's thread is there.
 * Context: start. */
void state_renew_profile(void);
void state_renew_process(void);

#endif
