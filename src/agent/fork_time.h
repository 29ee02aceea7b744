/* SPDX-License-Identifier: MIT */
/*
 * fork_time.h -- the CPU time of the calling thread's forks. Nothing interrupts
 * a fork: a signal that came again and again would make a large one begin anew
 * for ever, and what the kernel holds back is one signal, however long the fork
 * takes. So it is measured between the fork handlers (pthread_atfork(3)), and
 * is one sample of the stack that has called fork. Context of all: the thread
 * that forks.
 */
#ifndef AGENT_FORK_TIME_H
#define AGENT_FORK_TIME_H

#include "base/arch.h"

/* A hook calls what forks; AT is where its caller's stack begins (arch_entry).
 * Returns what is to be given to fork_time_leave: a handler may fork on top. */
const struct regs *fork_time_enter(const struct regs *at);
void fork_time_leave(const struct regs *outer);

/* All handlers before the fork have run; now those after it begin. */
void fork_time_begin(void);
void fork_time_end(void);

/* In the parent, when all is as before the fork: take the sample. That of a
 * fork without a hook (__fork) has the handlers' caller on its stack. */
void fork_time_take(void);

/* The thread is the child. */
void fork_time_forget(void);

#endif
