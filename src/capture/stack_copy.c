/* SPDX-License-Identifier: MIT */
/*
 * stack_copy.c -- copies the rest of a stack; see stack_copy.h. The kernel
 * copies, because a page of the stack may be inaccessible. Only pages that are
 * in memory are copied: this very thread may have to supply any other page
 * (userfaultfd(2)).
 */
#include <string.h>

#include "base/sys.h"
#include "shared.h"
#include "stack_copy.h"
#include "base/poison.h"

static bool
is_own(const struct slot *slot, uint64_t address)
{
    return address >= slot->low && address < slot->high;
}

/* Where the stack ends that goes on at START. Returns FAR if that is not known,
 * or not before FAR. The thread's own stack ends below its control block
 * (glibc). */
static uint64_t
find_end(const struct slot *slot, uint64_t start, uint64_t far)
{
    const struct shared_thread *thread = shared_thread_at(slot->thread);
    uint64_t end = slot->thread_pointer;
    if (thread != NULL && is_own(slot, start)) {
        uint64_t root =
            atomic_load_explicit(&thread->root, memory_order_relaxed);
        end = root > start && root < slot->high ? root : slot->high;
    }
    return end > start && end < far ? end : far;
}

/* Byte that stands for a page that is not in memory. A return address of such
 * bytes is neither code nor a root. */
#define HOLE 0xfe
#define PAGE 4096u

/* Copy START to END of the thread's own stack, all of which is mapped. A large
 * frame may have pages in the middle that were never touched. */
static bool
copy_own(struct slot *slot, uint64_t start, uint64_t end)
{
    for (uint64_t at = start; at < end;) {
        uint8_t *to = slot->stack + (at - start);
        uint64_t present = sys_present(at, end - at);
        if (present != 0 && sys_read_memory(to, at, present) != (long)present)
            return false;
        at += present;
        uint64_t hole = PAGE - (at & (PAGE - 1));
        if (at >= end)
            break;
        hole = hole < end - at ? hole : end - at;
        memset(slot->stack + (at - start), HOLE, hole);
        at += hole;
    }
    slot->copy_start = start;
    slot->copied = (uint32_t)(end - start);
    return true;
}

bool
stack_copy(struct slot *slot, uint8_t *to, uint32_t most)
{
    /* A register that was just restored is found below the stack pointer, in
     * the red zone, which a signal leaves alone (psABI, section 3.2.2). */
    uint64_t start = (slot->walk.regs.sp - ARCH_RED_ZONE) & ~7ull;
    uint64_t far = start + most;
    uint64_t end = find_end(slot, start, far);
    slot->stack = to;
    if (is_own(slot, start))
        return end != far && copy_own(slot, start, end);
    uint64_t present = sys_present(start, end - start);
    long got = sys_read_memory(to, start, present);
    slot->copy_start = start;
    slot->copied = got > 0 ? (uint32_t)got : 0;
    /* A stack that is not the thread's own ends where nothing can be read. */
    bool is_whole = slot->copied == end - start
                        ? end != far
                        : got > 0 && (slot->copied < present ||
                                      !sys_is_mapped(start + slot->copied));
    slot->copied = is_whole ? slot->copied : 0;
    return is_whole;
}
