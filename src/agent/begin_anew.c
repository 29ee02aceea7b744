/* SPDX-License-Identifier: MIT */
/*
 * begin_anew.c -- see begin_anew.h. A new variable that begins anew has a mark
 * of base/state.h. The functions called here renew state that is not 0 then, or
 * is no variable of ours.
 */
#include <errno.h>
#include <stddef.h>

#include "base/phase.h"
#include "base/state.h"
#include "capture/handler.h"
#include "journal/journal.h"
#include "labels/labels.h"
#include "labels/mark_ring.h"
#include "libc/real.h"
#include "process/threads.h"
#include "process/unloads.h"
#include "sampling/afford.h"
#include "sampling/alarms.h"
#include "sampling/fork_time.h"
#include "sampling/recorder.h"
#include "sampling/registry.h"
#include "sampling/sampler_thread.h"
#include "sampling/single_thread.h"
#include "sampling/tracee.h"
#include "sampling/trigger/cpu_timer.h"
#include "sampling/trigger/trigger.h"
#include "signals/mask.h"
#include "left.h"
#include "loaded.h"
#include "mute_signals.h"
#include "requests.h"
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
    /* Threads that closed modules do not exist here, either. */
    unloads_in_child();
    loaded_in_child();
    /* The thread that ends the parent does not exist here, either. */
    mute_signals_end_in_child();
    /* Threads that waited for each other do not exist here. */
    state_renew_process();
    /* The spool is the parent's, and the child must not write to it. */
    journal_forget();
    /* libc has counted the sampler's thread, which does not exist here. */
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

/* Install the handler. In a child it stays, with another pid: signals that the
 * parent has sent do not count. */
static int
install_handler(const struct settings *settings)
{
    struct handler_options suspend = {.settings = settings,
                                      .threads = THREADS_MAX,
                                      .index_of_tid = threads_indexes(),
                                      .tid_count = THREADS_TIDS,
                                      .sigaction = real_libc.sigaction,
                                      .next_sigaction = REAL(sigaction),
                                      .leaving = leave,
                                      .request = requests_take};
    return handler_begin(&suspend);
}

int
begin_anew(const struct settings *settings)
{
    /* The tid of the last sampler may now be a thread of the program. */
    threads_ignore(0);
    /* The first rotation is due when the time to keep was sampled. */
    recorder_begin(settings);
    /* No condition holds yet. */
    alarms_begin(settings);
    labels_accept(true);
    /* The rate is the one that was asked for. */
    afford_begin(settings);
    /* An option decides whether the sampler heeds a tracer. */
    tracee_begin(settings);
    /* The calls below fail because memory is short, or say why. The table of
     * tids exists before a handler can look into it. */
    errno = ENOMEM;
    if (threads_begin(settings->pid, 0, NULL, false) != 0)
        return -1;
    if (registry_begin(settings) != 0)
        return -1;
    /* A child inherits no timers (timer_create(2)). */
    if (cpu_timer_begin() != 0)
        return -1;
    /* The marks that wait are the parent's. */
    if (mark_ring_begin() != 0)
        return -1;
    if (install_handler(settings) != 0)
        return -1;
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
    /* The borrowed numbers that it blocks are those that it inherited. */
    mask_begin();
    /* No thread is in a handler of these, nor on our own stack. */
    ending_signals_begin(settings->options, end);
}
