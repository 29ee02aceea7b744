/* SPDX-License-Identifier: MIT */
/*
 * hooks_stack.c -- the hooks on alternate signal stacks; see hooks.c for hooks
 * in general, and capture/alternate.h for why one that is made read-only
 * matters.
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/phase.h"
#include "base/words.h"
#include "capture/alternate.h"
#include "capture/signals.h"
#include "capture/suspend.h"
#include "fatal.h"
#include "hook.h"
#include "real.h"

/* Whether signals of ours may come. After the end the program may have
 * forbidden itself the system calls that are made here (seccomp(2)). */
static bool
is_sampled(void)
{
    enum phase now = phase_now();
    return now == PHASE_RUNNING || now == PHASE_ASIDE;
}

/* Nothing of ours comes to alternate stacks from now on, nor is there still. */
static void
avoid(void)
{
    int saved = words_errno();
    alternate_avoid();
    fatal_avoid_alternate();
    signals_avoid_alternate();
    suspend_wait_for_handlers();
    words_set_errno(saved);
}

HOOK int
sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
    int result = REAL(sigaltstack)(stack, old);
    if (result == 0 && stack != NULL && is_sampled() && phase_is_own())
        alternate_note();
    return result;
}

void
hook_before_protect(const void *memory, size_t size, long access)
{
    if ((access & PROT_WRITE) == 0 && alternate_is_any() &&
        !alternate_is_avoided() && is_sampled() &&
        alternate_is_in(memory, size) && phase_is_own())
        avoid();
}

/* A tail call, so that no frame of ours is on the stack. */
int hook_mprotect(void *memory, size_t size, int access) __asm__("mprotect");

HOOK int
hook_mprotect(void *memory, size_t size, int access)
{
    hook_before_protect(memory, size, access);
    return real_mprotect(memory, size, access);
}
