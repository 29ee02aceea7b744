/* SPDX-License-Identifier: MIT */
/*
 * words.c -- see words.h. The thread pointer leads to a block whose first word
 * leads to the table of thread-local variables (AAELF64, variant I; glibc,
 * tcbhead_t). The table begins with two small numbers: its size, in front, and
 * its generation.
 *
 * The hard thing is a thread pointer that leads nowhere. When a pointer is seen
 * for the first time, system calls read its block, because they cannot fault.
 * Pointers that were seen are remembered.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "arch.h"
#include "base/hot.h"
#include "base/words.h"
#include "base/poison.h"

/* Limit of the size and of the generation. */
#define SMALL (1u << 24)

static _Atomic bool is_silent; /* the kernel is not asked any more */

/* Thread pointers that were seen to be good, by their hash, and the tables to
 * which they led. */
#define SEEN 1024u
static _Atomic uint64_t seen[SEEN];

static _Atomic uint64_t *
seen_place(uint64_t pointer)
{
    return &seen[pointer * 0x9e3779b97f4a7c15u >> 54];
}

void
words_begin(void)
{
}

void
words_ask_no_more(void)
{
    atomic_store(&is_silent, true);
}

/* Read the WORD of 8 bytes at ADDRESS, which may be any number. A copy by the
 * kernel waits for the lock of the process's memory map; the first way does
 * not. */
static bool
read_word(uint64_t *word, uint64_t address)
{
    if (address % sizeof(*word) != 0)
        return false;
    if (!sys_can_load(address))
        return sys_copy_memory(word, address, sizeof(*word));
    *word = *(const volatile uint64_t *)address;
    return true;
}

/* Whether a table of thread-local variables lies at ADDRESS. */
static bool
is_table(uint64_t address)
{
    uint64_t size, generation;
    return read_word(&size, address - 16) && size < SMALL &&
           read_word(&generation, address) && generation < SMALL;
}

/* Whether a block of libc lies at POINTER, which may be any number. */
static bool
is_block(uint64_t pointer)
{
    uint64_t table;
    _Atomic uint64_t *place = seen_place(pointer);
    if (atomic_load_explicit(place, memory_order_relaxed) == pointer ||
        atomic_load_explicit(&is_silent, memory_order_relaxed))
        return *(const volatile uint64_t *)pointer != 0;
    bool is = read_word(&table, pointer) && is_table(table);
    if (is)
        atomic_store_explicit(place, pointer, memory_order_relaxed);
    return is;
}

HOT bool
words_are_there(void)
{
    uint64_t pointer = arch_thread_pointer();
    return pointer != 0 && is_block(pointer);
}

bool
words_are_told(void)
{
    return words_are_there();
}
