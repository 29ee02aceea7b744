/* SPDX-License-Identifier: MIT */
/*
 * ending_signals.c -- see ending_signals.h. The handler may have interrupted
 * anything, malloc included: it claims the end of the process, has the sampler
 * write, waits, and dies. Nothing on that way allocates or takes a lock of the
 * program (lifecycle.c). What takes more stack than a sample runs on our own
 * stack.
 *
 * The hard thing is that the program and its children must not notice. They see
 * the program's own disposition, and the process dies of the very signal that
 * came. Process 1 of a container has no default action, so there nothing is
 * installed.
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/phase.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/words.h"
#include "process/status.h"
#include "process/threads.h"
#include "sampling/sampler_thread.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "own_stack.h"
#include "requests.h"
#include "ending_signals.h"

/* How many times the watch must see a signal waiting before it acts. */
#define WATCH_TURNS 2

/* The signals before whose default action the profile is written. */
static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDINGS (sizeof(endings) / sizeof(endings[0]))

/* Limit of the printing, in ns. */
#define DUMP_NS 20000000000u

static ending_signals_end_process *end_process;

/* State for which the program's stack has no room. */
struct deep {
    int signo;
    uint64_t mask; /* of signals, while it runs */
};

static uint64_t
endings_word(void)
{
    uint64_t word = 0;
    for (size_t i = 0; i < ENDINGS; i++)
        word |= signals_bit(endings[i]);
    return word;
}

/* The thread does not block our signals and a second one of those that end the
 * program, unless it blocked them before. */
static uint64_t
mask_inside(const ucontext_t *context)
{
    uint64_t open = signals_borrowed() | SIGNALS_OF_LIBC | endings_word();
    return signals_word(&context->uc_sigmask) | ~open;
}

static void
open_signals(const struct deep *deep)
{
    sys_mask(SIG_SETMASK, deep->mask, NULL);
}

static void
print_stacks(void *deep)
{
    open_signals(deep);
    (void)requests_ask(REQUEST_PRINT, STDERR_FILENO, NULL, DUMP_NS);
}

/* Print the stacks of all threads, and then let the signal act. A signal that
 * an instruction raised comes again when the handler returns to it. So a core
 * file shows that instruction, and not our code. */
static void
die_with_stacks(struct deep *deep, const siginfo_t *info)
{
    static OF_PROCESS _Atomic bool is_printed;
    if (phase_is_running() && !sampler_thread_is_caller() &&
        !atomic_exchange(&is_printed, true))
        own_stack_run(print_stacks, deep);
    disposition_make_default(deep->signo);
    if (info->si_code <= 0)
        ending_signals_die(deep->signo);
}

static void
end_for_signal(void *argument)
{
    const struct deep *deep = argument;
    open_signals(deep);
    if (end_process(deep->signo))
        ending_signals_die(deep->signo);
}

ARCH_SIGNAL_ENTRY static void
on_fatal(int signo, siginfo_t *info, void *context)
{
    int saved = words_errno();
    struct deep deep = {signo, mask_inside(context)};
    if ((endings_word() & signals_bit(signo)) != 0)
        own_stack_run(end_for_signal, &deep);
    else
        die_with_stacks(&deep, info);
    words_set_errno(saved);
}

void
ending_signals_begin(const struct options *options,
                     ending_signals_end_process *end)
{
    uint64_t ours = signals_bit((int)options->signal.number);
    end_process = end;
    own_stack_begin();
    if (sys_getpid() != 1)
        disposition_begin_enders(endings_word() & ~ours,
                                 options->dump_on.number & ~ours, on_fatal);
}

void
ending_signals_take(int signo, siginfo_t *info)
{
    ucontext_t context;
    uint64_t mask = 0;
    sys_mask(SIG_BLOCK, UINT64_MAX, &mask);
    signals_set_word(&context.uc_sigmask, mask);
    on_fatal(signo, info, &context);
    sys_mask(SIG_SETMASK, mask, NULL);
}

void
ending_signals_die(int signo)
{
    disposition_make_default(signo);
    sys_mask(SIG_UNBLOCK, signals_bit(signo), NULL);
    arch_syscall(SYS_tgkill, sys_getpid(), sys_gettid(), signo, 0, 0, 0);
}

/* Whether thread TID does not block SIGNO, and is neither stopped nor dead. */
static bool
would_take(pid_t tid, int signo)
{
    struct status status;
    return status_read(tid, &status) == 0 &&
           strchr("TtZX", status.state) == NULL &&
           (status.blocked & signals_bit(signo)) == 0;
}

/* SIGNO has come, and no thread takes it: then this thread does. A waiting
 * thread that has a signal already would not be woken by another one. */
static void
end_stuck(int signo)
{
    if (!disposition_has_ender(signo))
        return;
    for (uint32_t i = 0; i < threads_limit(); i++) {
        pid_t tid = threads_at(i)->tid;
        if (tid != 0 && would_take(tid, signo)) {
            ending_signals_die(signo);
            return;
        }
    }
}

void
ending_signals_watch(void)
{
    static OF_PROFILE int turns[ENDINGS];
    uint64_t pending = 0;
    /* Of the sampler, which blocks all, these are the process's own. */
    arch_syscall(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0,
                 0);
    for (size_t i = 0; i < ENDINGS; i++) {
        bool waits = (pending & signals_bit(endings[i])) != 0;
        turns[i] = waits ? turns[i] + 1 : 0;
        if (turns[i] >= WATCH_TURNS)
            end_stuck(endings[i]);
    }
}
