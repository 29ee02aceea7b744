/* SPDX-License-Identifier: MIT */
/*
 * ending_signals.c -- see ending_signals.h. The handler may have interrupted
 * anything, including malloc: it claims the end of the process, has the sampler
 * write, waits, and dies. None of this allocates or takes a lock of the program
 * (lifecycle.c). Work that takes more stack than a sample runs on our own
 * stack.
 *
 * The hard thing is that the program and its children must not notice. They see
 * the program's own disposition, and the process dies of the very signal that
 * came. Process 1 of a container has no default action, so it gets no handler.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/digits.h"
#include "base/phase.h"
#include "base/proc.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/words.h"
#include "process/status.h"
#include "process/threads.h"
#include "sampling/sampler_thread.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "signals/sigwait.h"
#include "signals/stray.h"
#include "requests.h"
#include "ending_signals.h"

/* The watch acts when it has seen a signal waiting so many times. */
#define WATCH_TURNS 2

/* The signals before whose default action the profile is written. */
static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDINGS (sizeof(endings) / sizeof(endings[0]))

/* Limit of the printing, in ns. */
#define DUMP_NS 20000000000u

static ending_signals_end_process *end_process;

#define STACK_SIZE (64u << 10)

static char *stack; /* NULL: no stack; a guard page is below it */
static OF_PROCESS _Atomic bool is_taken;

struct call {
    void (*function)(void *);
    void *argument;
    uint64_t mask; /* mask of signals before */
};

/* valgrind reports a changed stack. */
static void
reserve_stack(void)
{
    if (stack != NULL || arch_is_simulated())
        return;
    stack = sys_reserve_stack(STACK_SIZE);
}

/*
 * On our stack. The hard thing is the alternate stack on which a handler may
 * run: once the thread is elsewhere, the kernel takes it for free
 * (sigaltstack(2)), and the next signal's frame would overwrite ours. So the
 * alternate stack is disabled meanwhile, and no signal comes between the two
 * steps.
 *
 * Signals are blocked before and after.
 */
static void
run_on_stack(void *argument)
{
    const struct call *call = argument;
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t alternate;
    bool had_one = arch_syscall(SYS_sigaltstack, (long)&none, (long)&alternate,
                                0, 0, 0, 0) == 0 &&
                   (alternate.ss_flags & SS_DISABLE) == 0;
    sys_mask(SIG_SETMASK, call->mask, NULL);
    call->function(call->argument);
    sys_mask(SIG_BLOCK, UINT64_MAX, NULL);
    if (had_one)
        arch_syscall(SYS_sigaltstack, (long)&alternate, 0, 0, 0, 0, 0);
}

void
ending_signals_run_apart(void (*function)(void *), void *argument)
{
    struct call call = {function, argument, 0};
    if (stack == NULL || sys_getpid() != phase_process() ||
        atomic_exchange(&is_taken, true)) {
        function(argument);
        return;
    }
    sys_mask(SIG_BLOCK, UINT64_MAX, &call.mask);
    arch_call_on(stack + STACK_SIZE, run_on_stack, &call);
    sys_mask(SIG_SETMASK, call.mask, NULL);
    atomic_store(&is_taken, false);
}

/* State for which the program's stack has no room. */
struct deep {
    int signo;
    uint64_t mask; /* mask of signals while it runs */
};

static uint64_t
endings_word(void)
{
    uint64_t word = 0;
    for (size_t i = 0; i < ENDINGS; i++)
        word |= signals_bit(endings[i]);
    return word;
}

/* The thread leaves open our signals and those that end the program, unless it
 * blocked them before. */
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
        ending_signals_run_apart(print_stacks, deep);
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
        ending_signals_run_apart(end_for_signal, &deep);
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
    reserve_stack();
    if (sys_getpid() != 1)
        disposition_begin_enders(endings_word() & ~ours,
                                 options->dump_on.number & ~ours, on_fatal);
}

/* Do what our handler does for SIGNO, which has come to the calling thread by
 * another way, with INFO. Returns as ending_signals_die does. */
static void
take_signal(int signo, siginfo_t *info)
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

/* SIGNO has come, and no thread takes it. So this thread does. A waiting thread
 * that has a signal already would not be woken by another one. */
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
        disposition_renew_ender(endings[i]);
        bool waits = (pending & signals_bit(endings[i])) != 0;
        turns[i] = waits ? turns[i] + 1 : 0;
        if (turns[i] >= WATCH_TURNS)
            end_stuck(endings[i]);
    }
}

/* Signals of a descriptor that it does not get now. */
static _Atomic uint64_t missing;

static uint64_t
own_mask(void)
{
    uint64_t mask = 0;
    sys_mask(SIG_BLOCK, 0, &mask);
    return mask;
}

/* The signals in WORD that have our handler in place of the default action. */
static uint64_t
find_fatal(uint64_t word)
{
    uint64_t found = 0;
    for (int signo = 1; signo < NSIG; signo++)
        if ((word & signals_bit(signo)) != 0 && disposition_has_ender(signo))
            found |= signals_bit(signo);
    return found;
}

/* Whether the main thread waits for SIGNO, and blocks it for that reason
 * alone. */
static bool
does_main_wait(int signo)
{
    static const char call[] = "128 0x"; /* SYS_rt_sigtimedwait */
    char line[256];
    uint64_t word = 0;
    if (proc_read(0, sys_getpid(), "/syscall", line, sizeof(line)) <= 0)
        return false;
    for (size_t i = 0; i < sizeof(call) - 1; i++)
        if (line[i] != call[i])
            return false;
    const char *at = line + sizeof(call) - 1;
    return sys_copy_memory(&word, digits_take_hex(&at), sizeof(word)) &&
           (word & signals_bit(signo)) != 0;
}

/* While the main thread begins and ends to wait, the mask that was last noted
 * says more than one look. */
static bool
would_end(int signo)
{
    return (stray_noted_mask() & signals_bit(signo)) == 0 &&
           stray_is_taken_by_main(signo) && !does_main_wait(signo);
}

void
ending_signals_wait(const sigset_t *set, sigset_t *mine)
{
    *mine = *set;
    uint64_t word = signals_word(set);
    uint64_t fatal = phase_is_running() ? find_fatal(word) : 0;
    if (fatal != 0)
        signals_set_word(mine, word & ~(fatal & ~own_mask()));
}

bool
ending_signals_ends(int signo, siginfo_t *info)
{
    if (!phase_is_running() || !disposition_has_ender(signo) ||
        !stray_is_for_process(info) || !would_end(signo))
        return false;
    take_signal(signo, info);
    return true;
}

void
ending_signals_descriptor(const sigset_t *set, sigset_t *mine)
{
    ending_signals_wait(set, mine);
    uint64_t word = signals_word(mine);
    uint64_t fatal = phase_is_running() ? find_fatal(word) : 0;
    for (int signo = 1; fatal != 0 && signo < NSIG; signo++)
        if ((fatal & signals_bit(signo)) != 0 && would_end(signo))
            word &= ~signals_bit(signo);
    atomic_fetch_or(&missing, signals_word(set) & ~word);
    signals_set_word(mine, word);
}

void
ending_signals_recheck(bool is_left)
{
    uint64_t word = atomic_load_explicit(&missing, memory_order_relaxed);
    if (word == 0 || !phase_is_own())
        return;
    if (!is_left)
        word &= own_mask();
    for (int signo = 1; word != 0 && signo < NSIG; signo++) {
        uint64_t bit = signals_bit(signo);
        if ((word & bit) == 0 || (!is_left && would_end(signo)))
            continue;
        atomic_fetch_and(&missing, ~bit);
        sigwait_come(signo);
    }
}
