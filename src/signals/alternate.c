/* SPDX-License-Identifier: MIT */
/*
 * alternate.c -- see alternate.h. A table of fixed size has the stacks. When it
 * is full, the oldest entries are overwritten. The kernel forgets the stack of
 * a thread that ends. Here the entry stays, and is skipped because its thread
 * is gone.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "cookie.h"
#include "alternate.h"
#include "base/poison.h"

/* Number of entries in the table of alternate stacks. */
#define STACKS 256u

/* Limit of the size of the frames of the kernel and of our handler, in bytes,
 * rounded up. A guard may lie below that. */
#define USED_SIZE 8192u

/* The alternate stack of one thread. ANSWERS counts the answers that the thread
 * gave while a handler of the program was still on its stack, or is HAS_LEFT.
 */
struct stack {
    _Atomic pid_t tid; /* 0: free */
    _Atomic uint64_t low, end;
    _Atomic uint32_t answers;
};
#define HAS_LEFT UINT32_MAX

/* Limits in ns: of the time in which a thread leaves its stack, and of the
 * first wait before it is asked again. */
#define LEAVE_NS 1000000000u
#define ASK_AGAIN_NS 1000000u

/* Reserved with the first entry. A program under a small RLIMIT_DATA has no
 * memory for a table that it does not use. */
static struct stack *_Atomic stacks;
static _Atomic uint32_t used;   /* entries that were ever taken */
static _Atomic uint32_t oldest; /* overwritten if none is free */
static _Atomic bool is_avoided;

static bool
has_table(void)
{
    struct stack *none = NULL, *table = atomic_load(&stacks);
    if (table != NULL)
        return true;
    table = sys_reserve(STACKS * sizeof(*table));
    if (table != NULL && !atomic_compare_exchange_strong(&stacks, &none, table))
        sys_release(table, STACKS * sizeof(*table));
    return table != NULL;
}

static struct stack *
find_stack(pid_t tid)
{
    uint32_t count = atomic_load(&used);
    for (uint32_t i = 0; i < count; i++)
        if (atomic_load(&stacks[i].tid) == tid)
            return &stacks[i];
    return NULL;
}

static struct stack *
claim_stack(pid_t tid)
{
    if (!has_table())
        return NULL;
    for (uint32_t i = 0; i < STACKS; i++) {
        pid_t none = 0;
        if (!atomic_compare_exchange_strong(&stacks[i].tid, &none, tid))
            continue;
        uint32_t count = atomic_load(&used);
        while (count <= i &&
               !atomic_compare_exchange_weak(&used, &count, i + 1))
            continue;
        return &stacks[i];
    }
    return &stacks[atomic_fetch_add(&oldest, 1) % STACKS];
}

void
alternate_note(void)
{
    stack_t now;
    pid_t tid = sys_gettid();
    struct stack *stack = find_stack(tid);
    if (sys_call(SYS_sigaltstack, 0, &now) != 0)
        return;
    if ((now.ss_flags & SS_DISABLE) != 0) {
        if (stack != NULL)
            atomic_store(&stack->tid, 0);
        return;
    }
    if (stack == NULL)
        stack = claim_stack(tid);
    if (stack == NULL)
        return;
    uint64_t low = (uint64_t)now.ss_sp, end = low + now.ss_size;
    atomic_store(&stack->low, now.ss_size > USED_SIZE ? end - USED_SIZE : low);
    atomic_store(&stack->end, end);
    atomic_store(&stack->answers, 0);
    atomic_store(&stack->tid, tid);
}

bool
alternate_is_any(void)
{
    return atomic_load_explicit(&used, memory_order_relaxed) != 0;
}

/* Whether STACK is in SIZE bytes from START on, and its thread lives and has
 * not left it. */
static bool
is_stack_in(const struct stack *stack, uint64_t start, size_t size)
{
    pid_t tid = atomic_load_explicit(&stack->tid, memory_order_relaxed);
    return tid != 0 && start < atomic_load(&stack->end) &&
           start + size > atomic_load(&stack->low) &&
           atomic_load(&stack->answers) != HAS_LEFT &&
           sys_call(SYS_tgkill, sys_getpid(), tid) == 0;
}

bool
alternate_is_in(const void *memory, size_t size)
{
    uint32_t count = atomic_load_explicit(&used, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++)
        if (is_stack_in(&stacks[i], (uint64_t)memory, size))
            return true;
    return false;
}

/* The state of thread TID, as the letter of proc_pid_status(5), and in *BLOCKED
 * the signals that it blocks. 0: they cannot be read. */
static __attribute__((noinline)) char
read_status(pid_t tid, uint64_t *blocked)
{
    char status[4096];
    if (proc_read(0, tid, "/status", status, sizeof(status)) <= 0)
        return 0;
    const char *mask = proc_status_line(status, "SigBlk");
    *blocked = proc_bits(mask);
    return *mask != '\0' ? *proc_status_line(status, "State") : '\0';
}

/* Whether our signal may be on the stack of thread TID, or arrive there. Our
 * handler blocks even the signals of the C library. Outside it our signals
 * arrive in a thread that runs, unless it blocks them, as handlers on avoided
 * stacks do. */
static bool
may_be_there(pid_t tid)
{
    uint64_t blocked = 0;
    char state = read_status(tid, &blocked);
    if (state == 0 || (blocked & SIGNALS_OF_LIBC) == SIGNALS_OF_LIBC)
        return true;
    return (state == 'R' || state == 'D') &&
           (~blocked & signals_borrowed()) != 0;
}

/* Wait until the thread of STACK has answered that none of our signals is on
 * its stack. Our handler blocks all of ours, so the thread answers when all
 * earlier ones have returned. The answer may come on top of a handler of the
 * program, which our function may have called (handlers.h). Then it is not the
 * last one: the next comes after that handler has returned. The kernel drops a
 * signal whose number is pending, if it is no real-time signal. So the thread
 * is asked again. */
static void
wait_until_left(struct stack *stack)
{
    uint64_t until = clock_now() + LEAVE_NS, pause = ASK_AGAIN_NS;
    pid_t tid = atomic_load(&stack->tid);
    uint32_t answers;
    while ((answers = atomic_load(&stack->answers)) != HAS_LEFT &&
           atomic_load(&stack->tid) == tid && !clock_expires(until) &&
           (answers != 0 || may_be_there(tid)) &&
           cookie_order(tid, COOKIE_LEAVE)) {
        sys_futex_wait(&stack->answers, answers, clock_now() + pause);
        pause *= 2;
    }
    atomic_store(&stack->answers, HAS_LEFT);
}

void
alternate_leave(const void *memory, size_t size)
{
    pid_t self = sys_gettid();
    uint32_t count = atomic_load(&used);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_stack_in(&stacks[i], (uint64_t)memory, size))
            continue;
        if (atomic_load(&stacks[i].tid) == self)
            atomic_store(&stacks[i].answers, HAS_LEFT);
        else
            wait_until_left(&stacks[i]);
    }
}

void
alternate_answer(ucontext_t *context)
{
    struct stack *stack = find_stack(sys_gettid());
    uint64_t sp = arch_register(context, ARCH_SP);
    if (stack == NULL)
        return;
    if (sp - (uint64_t)context->uc_stack.ss_sp < context->uc_stack.ss_size) {
        signals_set_word(&context->uc_sigmask,
                         signals_word(&context->uc_sigmask) |
                             signals_borrowed());
        atomic_fetch_add(&stack->answers, 1);
    } else {
        atomic_store(&stack->answers, HAS_LEFT);
    }
    sys_futex_wake(&stack->answers, 1 << 30);
}

bool
alternate_is_on(void)
{
    stack_t now;
    return sys_call(SYS_sigaltstack, 0, &now) == 0 &&
           (now.ss_flags & SS_ONSTACK) != 0;
}

void
alternate_avoid(void)
{
    atomic_store(&is_avoided, true);
}

bool
alternate_is_avoided(void)
{
    return atomic_load_explicit(&is_avoided, memory_order_relaxed);
}
