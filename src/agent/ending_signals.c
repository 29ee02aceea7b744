/* SPDX-License-Identifier: MIT */
/*
 * ending_signals.c -- see ending_signals.h. The handler may have interrupted
 * anything, malloc included: it claims the end of the process, has the sampler
 * write, waits, and dies. Nothing on that way allocates or takes a lock of the
 * program (lifecycle.c), and all that takes more stack than a sample does has
 * its own.
 *
 * The hard thing is that nobody may notice: what the program and its children
 * see of the disposition is the program's own, and the process dies of the very
 * signal that came. Process 1 of a container has no default action, so there
 * nothing is installed.
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/phase.h"
#include "base/sys.h"
#include "base/words.h"
#include "libc/real.h"
#include "process/status.h"
#include "process/threads.h"
#include "sampling/sampler_thread.h"
#include "signals/alternate.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "own_stack.h"
#include "requests.h"
#include "ending_signals.h"

/* How many times the watch must see a signal waiting before it acts. */
#define WATCH_TURNS 2

/* First those that write the profile, then those that may print the stacks of
 * all threads (SPROF_DUMP_ON). */
static const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGILL,
                              SIGTRAP, SIGABRT, SIGBUS, SIGFPE,  SIGSEGV,
                              SIGXCPU, SIGXFSZ, SIGSYS};
#define SIGNALS ((int)(sizeof(signals) / sizeof(signals[0])))
#define ENDINGS 3

/* Limit of the printing, in ns. */
#define DUMP_NS 20000000000u

/* The program's disposition where our handler is: SIG_DFL, with its flags and
 * mask. Written by the thread that sets it. */
static struct sigaction program[SIGNALS];
static _Atomic bool is_used[SIGNALS];
static int watch_turns[SIGNALS];
static ending_signals_end_process *end_process;

/* Let SIGNO have its default action from now on. */
static void
make_default(int signo)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    real_libc_sigaction()(signo, &action, NULL);
}

/* State for which the program's stack has no room. */
struct deep {
    int signo;
    uint64_t mask; /* of signals, while it runs */
};

/* A second signal of those that end the program must come through, and so must
 * our own, if the thread did not block them before. */
static uint64_t
mask_inside(const ucontext_t *context)
{
    uint64_t open = signals_borrowed() | SIGNALS_OF_LIBC;
    for (int i = 0; i < ENDINGS; i++)
        open |= signals_bit(signals[i]);
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
    static _Atomic bool is_printed;
    if (phase_is_running() && !sampler_thread_is_caller() &&
        !atomic_exchange(&is_printed, true))
        own_stack_run(print_stacks, deep);
    make_default(deep->signo);
    if (info->si_code <= 0)
        ending_signals_die(deep->signo);
}

/* Whether SIGNO is a signal by which a user or another program ends this one.
 */
static bool
is_ending(int signo)
{
    for (int i = 0; i < ENDINGS; i++)
        if (signals[i] == signo)
            return true;
    return false;
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
    if (is_ending(signo))
        own_stack_run(end_for_signal, &deep);
    else
        die_with_stacks(&deep, info);
    words_set_errno(saved);
}

static bool
is_ours(const struct sigaction *action)
{
    return action->sa_sigaction == on_fatal;
}

/* Whether the kernel calls our handler. A function in front of libc's sigaction
 * is not called: it may need locks that the program holds when it is ended. */
static bool
is_installed(int signo)
{
    struct sys_action now;
    return sys_get_action(signo, &now) == 0 && now.handler == (void *)on_fatal;
}

/* The place of SIGNO in the table, -1 if it has none. */
static int
index_of(int signo)
{
    for (int i = 0; i < SIGNALS; i++)
        if (signals[i] == signo && atomic_load(&is_used[i]))
            return i;
    return -1;
}

/* Put our handler in place of the default action of the I-th signal. */
static void
take_over(int i)
{
    struct sigaction ours, before;
    memset(&ours, 0, sizeof(ours));
    ours.sa_sigaction = on_fatal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    if (!alternate_is_avoided())
        ours.sa_flags |= SA_ONSTACK;
    /* No handler of the program runs any more; ours again where there is room
     * for a second frame (mask_inside). */
    sigfillset(&ours.sa_mask);
    if (real_libc_sigaction()(signals[i], &ours, &before) != 0 ||
        is_ours(&before))
        return;
    if (before.sa_handler == SIG_DFL)
        program[i] = before;
    else /* Another thread of the program set it first. */
        real_libc_sigaction()(signals[i], &before, NULL);
}

void
ending_signals_begin(int except, uint64_t dumps,
                     ending_signals_end_process *end)
{
    struct sys_action now;
    end_process = end;
    own_stack_begin();
    if (sys_getpid() == 1)
        return;
    for (int i = 0; i < SIGNALS; i++) {
        if (signals[i] == except ||
            (i >= ENDINGS && (dumps & signals_bit(signals[i])) == 0))
            continue;
        atomic_store(&is_used[i], true);
        if (sys_get_action(signals[i], &now) == 0 &&
            now.handler == (void *)SIG_DFL)
            take_over(i);
    }
}

void
ending_signals_avoid_alternate(void)
{
    for (int i = 0; i < SIGNALS; i++)
        if (atomic_load(&is_used[i]) && is_installed(signals[i]))
            take_over(i);
}

void
ending_signals_end(void)
{
    for (int i = 0; i < SIGNALS; i++)
        if (atomic_exchange(&is_used[i], false) && is_installed(signals[i]))
            real_libc_sigaction()(signals[i], &program[i], NULL);
}

/* In a child of vfork the disposition is its own, but not our tables. */
static int
change(int signo, const struct sigaction *action, struct sigaction *old)
{
    return phase_is_own() ? disposition_action(signo, action, old)
                          : REAL(sigaction)(signo, action, old);
}

bool
ending_signals_action(int signo, const struct sigaction *action,
                      struct sigaction *old)
{
    struct sigaction given, before;
    int i = index_of(signo);
    if (i < 0)
        return false;
    /* Our handler as a function's old result (sigset(3)) is the default. */
    if (action != NULL) {
        given = *action;
        if (is_ours(&given))
            given = program[i];
    }
    /* First as the program wants it, so that the kernel fills in the rest. */
    if (change(signo, action != NULL ? &given : NULL, &before) != 0)
        return true;
    if (old != NULL)
        *old = is_ours(&before) ? program[i] : before;
    if (action != NULL && given.sa_handler == SIG_DFL && phase_is_running())
        take_over(i);
    return true;
}

bool
ending_signals_is_kept(int signo)
{
    return index_of(signo) >= 0;
}

bool
ending_signals_is_installed(int signo)
{
    return index_of(signo) >= 0 && is_installed(signo);
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
    make_default(signo);
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
    if (!is_installed(signo))
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
    uint64_t pending = 0;
    /* Of the sampler, which blocks all, these are the process's own. */
    arch_syscall(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0,
                 0);
    for (int i = 0; i < ENDINGS; i++) {
        bool waits =
            atomic_load(&is_used[i]) && (pending >> (signals[i] - 1) & 1) != 0;
        watch_turns[i] = waits ? watch_turns[i] + 1 : 0;
        if (watch_turns[i] >= WATCH_TURNS)
            end_stuck(signals[i]);
    }
}
