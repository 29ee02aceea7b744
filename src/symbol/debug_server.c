/* SPDX-License-Identifier: MIT */
/*
 * debug_server.c -- see debug_server.h. The client in libdebuginfod reads its
 * settings from the environment at each question. An empty list of servers
 * makes it ask none. The list is emptied in place: unlike unsetenv, this does
 * not disturb threads that read the environment at the same time.
 */
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elf_view.h"
#include "debug_server.h"

#define NS_PER_SECOND 1000000000u

/* Nanoseconds that all servers together may take (0: not limited), and that
 * they have taken. */
static _Atomic uint64_t limit, taken;

static uint64_t
now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static char *
servers(void)
{
    char *urls = getenv("DEBUGINFOD_URLS");
    return urls != NULL && *urls != '\0' ? urls : NULL;
}

bool
debug_server_is_there(void)
{
    return servers() != NULL;
}

/* The client counts whole seconds and checks the time once a second. So one
 * question may take two seconds more than its limit. */
void
debug_server_limit(unsigned seconds)
{
    limit = (uint64_t)seconds * NS_PER_SECOND;
    taken = 0;
    if (seconds == 0 || servers() == NULL)
        return;
    char one[16];
    snprintf(one, sizeof(one), "%u", seconds > 2 ? seconds - 1 : seconds);
    setenv("DEBUGINFOD_TIMEOUT", one, 0);
    setenv("DEBUGINFOD_MAXTIME", one, 0);
}

bool
debug_server_is_near(const char *file, const char *name, const char *ending)
{
    const char *slash = strrchr(file, '/');
    int length = slash != NULL ? (int)(slash - file) : 0;
    char path[PATH_MAX];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%.*s/%s%s%s", length, file,
                 i == 0 ? "" : ".debug/", name, ending);
        if (strcmp(path, file) != 0 && access(path, F_OK) == 0)
            return true;
    }
    for (const char *at = file; at != NULL && at <= slash;
         at = strchr(at + 1, '/')) {
        char text[PATH_MAX];
        snprintf(path, sizeof(path), "/usr/lib/debug%.*s/%s%s",
                 (int)(slash - at), at, name, ending);
        if (access(elf_view_place(path, text), F_OK) == 0)
            return true;
    }
    return false;
}

/* Find a debug file on this machine. libdwfl is asked only if needed: it loads
 * the client and its forty libraries, which takes 15 ms, even without
 * servers. */
static int
find_here(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
          const char *file, const char *link, GElf_Word check, char **found)
{
    int fd = dwfl_build_id_find_debuginfo(module, data, name, base, file, link,
                                          check, found);
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;
    if (fd >= 0 || slash == NULL ||
        !debug_server_is_near(file, link != NULL ? link : slash + 1,
                              link != NULL ? "" : ".debug"))
        return fd;
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link,
                                        check, found);
}

int
debug_server_find(Dwfl_Module *module, void **data, const char *name,
                  Dwarf_Addr base, const char *file, const char *link,
                  GElf_Word check, char **found)
{
    char *urls = servers();
    if (urls != NULL && limit > 0 && taken >= limit) {
        *urls = '\0';
        urls = NULL;
    }
    if (urls == NULL)
        return find_here(module, data, name, base, file, link, check, found);
    uint64_t start = now();
    int fd = dwfl_standard_find_debuginfo(module, data, name, base, file, link,
                                          check, found);
    taken += now() - start;
    return fd;
}
