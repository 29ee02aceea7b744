/* SPDX-License-Identifier: MIT */
/* state.c -- see state.h. The linker defines where a section begins and ends. A
 * program without a variable of that kind has no such section. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "state.h"
#include "poison.h"

#define BOUND extern char __attribute__((weak, visibility("hidden")))

BOUND __start_state_of_profile[], __stop_state_of_profile[];
BOUND __start_state_of_process[], __stop_state_of_process[];

/* Word by word, because another thread may read a variable meanwhile. */
static void
clear(char *from, const char *to)
{
    for (; to - from >= (ptrdiff_t)sizeof(uint64_t); from += sizeof(uint64_t))
        atomic_store_explicit((_Atomic uint64_t *)(void *)from, 0,
                              memory_order_relaxed);
    for (; from < to; from++)
        *from = 0;
}

void
state_renew_profile(void)
{
    clear(__start_state_of_profile, __stop_state_of_profile);
}

void
state_renew_process(void)
{
    clear(__start_state_of_process, __stop_state_of_process);
}
