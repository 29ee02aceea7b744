/* SPDX-License-Identifier: MIT */
/*
 * own_stack.c -- see own_stack.h. Runs on the thread that ends the process, in
 * a signal handler mostly.
 *
 * The hard thing is the alternate stack on which that handler may run: once
 * the thread is elsewhere, the kernel takes it for free (sigaltstack(2)), and
 * the next signal's frame would overwrite ours. So it is taken away meanwhile,
 * and no signal comes between the two steps.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/phase.h"
#include "base/state.h"
#include "base/sys.h"
#include "own_stack.h"

#define STACK_SIZE (64u << 10)
#define GUARD_SIZE 4096u

static char *stack; /* the guard first, NULL if there is none */
static OF_PROCESS _Atomic bool is_taken;

struct call {
    void (*function)(void *);
    void *argument;
    uint64_t mask; /* of signals, before */
};

void
own_stack_begin(void)
{
    /* valgrind says aloud that a stack was changed. */
    if (stack != NULL || arch_is_simulated())
        return;
    stack = sys_reserve(GUARD_SIZE + STACK_SIZE);
    if (stack != NULL)
        arch_syscall(SYS_mprotect, (long)stack, GUARD_SIZE, PROT_NONE, 0, 0, 0);
}

/* On our stack. Signals are blocked before and after. */
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
own_stack_run(void (*function)(void *), void *argument)
{
    struct call call = {function, argument, 0};
    if (stack == NULL || sys_getpid() != phase_process() ||
        atomic_exchange(&is_taken, true)) {
        function(argument);
        return;
    }
    sys_mask(SIG_BLOCK, UINT64_MAX, &call.mask);
    arch_call_on(stack + GUARD_SIZE + STACK_SIZE, run_on_stack, &call);
    sys_mask(SIG_SETMASK, call.mask, NULL);
    atomic_store(&is_taken, false);
}
