/* SPDX-License-Identifier: MIT */
/*
 * all_stacks.h -- takes the stacks of all threads at one time, in steps:
 *
 *   1. enumerate  the threads of the process (process/threads.h);
 *   2. capture    threads that wait are looked at from outside; threads that
 *                 run are asked, and have a bounded time to answer;
 *   3. print      a command or the report does this from the record STACKS of
 *                 the spool: it merges equal stacks, names and writes them.
 *
 * No thread is left out: a thread without a stack is listed with the cause.
 * Context: sampler.
 */
#ifndef SAMPLING_ALL_STACKS_H
#define SAMPLING_ALL_STACKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A copy of the stacks in memory: a list of struct all_stacks_stack, one after
 * the other, which ends at USED bytes. */
struct all_stacks_memory {
    char *bytes;
    size_t size, used;
};

struct all_stacks_stack {
    uint32_t size; /* bytes of the whole entry; a multiple of 8 */
    uint32_t tid;
    uint64_t cpu; /* ns, UINT64_MAX: unknown */
    char name[16];
    uint16_t system_call; /* or SYSCALL_UNKNOWN */
    uint8_t state, cause; /* as in struct stacks_entry */
    uint32_t count;
    uint64_t frames[]; /* COUNT, leaf first: pcs */
};

/*
 * Write the stacks of all threads into the spool, under NONCE, and into MEMORY
 * if it is not NULL; stacks that do not fit there are left out. Returns 0, or
 * an errno: ENOSPC if the spool is full.
 *
 * It takes 0.1 s longer if a thread blocks our signal, and up to 1 s if a
 * thread gets no CPU. Each thread without an earlier look takes some 50 us.
 */
int all_stacks_take(uint32_t nonce, struct all_stacks_memory *memory);

/* Reserve what a dump with stacks of MAX_DEPTH frames needs. Returns 0, or -1
 * if memory is short. A second call (after a fork) uses the same memory. */
int all_stacks_begin(uint32_t max_depth);

#endif
