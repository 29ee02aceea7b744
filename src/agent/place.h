/* SPDX-License-Identifier: MIT */
/*
 * place.h -- on which CPU the sampler runs. A signal to a thread that runs on
 * another CPU arrives some microseconds late (an interrupt between CPUs, slow
 * in virtual machines), and by then the thread has gone on, typically into its
 * next system call, which then seems to be hot. On the thread's own CPU the
 * sampler preempts it, and it is seen exactly where it stood. So the sampler
 * follows a thread that runs all the time; several of them take turns. Threads
 * that mostly wait are not followed: on their CPU the scheduler would let them
 * finish their work first. Sampler thread alone.
 */
#ifndef AGENT_PLACE_H
#define AGENT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* Remember where this thread may run. */
void place_begin(void);

/* Thread INDEX was seen on CPU, and ran all the time or not. */
void place_see(uint32_t index, int cpu, bool is_busy);

/* Once a tick: go where the thread that is followed was seen last; RANDOM is
 * any number. */
void place_follow(uint64_t random);

#endif
