/* SPDX-License-Identifier: MIT */
/*
 * in_memory.c -- computes in a program and in a library that have no place in
 * any directory: both are memory files (memfd_create(2)). The program executes
 * a copy of itself, and loads a copy of the library.
 *
 * Arguments: milliseconds of CPU time; path of plugin.so.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t sink;

FRAME static void
compute(uint64_t (*function)(uint64_t), unsigned ms)
{
    clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);

    while (clock() < end)
        sink += function(500000);
}

/* A descriptor of a memory file with what is in the file at PATH. */
static int
copy_to_memory(const char *path, unsigned flags)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    int to = memfd_create("copy", flags);

    while (sendfile(to, from, NULL, 1 << 20) > 0)
        ;
    if (from < 0 || to < 0 || lseek(to, 0, SEEK_CUR) <= 0)
        work_fail(path);
    close(from);
    return to;
}

int
main(int argc, char **argv)
{
    uint64_t (*function)(uint64_t);
    char path[64], *copy[] = {argv[0], argv[1], argv[2], "copy", NULL};
    void *library;

    if (argc == 3)
        fexecve(copy_to_memory("/proc/self/exe", MFD_CLOEXEC), copy, environ);
    if (argc != 4 || strcmp(argv[3], "copy") != 0)
        work_fail("expected MS LIBRARY, and that fexecve works");
    snprintf(path, sizeof path, "/proc/self/fd/%d",
             copy_to_memory(argv[2], MFD_CLOEXEC));
    library = dlopen(path, RTLD_NOW);
    if (library == NULL)
        work_fail(dlerror());
    *(void **)&function = dlsym(library, "plugin_compute");
    work_expect("main;compute;plugin_compute");
    compute(function, work_argument(argc, argv, 1, 500));
    puts("ok");
    return 0;
}
