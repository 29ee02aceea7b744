/* SPDX-License-Identifier: MIT */
/*
 * dump.h -- the stacks of all threads at one time, in steps:
 *
 *   1. enumerate  the threads of the process (target/threads.h);
 *   2. capture    those that wait are looked at from outside, those that run
 *                 are asked, and have a bounded time to answer;
 *   3. print      which others do, from the STACKS in the spool: merge those
 *                 that are the same, name them, write them.
 *
 * No thread is left out: one without a stack stands there with the cause.
 * Sampler thread alone.
 */
#ifndef AGENT_DUMP_H
#define AGENT_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What is wanted in memory besides: a list of struct dump_stack, one behind the
 * other, which ends where USED says. */
struct dump_memory {
    char *bytes;
    size_t size, used;
};

struct dump_stack {
    uint32_t size; /* bytes of all this; a multiple of 8 */
    uint32_t tid;
    uint64_t cpu; /* ns, UINT64_MAX: unknown */
    char name[16];
    uint16_t system_call; /* or SYSCALL_UNKNOWN */
    uint8_t state, cause; /* as in struct stacks_entry */
    uint32_t count;
    uint64_t frames[]; /* COUNT, leaf first: pcs */
};

/* Take the stacks of all threads into the spool, under NONCE, and into MEMORY
 * if it is not NULL; what does not fit there is left out. Returns 0, or an
 * errno: ENOSPC the spool is full. Takes 0.1 s more if a thread blocks our
 * signal, up to 1 s if one gets no CPU, and some 50 us for a thread that was
 * not looked at before. */
int dump_take(uint32_t nonce, struct dump_memory *memory);

/* Reserve what a dump needs. Returns 0, or -1 if memory is short. Called again
 * (after fork): the same memory. */
int dump_begin(uint32_t max_depth);

#endif
