/* SPDX-License-Identifier: MIT */
/*
 * hooks_stack.c -- the hooks on alternate signal stacks; see hooks.c for hooks
 * in general, and signals/alternate.h for why one that is made read-only
 * matters.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/phase.h"
#include "base/words.h"
#include "libc/real.h"
#include "signals/alternate.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "hook.h"

/* Whether our signals may come. After the end the program may have forbidden
 * itself the system calls that are made here (seccomp(2)). */
static bool
is_sampled(void)
{
    enum phase now = phase_now();
    return now == PHASE_RUNNING || now == PHASE_ASIDE;
}

/* Keep our signals off alternate stacks from now on. Wait until none is on the
 * SIZE bytes of MEMORY, if these are such a stack. If several threads do this
 * at once, each does all of it, and waits. */
static void
avoid(const void *memory, size_t size)
{
    static _Atomic bool is_set;
    int saved = words_errno();
    if (!atomic_load(&is_set)) {
        alternate_avoid();
        disposition_avoid_alternate();
        atomic_store(&is_set, true);
    }
    alternate_leave(memory, size);
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
    if ((access & PROT_WRITE) == 0 && alternate_is_any() && is_sampled() &&
        alternate_is_in(memory, size) && phase_is_own())
        avoid(memory, size);
}

/* A tail call, so that no frame of our code is on the stack. */
int hook_mprotect(void *memory, size_t size, int access) __asm__("mprotect");

HOOK int
hook_mprotect(void *memory, size_t size, int access)
{
    hook_before_protect(memory, size, access);
    return real_mprotect(memory, size, access);
}
