/* SPDX-License-Identifier: MIT */
/*
 * traced.c -- see traced.h. The kernel tells of each thread by whom it is
 * traced ("TracerPid:" of proc_pid_status(5)).
 *
 * The hard thing is the instant before a thread is traced by its own wish: it
 * holds the sampler, which says when it has taken back all that sends signals,
 * and does not begin again before the hold is over and the tracer can be seen.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/phase.h"
#include "base/sys.h"
#include "base/text.h"
#include "capture/suspend.h"
#include "target/status.h"
#include "target/threads.h"
#include "sampler_thread.h"
#include "traced.h"

/* Between two looks, at 10 us for each thread that is looked at; in each of
 * them at the main thread, and in some at one more. */
#define LOOK_NS 8000000u
#define OTHERS_EVERY 4u

/* For the sampler to say that it is quiet. */
#define QUIET_NS 1000000000u

/* They use signals of their own, and show ours or hand them on. A name may go
 * on, but not with a letter: gdb-multiarch, lldb-server-14, valgrind.bin. */
static const char *const tools[] = {"gdb",    "gdbserver", "lldb", "strace",
                                    "ltrace", "valgrind",  "vgdb", "rr"};

static pid_t process;
static bool matters;
static enum traced found;  /* at the last look */
static pid_t tracee;       /* whose tracer that is, 0: not known */
static uint64_t last_look; /* 0: there was none */
static uint32_t looks;     /* while nobody was found */
static bool is_holding;    /* the last look saw a hold */
static _Atomic bool by_other;

/* Threads between traced_before and traced_after; the last of them; and 1 if
 * the sampler knows of them and sends no signal. */
static _Atomic uint32_t holds, is_held;
static _Atomic pid_t asker;

void
traced_begin(pid_t pid, bool does_matter)
{
    process = pid;
    matters = does_matter;
    found = TRACED_NOT;
    tracee = 0;
    last_look = 0;
    looks = 0;
    is_holding = false;
    atomic_store(&by_other, false);
    atomic_store(&holds, 0);
    atomic_store(&is_held, 0);
    atomic_store(&asker, 0);
}

/* The tracer of thread TID, 0 if it has none or is not there. */
static pid_t
tracer_of(pid_t tid)
{
    struct status status;
    if (tid == 0 || status_read(tid, &status) != 0 || status.tracer == 0)
        return 0;
    tracee = tid;
    return status.tracer;
}

/* Nearly every tracer traces the main thread. */
static pid_t
look_at_some(void)
{
    uint32_t limit = threads_limit();
    pid_t tracer = tracer_of(process);
    if (tracer != 0 || limit < 2 || looks++ % OTHERS_EVERY != 0)
        return tracer;
    return tracer_of(threads_at(looks / OTHERS_EVERY % limit)->tid);
}

static pid_t
look_at_all(void)
{
    pid_t tracer = tracer_of(tracee);
    if (tracer == 0)
        tracer = tracer_of(process);
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
    char path[32], name[32];
    struct text text;
    text_begin(&text, path, sizeof(path));
    text_add(&text, "/proc/");
    text_add_number(&text, (uint64_t)tracer);
    text_add(&text, "/comm");
    if (sys_read_file(path, name, sizeof(name)) <= 0)
        return false;
    for (unsigned i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        size_t length = strlen(tools[i]);
        if (strncmp(name, tools[i], length) == 0 && !is_letter(name[length]))
            return true;
    }
    return false;
}

/* Once it was traced all threads are looked at before it is so no more. */
static enum traced
find(void)
{
    if (is_holding)
        return TRACED_BY_OTHER;
    pid_t tracer = found == TRACED_NOT ? look_at_some() : look_at_all();
    if (tracer == 0)
        return TRACED_NOT;
    return is_tool(tracer) ? TRACED_BY_TOOL : TRACED_BY_OTHER;
}

enum traced
traced_look(uint64_t now)
{
    if (!traced_is_wanted() && last_look != 0 && now - last_look < LOOK_NS)
        return found;
    last_look = now;
    /* Who comes after this waits for the next look; who came before is seen. */
    atomic_store(&is_held, 0);
    is_holding = atomic_load(&holds) != 0;
    found = find();
    atomic_store(&by_other, matters && found == TRACED_BY_OTHER);
    return found;
}

void
traced_confirm(void)
{
    if (!is_holding || atomic_exchange(&is_held, 1) != 0)
        return;
    sys_futex_wake(&is_held, 1 << 30);
}

bool
traced_is_wanted(void)
{
    return atomic_load_explicit(&holds, memory_order_relaxed) != 0 &&
           atomic_load_explicit(&is_held, memory_order_relaxed) == 0;
}

bool
traced_by_other(void)
{
    return atomic_load_explicit(&by_other, memory_order_relaxed);
}

bool
traced_before(void)
{
    if (!matters || !phase_is_running())
        return false;
    atomic_store(&asker, sys_gettid());
    atomic_fetch_add(&holds, 1);
    suspend_ring();
    (void)sampler_thread_wait_for(&is_held, 1, QUIET_NS);
    /* Nothing more is sent; what was is handled before this call returns. */
    (void)sys_gettid();
    return true;
}

/* In the child of a fork that a handler made meanwhile there is no hold. */
void
traced_after(void)
{
    if (atomic_load(&holds) != 0)
        atomic_fetch_sub(&holds, 1);
}
