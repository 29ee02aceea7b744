/* SPDX-License-Identifier: MIT */
/*
 * alternate.c -- see alternate.h. A table of fixed size; beyond it the oldest
 * entries are overwritten. The kernel forgets the stack of a thread that ends;
 * here its entry is found to be nobody's.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "base/arch.h"
#include "base/sys.h"
#include "alternate.h"
#include "poison.h"

#define STACKS 256u

/* What the frames of the kernel and of our handler take at the most, rounded
 * up. What lies below may be a guard. */
#define USED_SIZE 8192u

struct stack {
    _Atomic pid_t tid; /* 0: free */
    _Atomic uint64_t low, end;
};

/* Reserved with the first entry: a program under a small RLIMIT_DATA has no
 * memory for what it does not use. */
static struct stack *_Atomic stacks;
static _Atomic uint32_t used;   /* entries that were ever taken */
static _Atomic uint32_t oldest; /* to be overwritten when there is no other */
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
find(pid_t tid)
{
    uint32_t count = atomic_load(&used);
    for (uint32_t i = 0; i < count; i++)
        if (atomic_load(&stacks[i].tid) == tid)
            return &stacks[i];
    return NULL;
}

static struct stack *
claim(pid_t tid)
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
    struct stack *stack = find(tid);
    if (arch_syscall(SYS_sigaltstack, 0, (long)&now, 0, 0, 0, 0) != 0)
        return;
    if ((now.ss_flags & SS_DISABLE) != 0) {
        if (stack != NULL)
            atomic_store(&stack->tid, 0);
        return;
    }
    if (stack == NULL)
        stack = claim(tid);
    if (stack == NULL)
        return;
    uint64_t low = (uint64_t)now.ss_sp, end = low + now.ss_size;
    atomic_store(&stack->low, now.ss_size > USED_SIZE ? end - USED_SIZE : low);
    atomic_store(&stack->end, end);
    atomic_store(&stack->tid, tid);
}

bool
alternate_is_any(void)
{
    return atomic_load_explicit(&used, memory_order_relaxed) != 0;
}

bool
alternate_is_in(const void *memory, size_t size)
{
    uint64_t start = (uint64_t)memory;
    uint32_t count = atomic_load_explicit(&used, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        pid_t tid = atomic_load_explicit(&stacks[i].tid, memory_order_relaxed);
        if (tid != 0 && start < atomic_load(&stacks[i].end) &&
            start + size > atomic_load(&stacks[i].low) &&
            arch_syscall(SYS_tgkill, sys_getpid(), tid, 0, 0, 0, 0) == 0)
            return true;
    }
    return false;
}

bool
alternate_is_on(void)
{
    stack_t now;
    return arch_syscall(SYS_sigaltstack, 0, (long)&now, 0, 0, 0, 0) == 0 &&
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
