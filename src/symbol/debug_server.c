/* SPDX-License-Identifier: MIT */
/*
 * debug_server.c -- see debug_server.h. The client in libdebuginfod reads its
 * settings from the environment at each question; an empty list of servers
 * makes it ask nobody. It is emptied in place, which, other than unsetenv,
 * disturbs nobody who reads the environment at the same time.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "debug_server.h"

#define NS_PER_SECOND 1000000000u

/* Nanoseconds: all that servers may take, 0 if that is not limited, and what
 * they have taken. */
static _Atomic uint64_t limit, taken;

static uint64_t
now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return ((uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec);
}

static char *
servers(void)
{
    char *urls = getenv("DEBUGINFOD_URLS");

    return (urls && *urls ? urls : NULL);
}

/* The client counts whole seconds and looks once a second, so one question may
 * take two seconds more than it is told. */
void
debug_server_limit(unsigned seconds)
{
    char one[16];

    limit = (uint64_t)seconds * NS_PER_SECOND;
    taken = 0;
    if (seconds == 0 || !servers())
        return;
    snprintf(one, sizeof(one), "%u", seconds > 2 ? seconds - 1 : seconds);
    setenv("DEBUGINFOD_TIMEOUT", one, 0);
    setenv("DEBUGINFOD_MAXTIME", one, 0);
}

int
debug_server_find(Dwfl_Module *module, void **data, const char *name,
                  Dwarf_Addr base, const char *file, const char *link,
                  GElf_Word check, char **found)
{
    char *urls = servers();
    uint64_t start;
    int fd;

    if (urls && limit > 0 && taken >= limit) {
        *urls = '\0';
        urls = NULL;
    }
    start = urls ? now() : 0;
    fd = dwfl_standard_find_debuginfo(module, data, name, base, file, link,
                                      check, found);
    if (urls)
        taken += now() - start;
    return (fd);
}
