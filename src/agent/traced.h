/* SPDX-License-Identifier: MIT */
/*
 * traced.h -- whether somebody traces the program's threads (ptrace(2)). Each
 * signal stops a traced thread, so its tracer would see ours: that is no
 * matter to the debuggers that we know, but a program that traces its own child
 * counts what it sees.
 *
 * A thread that asks to be traced tells so before (traced_before, in the hook);
 * one that is attached to is found by looking, now and then.
 */
#ifndef AGENT_TRACED_H
#define AGENT_TRACED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum traced {
    TRACED_NOT,
    TRACED_BY_TOOL,  /* that hands on signals of ours, and is used to them */
    TRACED_BY_OTHER, /* who is to see none of them */
};

/* For process PID. MATTERS: no signals are sent while it is TRACED_BY_OTHER;
 * else nobody waits for that. Before there is a sampler. */
void traced_begin(pid_t pid, bool matters);

/* Who traces it at NOW, as far as is known: of the threads one more is looked
 * at each time, and none if that was done a moment ago. Sampler. */
enum traced traced_look(uint64_t now);

/* What the last look found has its effect: who waits for that may go on.
 * Sampler. */
void traced_confirm(void);

/* Whether somebody waits for that. Any thread. */
bool traced_is_wanted(void);

/* Whether it was TRACED_BY_OTHER at the last look. Any thread. */
bool traced_by_other(void);

/* Around a call by which the calling thread asks to be traced: no signal of
 * ours comes to it from now on; and the tracer can be seen. The first waits for
 * the sampler, a second at most, and returns whether the other is to be called.
 * errno stays. Any thread, in handler. */
bool traced_before(void);
void traced_after(void);

#endif
