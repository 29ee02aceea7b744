/* SPDX-License-Identifier: MIT */
/*
 * fuzz_proc.c -- any bytes as files of /proc: maps, a thread's syscall, stat,
 * schedstat and comm, and the links of its descriptors. The kernel writes them,
 * but names in them are the program's, and other kernels write other things.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process/look.h"
#include "process/maps.h"
#include "process/threads.h"

#include "fuzz.h"
#include "memory.h"

#define FILE_NUMBER 1000

static const uint8_t *bytes;
static size_t filled, taken;
static volatile uint64_t sink;

/* In the place of the real files: each of them holds the input. */
long __wrap_sys_open(const char *path, int flags);
long __wrap_sys_read(int fd, void *buffer, size_t size);
void __wrap_sys_close(int fd);
long __wrap_sys_read_file_at(int directory, const char *path, char *buffer,
                             size_t size);
long __wrap_sys_read_link_at(int directory, const char *path, char *buffer,
                             size_t size);

long
__wrap_sys_open(const char *path, int flags)
{
    (void)path;
    (void)flags;
    taken = 0;
    return FILE_NUMBER;
}

/* In pieces of changing sizes, as the kernel does it with maps. */
long
__wrap_sys_read(int fd, void *buffer, size_t size)
{
    size_t part = filled - taken, most = 1 + taken % 4096;

    if (fd != FILE_NUMBER)
        abort();
    if (part > size)
        part = size;
    if (part > most)
        part = most;
    if (part > 0)
        memcpy(buffer, bytes + taken, part);
    taken += part;
    return (long)part;
}

void
__wrap_sys_close(int fd)
{
    if (fd != FILE_NUMBER)
        abort();
}

long
__wrap_sys_read_file_at(int directory, const char *path, char *buffer,
                        size_t size)
{
    size_t length = filled < size - 1 ? filled : size - 1;

    (void)directory;
    (void)path;
    if (length > 0)
        memcpy(buffer, bytes, length);
    buffer[length] = '\0';
    return (long)length;
}

long
__wrap_sys_read_link_at(int directory, const char *path, char *buffer,
                        size_t size)
{
    return __wrap_sys_read_file_at(directory, path, buffer, size);
}

static void
read_maps(void)
{
    struct maps *maps = malloc(sizeof(*maps));
    struct mapping mapping;

    if (maps == NULL || maps_begin(maps) != 0)
        abort();
    while (maps_next(maps, &mapping))
        sink += strlen(mapping.path) + mapping.start;
    maps_end(maps);
    free(maps);
}

static const char *
owner_name(pid_t tid)
{
    return tid % 2 == 0 ? "owner" : NULL;
}

static void
look(void)
{
    struct look look;
    char words[300];

    look_at(1, &look);
    sink += look_words(1, &look, owner_name, words, sizeof(words));
    sink += strlen(words) + look_line(1).ns;
}

static void
read_name(void)
{
    static bool has_begun;

    if (!has_begun && threads_begin(1, 2, NULL, false) != 0)
        abort();
    has_begun = true;
    threads_at(0)->name[0] = '\0';
    threads_read_name(0);
    sink += strlen(threads_at(0)->name);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes = data;
    filled = size;
    memory_set(data, size);
    read_maps();
    look();
    read_name();
    return 0;
}
