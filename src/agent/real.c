/* SPDX-License-Identifier: MIT */
/*
 * real.c -- finds what the hooks stand in front of, by dlsym(RTLD_NEXT). The
 * first call may come before our constructor, from another library's; dlsym
 * may allocate, so the first call is not for a handler.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#include "real.h"

#define STRING(name) #name,
static const char *const names[REAL_COUNT] = {REAL_NAMES(STRING)};

static _Atomic(void *) functions[REAL_COUNT];

/* A pointer to a function is what dlsym's result is meant to become (POSIX,
 * dlsym: application usage). */
void *
real_find(enum real_name name)
{
    void *function =
        atomic_load_explicit(&functions[name], memory_order_acquire);
    if (function == NULL) {
        function = dlsym(RTLD_NEXT, names[name]);
        atomic_store_explicit(&functions[name], function, memory_order_release);
    }
    return function;
}

void
real_begin(void)
{
    for (enum real_name name = 0; name < REAL_COUNT; name++)
        real_find(name);
}
