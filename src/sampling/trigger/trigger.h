/* SPDX-License-Identifier: MIT */
/*
 * trigger.h -- decides what interrupts the threads that run. The best trigger
 * is perf: any rate, on the thread's own CPU clock. Next comes a timer on the
 * thread's CPU clock, then a question from the sampler. The choice is made at
 * the start for the process, and again for each thread whose clock moves
 * without a sample.
 * Context: sampler.
 */
#ifndef SAMPLING_TRIGGER_TRIGGER_H
#define SAMPLING_TRIGGER_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loss.h"
#include "base/options.h"
#include "base/sample.h"
#include "base/settings.h"

/* Whether the trigger WANTED can work here, as far as that can be known before
 * it begins: a kernel, a program or a filter may forbid perf. Returns 0, or
 * -errno as trigger_begin.
 * Context: any thread. */
int trigger_try(enum option_trigger wanted);

/* Borrow the signal that the trigger WANTED may need, before the program
 * changes a mask: what the program blocks later is then kept as its belief
 * alone (signals.h). Called in the constructor, and in the child of a fork.
 * Context: start. */
void trigger_borrow(enum option_trigger wanted);

/* Find the best trigger and make it ready; it interrupts no thread before
 * trigger_enable. Returns 0, or -errno if the wanted trigger does not work
 * here; then no session begins. */
int trigger_begin(const struct settings *settings);

/* Let the trigger interrupt threads. */
void trigger_enable(void);

/* Make the trigger ready for thread TID, which existed before trigger_begin.
 * Called before trigger_enable. */
void trigger_prepare(pid_t tid);

/* Make the trigger ready for thread TID, and return it. Called after
 * trigger_enable. */
enum trigger trigger_of_thread(pid_t tid);

/* Make the next trigger ready for a thread that FROM does not reach. Returns
 * it, or FROM if no other trigger is left. With MAY_ASK it may be the sampler's
 * question. */
enum trigger trigger_after(enum trigger from, pid_t tid, bool may_ask);

/* perf has interrupted thread TID, to which trigger_after has given FROM. Take
 * FROM back, and return perf; or return FROM if perf's events are closed. */
enum trigger trigger_return(enum trigger from, pid_t tid);

/* The limit of the rate of a thread with TRIGGER. */
enum limit trigger_limit(enum trigger trigger);

/* Whether perf's samples leave out time in the kernel, which timers then show.
 */
bool trigger_is_split(void);

/* Whether the sampler's question is the trigger of all threads. */
bool trigger_is_ask(void);

/* Whether perf is the trigger of threads. */
bool trigger_is_perf(void);

/* Average ns of CPU time between two samples of a timer that is armed for every
 * PERIOD ns: it expires at ticks of the kernel. */
uint64_t trigger_timer_period(uint64_t period);

/* A timer's sample of thread TID was taken: draw the next instant by RANDOM,
 * which is any number. If the timer was only for the first sample, delete it.
 */
void trigger_rearm(pid_t tid, uint64_t random);

/* Whether thread TID, which has used USED ns of CPU time, may be asked. It may
 * not be asked while its timer may expire: the kernel keeps only the first of
 * two pending signals of one number, and the question would be lost. */
bool trigger_may_ask(pid_t tid, uint64_t used);

/* Around a change of the rate (epoch.h): after trigger_pause no thread is
 * interrupted, and trigger_resume makes the triggers ready for the new rate.
 * Then trigger_of_thread gives each thread's new trigger. Events of threads
 * that exist get rates of their own by RANDOM, which is any number, so that
 * they cannot fall into step with the program. */
void trigger_pause(void);
void trigger_resume(uint64_t random);

/* Called once a tick: change perf's period now and then, so that it cannot fall
 * into step with the program. HAS_NEW: threads were made since the last call.
 */
void trigger_vary(uint64_t now, bool has_new, uint64_t random);

/* Returns true if the trigger has changed. Either the program wants perf's
 * SIGTRAP for itself, or questions and timers have another signal number now
 * (signals/signals.h). Then trigger_of_thread gives each thread's new trigger.
 * With LOOK_CLOSELY, also notice a handler of the program that was put in place
 * of ours by a raw system call. */
bool trigger_check_signals(bool look_closely);

/* The same, because a tracer has come or gone (tracee.h). Under a known
 * debugger timers are used; under another tracer no thread is interrupted
 * (TRIGGER_NONE). Does nothing if a trigger was asked for by name. */
bool trigger_check_tracer(uint64_t now);

/* The same, because the program's threads have begun, or ceased, to be switched
 * so often that perf's events cost too much. While they are, the events are
 * closed and timers are used. */
bool trigger_check_switches(uint64_t now);

/* Have the sampler close perf's events, because the program wants SIGTRAP for
 * itself, and wait for that. It takes some milliseconds; the caller waits for
 * one second at most.
 * Context: any. */
void trigger_leave_trap(void);

/* Whether trigger_check_signals still has to close them. */
bool trigger_must_leave_trap(void);

/* Whether the program has replaced one of our handlers. */
bool trigger_was_displaced(void);

/* Let each thread but ENDER be sampled soon, at a tick that finds it running,
 * if its own next sample may be far. The process is about to end.
 * Context: any thread. */
void trigger_sample_soon(pid_t ender);

/* Stop interrupting threads. */
void trigger_stop(void);

/* Called around a fork by the thread that forks: a signal of its timer would
 * make the kernel begin the fork again.
 * Context: any thread. */
void trigger_before_fork(void);
void trigger_after_fork(void);

#endif
