/* SPDX-License-Identifier: MIT */
/*
 * unloads.h -- the unloaded modules, in order. Each unload has a number, and
 * the places of the last ones are kept. A sample keeps the number of the last
 * unload before it. So the sampler later knows whether something else may now
 * lie where a frame of the sample lay.
 */
#ifndef PROCESS_UNLOADS_H
#define PROCESS_UNLOADS_H

#include <stdbool.h>
#include <stdint.h>

/* The addresses from START up to END were unloaded. Context: any thread. */
void unloads_note(uint64_t start, uint64_t end);

/* The calling thread begins (+1) or has ended (-1) to close a module. Modules
 * that it unloads meanwhile get their number at the end. Context: any
 * thread. */
void unloads_closing(int change);

/* The calling thread ends, possibly in a destructor of a module that it closes.
 * Context: any thread. */
void unloads_thread_ends(void);

/* In the child of a fork only the calling thread can be closing a module.
 * Context: any thread. */
void unloads_in_child(void);

/* The number of the last unload; they count from 1. Context: any. */
uint32_t unloads_last(void);

/* Whether a thread is closing a module, and so may have unloaded one without a
 * number. Context: any. */
bool unloads_are_open(void);

/* Whether another thread than the caller, which has thread-local words, does
 * so. The module whose code the caller runs is not unloaded yet. Context: any.
 */
bool unloads_are_open_elsewhere(void);

/* Whether one of the unloads after number AFTER, up to number UNTIL, took an
 * address from START up to END, or may have taken one. Context: any thread. */
bool unloads_took(uint64_t start, uint64_t end, uint32_t after, uint32_t until);

#endif
