/* SPDX-License-Identifier: MIT */
/* thread_word.c -- see thread_word.h: what is the same on all machines. */
#include "base/arch.h"
#include "base/sys.h"
#include "thread_word.h"
#include "base/poison.h"

/* Size of an entry in a thread's table of modules (dtv_t). Entry 0 has the
 * number of entries before it. */
#define ENTRY_SIZE 16u

/* Limits of the modules with data of threads, and of the distance of such data
 * in bytes. */
#define MODULES_MOST 4096u
#define DISTANCE_MOST (1 << 20)

int64_t
thread_word_place(const struct thread_word *word, uint64_t pointer)
{
    uint64_t pair[2], table, count, entry[2];
    if (word->index == 0)
        return word->fixed;
    /* The second word of an entry is the memory to free: 0 if the data existed
     * when the thread began. */
    if (!sys_copy_memory(pair, word->index, sizeof(pair)) || pair[0] == 0 ||
        pair[0] > MODULES_MOST ||
        !sys_copy_memory(&table, pointer + ARCH_MODULES_DATA, sizeof(table)) ||
        !sys_copy_memory(&count, table - ENTRY_SIZE, sizeof(count)) ||
        pair[0] > count ||
        !sys_copy_memory(entry, table + pair[0] * ENTRY_SIZE, sizeof(entry)) ||
        entry[1] != 0)
        return 0;
    int64_t place = (int64_t)(entry[0] + pair[1] - pointer) + word->more;
    return place < DISTANCE_MOST && place > -DISTANCE_MOST && place % 8 == 0
               ? place
               : 0;
}
