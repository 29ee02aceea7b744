/* SPDX-License-Identifier: MIT */
/*
 * handler.c -- the target thread's half of a capture. Runs in the signal
 * handler, on the target's stack, which may be small: well under 1 KiB, no TLS,
 * no allocation, no lock, no libc but clock_gettime; errno is never touched.
 *
 * The hard thing is to leave in time: a handler that had to park waits for the
 * sampler, but never longer than its deadline, whatever has become of that
 * thread.
 */
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sample.h"
#include "base/sys.h"
#include "target/modules.h"
#include "handler.h"
#include "slot.h"
#include "walk.h"
#include "poison.h"

struct handler_shared handler_shared;
__thread struct handler_thread_mask handler_thread_mask;

/* Let the view read the thread's own stack directly, if that is where the
 * walk starts and the thread is still the one that its index names. */
static void
begin_view(struct view *view, const struct slot *slot)
{
    struct handler_thread *thread = &handler_shared.threads[slot->thread];
    uint64_t low = atomic_load_explicit(&thread->low, memory_order_relaxed);
    uint64_t high = atomic_load_explicit(&thread->high, memory_order_acquire);
    uint64_t pointer =
        atomic_load_explicit(&thread->pointer, memory_order_relaxed);
    if (pointer != slot->thread_pointer || slot->sp < low || slot->sp >= high)
        low = high = 0;
    view_begin(view, low, high, slot->window);
}

/* Whether the thread was woken from a system call, or is about to make one or
 * has just left it: the pc is behind the instruction, or on it, where the
 * kernel sets it back to when the call is to be restarted (signal(7)). A second
 * byte is looked at only if the first says that it belongs to the instruction.
 */
static bool
is_at_syscall(uint64_t pc)
{
    const uint8_t *code = (const uint8_t *)pc;
    if (code[0] == 0x0f && code[1] == 0x05)
        return true;
    return (pc & 4095) >= 2 && code[-2] == 0x0f && code[-1] == 0x05;
}

/* Wait in PARKED until served or until the deadline. Returns with the slot in
 * our hands (true), or left behind to the sampler (false). */
static bool
park(struct slot *slot)
{
    uint64_t until = slot->time + PARK_NS;
    slot->parked = true;
    atomic_store_explicit(&slot->state, SLOT_PARKED, memory_order_release);
    atomic_fetch_add(&handler_shared.bell, 1);
    sys_futex_wake(&handler_shared.bell, 1);
    for (;;) {
        uint32_t state =
            atomic_load_explicit(&slot->state, memory_order_acquire);
        /* The sampler has what it wants, and touches the slot no more. */
        if (state == SLOT_SERVED)
            return true;
        if (clock_now() < until) {
            sys_futex_wait(&slot->state, state, until);
            continue;
        }
        /* Nobody came: the slot is ours again, with a stack that is cut. */
        if (slot_move(slot, SLOT_PARKED, SLOT_CLAIMED)) {
            slot->walk.cut = CUT_DEADLINE;
            return true;
        }
        /* The sampler is at it: it will find that we have left. */
        if (slot_move(slot, SLOT_SERVING, SLOT_LEFT))
            return false;
    }
}

/* Copy what is left of the stack, so that the sampler can go on without us.
 * False if it is too much, or its end is not known. */
static bool
copy_stack(struct slot *slot, const struct view *view)
{
    /* A register that was just restored is found below the stack pointer, in
     * the red zone, which a signal leaves alone (psABI, section 3.2.2). */
    uint64_t start = (slot->walk.regs.sp - SLOT_RED_ZONE) & ~7ull;
    slot->copy_start = start;
    if (start < view->low || start >= view->high) {
        long got = sys_read_memory(slot->copy, start, SLOT_COPY);
        slot->copied = got > 0 ? (uint32_t)got : 0;
        return got > 0 && got < SLOT_COPY;
    }
    uint64_t end =
        atomic_load_explicit(&handler_shared.threads[slot->thread].root,
                             memory_order_relaxed);
    if (end <= start || end > view->high)
        end = view->high;
    if (end - start > SLOT_COPY)
        return false;
    slot->copied = (uint32_t)(end - start);
    memcpy(slot->copy, (const void *)start, slot->copied);
    return true;
}

/* The walk needs what only the sampler can do. Returns as park does. */
static bool
leave_to_sampler(struct slot *slot, const struct view *view,
                 const ucontext_t *context)
{
    memcpy(slot->registers, context->uc_mcontext.gregs,
           sizeof(slot->registers));
    if (!copy_stack(slot, view))
        return park(slot);
    slot->unfinished = true;
    return true;
}

static void
begin_slot(struct slot *slot, uint32_t index, uint32_t sequence,
           const ucontext_t *context)
{
    struct regs regs;
    slot->time = clock_now();
    slot->thread = index;
    slot->sequence = sequence;
    slot->trigger = TRIGGER_ASK;
    slot->parked = slot->unfinished = false;
    slot->thread_pointer = arch_thread_pointer();
    slot->cpu = sched_getcpu();
    arch_regs(context, &regs);
    slot->sp = regs.sp;
    slot->in_syscall = is_at_syscall(regs.pc);
    walk_begin(&slot->walk, &regs);
}

static void
take_sample(uint64_t cookie, const ucontext_t *context)
{
    uint32_t index = (uint32_t)(cookie >> COOKIE_BITS) & COOKIE_MASK;
    uint32_t sequence = (uint32_t)cookie & COOKIE_MASK;
    struct view view;
    if (index >= handler_shared.thread_count)
        return;
    struct slot *slot = slots_claim(index);
    if (slot == NULL) {
        atomic_store(&handler_shared.threads[index].refused, sequence);
        return;
    }
    begin_slot(slot, index, sequence, context);
    begin_view(&view, slot);
    /* While modules change, rules may be stale: only the sampler knows what a
     * pc means now. */
    enum walk_outcome outcome =
        modules_are_settled() ? walk_run(&slot->walk, &view) : WALK_MISS;
    bool is_missing = outcome == WALK_MISS || outcome == WALK_HARD;
    if (is_missing && !leave_to_sampler(slot, &view, context))
        return;
    slot->stopped = (uint32_t)(clock_now() - slot->time);
    atomic_store_explicit(&slot->state, SLOT_DONE, memory_order_release);
}

/* The program's disposition is the default one: let it act. The handler must
 * give way for that; the process ends here. */
static void
die_by_default(int signo)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    handler_shared.sigaction(signo, &action, NULL);
    arch_syscall(SYS_tgkill, sys_getpid(), sys_gettid(), signo, 0, 0, 0);
}

/* Run the program's handler with the mask that the kernel would have given it;
 * the return from our own handler restores the old one. */
static void
call_program(const struct sigaction *action, int signo, siginfo_t *info,
             ucontext_t *context)
{
    sigset_t mask = context->uc_sigmask;
    for (int i = 1; i < NSIG; i++)
        if (sigismember(&action->sa_mask, i) == 1)
            sigaddset(&mask, i);
    if ((action->sa_flags & SA_NODEFER) == 0)
        sigaddset(&mask, signo);
    arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, NSIG / 8, 0,
                 0);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signo, info, context);
    else
        action->sa_handler(signo);
}

static void
pass_on(int signo, siginfo_t *info, ucontext_t *context)
{
    uint32_t current = atomic_load(&handler_shared.current);
    if (handler_thread_mask.blocks) {
        handler_thread_mask.held = true;
        return;
    }
    struct sigaction action = handler_shared.program[current];
    if (action.sa_handler == SIG_IGN)
        return;
    if (action.sa_handler != SIG_DFL)
        call_program(&action, signo, info, context);
    else if (signo != SIGURG && signo != SIGCHLD && signo != SIGWINCH)
        die_by_default(signo);
}

static void
handle(int signo, siginfo_t *info, void *context)
{
    uint64_t cookie = (uint64_t)info->si_value.sival_ptr;
    if (info->si_code == HANDLER_CODE && info->si_pid == handler_shared.pid &&
        cookie >> 48 == handler_shared.secret)
        take_sample(cookie, context);
    else if (info->si_code != HANDLER_CODE)
        pass_on(signo, info, context);
}

int
handler_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    /* All signals, cancellation included: a handler that parks must not be
     * left by longjmp or pthread_exit. */
    memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
    return handler_shared.sigaction(handler_shared.signo, &action,
                                    &handler_shared.program[0]);
}
