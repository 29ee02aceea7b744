/* SPDX-License-Identifier: MIT */
/*
 * morestack.c -- see morestack.h. The structures are those of Go 1.22 to 1.26,
 * src/runtime/runtime2.go. All data must be consistent: the scheduler's stack
 * begins where the walk stands, the goroutine belongs to the same thread of Go,
 * its saved stack pointer is on its own stack, and it stopped after a call of
 * the function where the walk stands.
 */
#include <stdatomic.h>

#include "base/hot.h"
#include "morestack.h"
#include "base/poison.h"

/* Offsets in "struct g". Before Go 1.25 one more word preceded sched.lr and
 * sched.bp, which follow each other. */
#define G_STACK_LOW 0u
#define G_STACK_HIGH 8u
#define G_M 48u
#define G_SCHED_SP 56u
#define G_SCHED_PC 64u
#define G_SCHED_BP 96u
#define G_SCHED_BP_OLD 104u

/* In "struct m", the words among which curg is: after g0 and morebuf. */
#define M_FIRST 64u
#define M_LAST 512u

/* Limit of the bytes of frames between the scheduler's saved stack pointer and
 * the frame record of the function that runs on it. */
#define TOP_MOST 4096u

/* The function begins at most CODE_BEFORE bytes before the pc where the walk
 * stands. Its other entry, for functions without a context, begins at most
 * CODE_AFTER bytes after it. mcall, in which other goroutines have stopped, is
 * farther away. */
#define CODE_BEFORE 256u
#define CODE_AFTER 64u

/* Limit of the pcs that are remembered: no direct call comes before them. */
#define OTHERS 8u

/* The offset of curg in "struct m", and where in morestack a walk stands. 0: no
 * walk has found them yet. */
static _Atomic uint32_t curg_offset;
static _Atomic uint64_t found_at;

/* Read the word at offset AT of the structure BASE. */
static bool
read_field(struct view *view, uint64_t base, uint32_t at, uint64_t *value)
{
    return base >= 4096 && base % 8 == 0 && view_read(view, base + at, value);
}

/* Read the registers of goroutine G, which must belong to M, from when it
 * stopped. */
static bool
read_goroutine(struct view *view, uint64_t g, uint64_t m, struct regs *from)
{
    uint64_t low, high, own, link = 0;
    *from = (struct regs){0};
    if (!read_field(view, g, G_M, &own) || own != m ||
        !read_field(view, g, G_STACK_LOW, &low) ||
        !read_field(view, g, G_STACK_HIGH, &high) ||
        !read_field(view, g, G_SCHED_SP, &from->sp) ||
        !read_field(view, g, G_SCHED_PC, &from->pc) || from->sp < low ||
        from->sp >= high || from->sp % 8 != 0)
        return false;
    for (uint32_t at = G_SCHED_BP; at <= G_SCHED_BP_OLD; at += 8) {
        uint64_t before;
        if (!read_field(view, g, at - 8, &before) ||
            !read_field(view, g, at, &from->fp))
            return false;
        link = before != 0 ? before : link;
        if (from->fp >= from->sp && from->fp < high)
            break;
        from->fp = 0;
    }
    arch_set_link(from, link);
    return true;
}

/* Whether the instruction before RETURN_ADDRESS calls *TARGET directly. */
static bool
is_call(struct view *view, uint64_t return_address, uint64_t *target)
{
    uint64_t word;
    return view_read(view, return_address - ARCH_CALL_BYTES, &word) &&
           arch_call_target(word, return_address, target);
}

/* The function of FROM needs a larger stack, and has no frame yet. Find its
 * caller. */
static bool
leave(struct view *view, const struct regs *from, struct regs *caller)
{
    *caller =
        (struct regs){.pc = arch_link(from), .sp = from->sp, .fp = from->fp};
    if (ARCH_HAS_LINK)
        return caller->pc != 0;
    caller->sp += 8;
    return view_read(view, from->sp, &caller->pc);
}

/* Read the registers of the goroutine that M runs. */
static bool
read_current(struct view *view, uint64_t g0, uint64_t m, uint64_t pc,
             struct regs *from)
{
    uint32_t known = atomic_load_explicit(&curg_offset, memory_order_relaxed);
    uint32_t first = known != 0 ? known : M_FIRST;
    uint32_t last = known != 0 ? known : M_LAST;
    for (uint32_t at = first; at <= last; at += 8) {
        uint64_t g, target;
        if (!read_field(view, m, at, &g))
            return false;
        if (g == g0 || !read_goroutine(view, g, m, from) ||
            !is_call(view, from->pc, &target) ||
            pc - target + CODE_AFTER >= CODE_BEFORE + CODE_AFTER)
            continue;
        atomic_store_explicit(&curg_offset, at, memory_order_relaxed);
        return true;
    }
    return false;
}

/* Whether a direct call ends at PC. Such roots are few, and reading a code page
 * is a system call: pcs without such a call are remembered. */
static bool
is_after_call(struct view *view, uint64_t pc)
{
    static _Atomic uint64_t others[OTHERS];
    _Atomic uint64_t *other = &others[pc / 4 % OTHERS];
    uint64_t word, target;
    if (atomic_load_explicit(other, memory_order_relaxed) == pc ||
        !view_read(view, pc - ARCH_CALL_BYTES, &word))
        return false;
    if (arch_call_target(word, pc, &target))
        return true;
    atomic_store_explicit(other, pc, memory_order_relaxed);
    return false;
}

/* Whether the goroutine of the scheduler GO, whose stack begins AT, was
 * found. */
static bool
find(struct view *view, uint64_t go, const struct regs *at, struct regs *from,
     struct regs *caller)
{
    uint64_t top, m;
    return is_after_call(view, at->pc) &&
           read_field(view, go, G_SCHED_SP, &top) && top - at->sp <= TOP_MOST &&
           read_field(view, go, G_M, &m) &&
           read_current(view, go, m, at->pc, from) && leave(view, from, caller);
}

/* Whether the scheduler GO runs no goroutine: it was asked to look for the next
 * one, and the stack is complete. */
static bool
is_idle(struct view *view, uint64_t go)
{
    uint32_t at = atomic_load_explicit(&curg_offset, memory_order_relaxed);
    uint64_t m, g;
    return read_field(view, go, G_M, &m) && read_field(view, m, at, &g) &&
           g == 0;
}

HOT enum morestack
morestack_find(struct view *view, uint64_t go, const struct regs *at,
               struct regs *from, struct regs *caller)
{
    if (find(view, go, at, from, caller)) {
        atomic_store_explicit(&found_at, at->pc, memory_order_relaxed);
        return MORESTACK_FOUND;
    }
    return atomic_load_explicit(&found_at, memory_order_relaxed) == at->pc &&
                   !is_idle(view, go)
               ? MORESTACK_LOST
               : MORESTACK_NO;
}
