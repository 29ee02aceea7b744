/* SPDX-License-Identifier: MIT */
/*
 * chosen_library.c -- computes in a library that is loaded from a path. The
 * test may delete or replace the two files meanwhile.
 *
 * Arguments: milliseconds of CPU time; path of a copy of plugin.so; a file that
 * is made when both are loaded; "wait": until that file is gone again, in the
 * middle of the time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
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

int
main(int argc, char **argv)
{
    uint64_t (*function)(uint64_t);
    void *library = argc > 3 ? dlopen(argv[2], RTLD_NOW) : NULL;
    unsigned ms = work_argument(argc, argv, 1, 500) / 2;

    if (library == NULL)
        work_fail("expected MS LIBRARY FILE");
    *(void **)&function = dlsym(library, "plugin_compute");
    if (function == NULL)
        work_fail(dlerror());
    close(open(argv[3], O_CREAT | O_WRONLY, 0600));
    work_expect("main;compute;plugin_compute");
    compute(function, ms);
    while (argc > 4 && access(argv[3], F_OK) == 0)
        work_sleep(10);
    compute(function, ms);
    puts("ok");
    return 0;
}
