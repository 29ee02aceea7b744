/* SPDX-License-Identifier: MIT */
/* registry.c -- see registry.h. The table has one byte for each possible tid.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "capture/shared.h"
#include "process/threads.h"
#include "registry.h"

static _Atomic uint8_t *registered;

/* The calling thread may have been registered before there was a table. */
int
registry_begin(void)
{
    registered = sys_renew((void *)registered, THREADS_TIDS);
    if (registered == NULL)
        return -1;
    if (shared_is_registered)
        registry_add_caller();
    return 0;
}

void
registry_add_caller(void)
{
    pid_t tid = sys_gettid();
    shared_is_registered = true;
    if (registered == NULL || (uint32_t)tid >= THREADS_TIDS)
        return;
    atomic_store(&registered[tid], 1);
    threads_touch();
}

bool
registry_has(pid_t tid)
{
    return (uint32_t)tid < THREADS_TIDS && atomic_load(&registered[tid]) != 0;
}

void
registry_remove(pid_t tid)
{
    if ((uint32_t)tid < THREADS_TIDS)
        atomic_store(&registered[tid], 0);
}
