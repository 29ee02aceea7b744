/* SPDX-License-Identifier: MIT */
/*
 * words.c -- see words.h. The control block of a thread of libc has its own
 * address as its first word and as its third (glibc, tcbhead_t: tcb and self).
 *
 * The hard thing is a thread pointer that leads nowhere. When a pointer is seen
 * for the first time, the kernel looks at its block, because that cannot fault.
 * Pointers that were seen are remembered.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "base/sys.h"
#include "arch.h"
#include "base/hot.h"
#include "base/words.h"
#include "base/poison.h"

/* arch_prctl(2); <asm/prctl.h> is not always there. */
#define GET_FS 0x1003

/* The bit of AT_HWCAP2 for an instruction that reads the thread pointer, which
 * is the base of fs. The processor may lack it, or the kernel not allow it
 * (Linux 5.9, asm/hwcap2.h). */
#define HWCAP2_FSGSBASE 2u

/* How the thread pointer is read. */
static HOT_STATE _Atomic(enum {BY_BELIEF, BY_INSTRUCTION, BY_KERNEL}) way;

static _Atomic bool is_silent; /* the kernel is not asked any more */

/* Thread pointers that were seen to be good, by their hash. Blocks of threads
 * lie 64 bytes apart at least (glibc, TCB_ALIGNMENT). */
#define SEEN 1024u
static _Atomic uint64_t seen[SEEN];

static _Atomic uint64_t *
seen_place(uint64_t pointer)
{
    return &seen[pointer * 0x9e3779b97f4a7c15u >> 54];
}

/* Without the instruction only the kernel knows. Valgrind does not know the
 * instruction, but a thread under it always has words: its clone(2) takes no
 * others. */
void
words_begin(void)
{
    bool has_instruction = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0;
    atomic_store(&way, arch_is_simulated() ? BY_BELIEF
                       : has_instruction   ? BY_INSTRUCTION
                                           : BY_KERNEL);
}

void
words_ask_no_more(void)
{
    atomic_store(&is_silent, true);
    if (atomic_load(&way) == BY_KERNEL)
        atomic_store(&way, BY_BELIEF);
}

/* Whether POINTER leads to words of a control block of libc. */
static bool
has_block_at(uint64_t pointer)
{
    const volatile uint64_t *block = (const uint64_t *)pointer;
    return block[0] == pointer && block[2] == pointer;
}

/* The same, of a POINTER that may be any number. A copy by the kernel waits for
 * the lock of the process's memory map; the first two calls do not. */
static bool
has_block(uint64_t pointer)
{
    uint64_t block[3];
    if (pointer % sizeof(uint64_t) == 0 && sys_can_load(pointer) &&
        sys_can_load(pointer + 2 * sizeof(uint64_t)))
        return has_block_at(pointer);
    return sys_copy_memory(block, pointer, sizeof(block)) &&
           block[0] == pointer && block[2] == pointer;
}

/* Whether a control block of libc lies at POINTER, which may be any number. */
static bool
is_block(uint64_t pointer)
{
    _Atomic uint64_t *place = seen_place(pointer);
    if (atomic_load_explicit(place, memory_order_relaxed) == pointer ||
        atomic_load_explicit(&is_silent, memory_order_relaxed))
        return has_block_at(pointer);
    bool is = has_block(pointer);
    if (is)
        atomic_store_explicit(place, pointer, memory_order_relaxed);
    return is;
}

HOT bool
words_are_there(void)
{
    uint64_t pointer = 0;
    switch (atomic_load_explicit(&way, memory_order_relaxed)) {
    case BY_INSTRUCTION:
        __asm__ volatile("rdfsbase %0" : "=r"(pointer));
        break;
    case BY_KERNEL:
        if (sys_call(SYS_arch_prctl, GET_FS, &pointer) != 0)
            return true;
        break;
    default:
        return true;
    }
    return pointer != 0 && is_block(pointer);
}

bool
words_are_told(void)
{
    return atomic_load_explicit(&way, memory_order_relaxed) != BY_KERNEL &&
           words_are_there();
}
