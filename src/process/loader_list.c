/* SPDX-License-Identifier: MIT */
/*
 * loader_list.c -- see loader_list.h. The list is read without the loader's
 * lock. A module that is unloaded may be freed meanwhile, so all is read by
 * system calls, and bounded. A list that cannot be read has not grown.
 */
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "loader_list.h"
#include "base/poison.h"

/* Limit of the modules that are passed to find the last one. */
#define MODULES_MOST 4096u

/* The loader's own variable, which has no header of its own; NULL with a
 * loader that has none. */
extern struct r_debug _r_debug __attribute__((weak));

static uint64_t last; /* the last module that was noted; 0: none */

/* The module that follows MODULE in the list. Returns false if that cannot be
 * read. */
static bool
read_next(uint64_t module, uint64_t *next)
{
    return sys_copy_memory(next, module + offsetof(struct link_map, l_next),
                           sizeof(*next));
}

void
loader_list_note(void)
{
    uint64_t next = 0;
    last = 0;
    if (&_r_debug != NULL)
        next = (uint64_t)_r_debug.r_map;
    for (uint32_t i = 0; next != 0 && i < MODULES_MOST; i++) {
        last = next;
        if (!read_next(last, &next))
            next = 0;
    }
}

bool
loader_list_has_grown(void)
{
    uint64_t next;
    return last != 0 && read_next(last, &next) && next != 0;
}
