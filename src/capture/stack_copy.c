/* SPDX-License-Identifier: MIT */
/*
 * stack_copy.c -- copies what is left of a stack; see stack_copy.h. By the
 * kernel, as a page of it may be inaccessible, and only what is in memory: a
 * page that is not may be one that this very thread has to supply
 * (userfaultfd(2)).
 */
#include "base/sys.h"
#include "stack_copy.h"
#include "poison.h"

static bool
is_within(const struct view *view, uint64_t address)
{
    return address >= view->low && address < view->high;
}

/* Where the stack ends that goes on at START; FAR if that is not known, or not
 * before FAR. The thread's own ends below its control block (glibc). */
static uint64_t
find_end(const struct slot *slot, const struct view *view, uint64_t root,
         uint64_t start, uint64_t far)
{
    uint64_t end = slot->thread_pointer;
    if (is_within(view, start))
        end = root > start && root < view->high ? root : view->high;
    return end > start && end < far ? end : far;
}

bool
stack_copy(struct slot *slot, const struct view *view, uint64_t root)
{
    /* A register that was just restored is found below the stack pointer, in
     * the red zone, which a signal leaves alone (psABI, section 3.2.2). */
    uint64_t start = (slot->walk.regs.sp - SLOT_RED_ZONE) & ~7ull;
    uint64_t far = start + SLOT_COPY;
    uint64_t end = find_end(slot, view, root, start, far);
    bool is_own = is_within(view, start);
    if (is_own && end == far)
        return false;
    uint64_t present = sys_present(start, end - start);
    long got = sys_read_memory(slot->copy, start, present);
    slot->copy_start = start;
    slot->copied = got > 0 ? (uint32_t)got : 0;
    if (slot->copied == end - start)
        return end != far;
    /* Another stack ends where nothing can be read. */
    return !is_own && got > 0 &&
           (slot->copied < present || !sys_is_mapped(start + slot->copied));
}
