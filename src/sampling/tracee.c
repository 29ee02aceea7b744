/* SPDX-License-Identifier: MIT */
/*
 * tracee.c -- see tracee.h. The kernel names the tracer of each thread
 * ("TracerPid:" of proc_pid_status(5)).
 *
 * The hard thing is the instant before a thread is traced by its own wish. That
 * thread holds the sampler, which reports when nothing sends signals any more.
 * Signals begin again only when the hold is over and the tracer can be seen.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/phase.h"
#include "base/proc.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "process/status.h"
#include "process/threads.h"
#include "sampler_thread.h"
#include "tracee.h"

/* LOOK_NS: ns between two looks; a look takes 10 us for each thread. Each look
 * is at the main thread, and each OTHERS_EVERY-th look at one more thread. */
#define LOOK_NS 32000000u
#define OTHERS_EVERY 2u

/* Longest time in ns for which a thread waits for the sampler to stop sending
 * signals. */
#define QUIET_NS 1000000000u

/* Tools that use signals of their own, and show ours or hand them on. A name
 * may go on with anything but a letter: gdb-multiarch, lldb-server-14,
 * valgrind.bin. */
static const char *const tools[] = {"gdb",    "gdbserver", "lldb", "strace",
                                    "ltrace", "valgrind",  "vgdb", "rr"};

static bool matters;
static OF_PROFILE enum tracee found; /* at the last look */
/* The thread that has that tracer; 0: not known. */
static OF_PROFILE pid_t tracee;
/* Time of the last look; 0: none yet. */
static OF_PROFILE uint64_t last_look;
/* Number of looks while no tracer was found. */
static OF_PROFILE uint32_t looks;
static OF_PROFILE bool is_holding; /* the last look saw a hold */
static OF_PROFILE _Atomic bool by_other;

/* holds: threads between tracee_hold and tracee_release. is_held: 1 if the
 * sampler knows of them and sends no signal. asker: the last of these threads.
 */
static OF_PROFILE _Atomic uint32_t holds, is_held;
static OF_PROFILE _Atomic pid_t asker;

void
tracee_begin(const struct settings *settings)
{
    matters = settings->options->trigger.number == OPTION_TRIGGER_AUTO;
}

/* Returns the tracer of thread TID, or 0 if it has none or does not exist. */
static pid_t
tracer_of(pid_t tid)
{
    pid_t tracer = tid != 0 ? status_tracer(tid) : 0;
    if (tracer != 0)
        tracee = tid;
    return tracer;
}

/* Almost every tracer traces the main thread. */
static pid_t
find_in_some(void)
{
    uint32_t limit = threads_limit();
    pid_t tracer = tracer_of(phase_process());
    if (tracer != 0 || limit < 2 || looks++ % OTHERS_EVERY != 0)
        return tracer;
    return tracer_of(threads_at(looks / OTHERS_EVERY % limit)->tid);
}

static pid_t
find_in_all(void)
{
    pid_t tracer = tracer_of(tracee);
    if (tracer == 0)
        tracer = tracer_of(phase_process());
    if (tracer == 0)
        tracer = tracer_of(atomic_load(&asker));
    for (uint32_t i = 0; tracer == 0 && i < threads_limit(); i++)
        tracer = tracer_of(threads_at(i)->tid);
    return tracer;
}

static bool
is_letter(char byte)
{
    return byte >= 'a' && byte <= 'z';
}

static bool
is_tool(pid_t tracer)
{
    char name[32];
    if (proc_read(tracer, PROC_PROCESS, "/comm", name, sizeof(name)) <= 0)
        return false;
    for (unsigned i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        size_t length = strlen(tools[i]);
        if (strncmp(name, tools[i], length) == 0 && !is_letter(name[length]))
            return true;
    }
    return false;
}

/* A tracer that was found counts as gone only after a look at all threads. */
static enum tracee
find_tracer(void)
{
    if (is_holding)
        return TRACEE_BY_OTHER;
    pid_t tracer = found == TRACEE_NOT ? find_in_some() : find_in_all();
    if (tracer == 0)
        return TRACEE_NOT;
    return is_tool(tracer) ? TRACEE_BY_TOOL : TRACEE_BY_OTHER;
}

enum tracee
tracee_look(uint64_t now)
{
    if (!tracee_is_wanted() && last_look != 0 && now - last_look < LOOK_NS)
        return found;
    last_look = now;
    /* A thread that comes after this waits for the next look; one that came
     * before is seen by this look. */
    atomic_store(&is_held, 0);
    is_holding = atomic_load(&holds) != 0;
    found = find_tracer();
    atomic_store(&by_other, matters && found == TRACEE_BY_OTHER);
    return found;
}

void
tracee_confirm(void)
{
    if (!is_holding || atomic_exchange(&is_held, 1) != 0)
        return;
    sys_futex_wake(&is_held, 1 << 30);
}

bool
tracee_is_wanted(void)
{
    return atomic_load_explicit(&holds, memory_order_relaxed) != 0 &&
           atomic_load_explicit(&is_held, memory_order_relaxed) == 0;
}

bool
tracee_is_foreign(void)
{
    return atomic_load_explicit(&by_other, memory_order_relaxed);
}

bool
tracee_hold(void)
{
    if (!matters || !phase_is_running())
        return false;
    atomic_store(&asker, sys_gettid());
    atomic_fetch_add(&holds, 1);
    ask_ring();
    (void)sampler_thread_wait_for(&is_held, 1, QUIET_NS);
    /* No more signals are sent; those that were sent are handled before this
     * call returns. */
    (void)sys_gettid();
    return true;
}

/* If a handler forked meanwhile, the child has no hold. */
void
tracee_release(void)
{
    if (atomic_load(&holds) != 0)
        atomic_fetch_sub(&holds, 1);
}
