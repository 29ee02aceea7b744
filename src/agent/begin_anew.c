/* SPDX-License-Identifier: MIT */
/*
 * begin_anew.c -- see begin_anew.h. A new variable that a fork must reset is
 * cleared by one of the functions that are called here.
 */
#include <errno.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/phase.h"
#include "capture/begin.h"
#include "capture/handler.h"
#include "journal/journal.h"
#include "labels/labels.h"
#include "libc/real.h"
#include "process/threads.h"
#include "sampling/afford.h"
#include "sampling/counts.h"
#include "sampling/fork_time.h"
#include "sampling/marks.h"
#include "sampling/recorder.h"
#include "sampling/registry.h"
#include "sampling/renew.h"
#include "sampling/sampler_thread.h"
#include "sampling/session.h"
#include "sampling/single_thread.h"
#include "sampling/tracee.h"
#include "sampling/trigger/cpu_timer.h"
#include "sampling/trigger/trigger.h"
#include "signals/mask.h"
#include "credentials.h"
#include "ender.h"
#include "left.h"
#include "requests.h"
#include "run_on_sampler.h"
#include "service.h"
#include "begin_anew.h"

void
begin_anew_in_child(void)
{
    /* The parent measures the fork; the child's CPU clock begins at 0. */
    fork_time_forget();
    /* The word that the parent shares with its children is now that of the
     * child's parent. */
    left_in_child();
    if (!phase_is_on())
        return;
    /* What the parent has waited for in vain is not the child's. */
    clock_forget_expired();
    /* The thread that was ending the parent is not here. */
    ender_forget();
    /* Nor is the thread that asked the sampler to take over its rights. */
    credentials_forget();
    /* The spool is the parent's, and the child must not write to it. */
    journal_forget();
    /* libc has counted the sampler's thread, which is not here. */
    single_thread_after_fork();
}

/* Our signal number is about to become the program's. */
static void
leave(enum signals_role role)
{
    if (role == SIGNALS_TRAP && sampler_thread_is_there())
        trigger_leave_trap();
    else if (role == SIGNALS_CONTROL)
        requests_block_signal();
}

/* Install the handler. In a child it stays, with another pid: of what the
 * parent had sent, nothing counts. */
static int
install_handler(const struct settings *settings)
{
    struct begin_options suspend = {.settings = settings,
                                    .threads = THREADS_MAX,
                                    .index_of_tid = threads_indexes(),
                                    .tid_count = THREADS_TIDS,
                                    .sigaction = real_libc_sigaction(),
                                    .next_sigaction = REAL(sigaction),
                                    .leaving = leave,
                                    .request = requests_take};
    return begin_handler(&suspend);
}

int
begin_anew(const struct settings *settings)
{
    /* The tid of the sampler before may be a thread of the program by now. */
    threads_ignore(0);
    /* There is no sampler's thread until it is made. */
    sampler_thread_begin(settings->pid);
    /* No function waits to be run on it. */
    run_on_sampler_reset();
    /* A process that runs beside the program is the parent's, or was killed at
     * the end of the profile before. */
    service_forget();
    /* The first rotation is due when that much time was sampled. */
    recorder_begin(settings);
    /* No spool of this profile was shortened. */
    renew_begin();
    /* The rate is the one that was asked for. */
    afford_begin(settings);
    /* Nor has its spool any sums. */
    counts_begin();
    /* labels_end has turned labels off. */
    labels_begin();
    /* A thread must not arm a timer whose signal is not yet known as ours. */
    trigger_reset();
    /* Threads that were held for their tracer's sake are not here. */
    tracee_begin(settings);
    /* What follows fails for want of memory, or says why. The table of tids is
     * there before a handler can look into it. */
    errno = ENOMEM;
    if (threads_begin(settings->pid, 0, NULL, false) != 0)
        return -1;
    /* A child has one thread, which is registered if it was. */
    if (registry_begin() != 0)
        return -1;
    /* A child inherits no timers (timer_create(2)). */
    if (cpu_timer_begin() != 0)
        return -1;
    /* The marks that wait are the parent's. */
    if (marks_begin() != 0)
        return -1;
    if (install_handler(settings) != 0)
        return -1;
    /* No thread waits for an answer, and pending requests were the parent's. */
    if (requests_begin((int)settings->options->dump_signal.number) != 0)
        return -1;
    /* The number for perf is borrowed before the program changes a mask. */
    trigger_borrow((enum option_trigger)settings->options->trigger.number);
    return 0;
}

void
begin_anew_signals(const struct settings *settings,
                   ending_signals_end_process *end)
{
    /* The thread has another tid, and its CPU clock began at 0. */
    handler_know_thread(true);
    /* What it blocks of the borrowed numbers is what it inherited. */
    mask_begin();
    /* No thread is in a handler of these, nor on our own stack. */
    ending_signals_begin(settings->options, end);
}
