/* SPDX-License-Identifier: MIT */
/*
 * generated_code.c -- a piece of machine code made at run time, without any
 * unwind table, but with a frame pointer, as JIT compilers make it. It calls
 * back into C. The walk must find its way by the chain of frame pointers, in
 * and out. Samples land in the generated code itself, too.
 *
 * Arguments: milliseconds of CPU time, 1000; and what names the code:
 *   none    nothing, or
 *   map     a perf map, written as code is made, like Node's, with the name
 *           of what lay at the same address before
 *   late    a perf map, written in an exit handler, like Java's
 *   memfd   the same, and the code lies in a memfd, like .NET's
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "generated.h"
#include "work.h"

typedef void generated(void (*callback)(void));

static volatile uint64_t sink;
static unsigned slice;

FRAME static void
called_back(void)
{
    sink += work_burn(slice);
    KEEP_FRAME();
}

static generated *
generate(const char *kind)
{
    bool in_memfd = strcmp(kind, "memfd") == 0;
    int fd = in_memfd ? memfd_create("generated", MFD_CLOEXEC) : -1;

    if (in_memfd && (fd < 0 || ftruncate(fd, 4096) != 0))
        work_fail("memfd_create");
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE,
             in_memfd ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    if (page == MAP_FAILED)
        work_fail("mmap");
    code_copy(page, code_calls, sizeof code_calls);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        work_fail("mprotect");
    if (in_memfd)
        close(fd);
    return (generated *)page;
}

/* Where the code is, for the exit handler. */
static generated *made;

/* Add to the perf map that the code is called NAME. */
static void
write_map(const char *mode, const char *name)
{
    char path[64];
    FILE *map;

    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    map = fopen(path, mode);
    if (map == NULL)
        work_fail("fopen");
    fprintf(map, "%lx %zx %s\n", (unsigned long)made, sizeof code_calls, name);
    fclose(map);
}

static void
write_late(void)
{
    write_map("w", "JS:*made /app/made.js:3:7");
}

static void
name_code(const char *kind)
{
    if (strcmp(kind, "late") == 0) {
        atexit(write_late);
    } else if (strcmp(kind, "none") != 0) {
        write_map("w", "JS:*before /app/made.js:1:1");
        write_map("a", "JS:*made /app/made.js:3:7");
    }
}

FRAME static void
call_generated(generated *function)
{
    function(called_back);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[2] : "none";
    char pattern[128];

    made = generate(kind);
    name_code(kind);
    slice = work_argument(argc, argv, 1, 1000) / 100;
    snprintf(pattern, sizeof pattern,
             "main;call_generated;%s"
             "( [0-9]+$|;\\[runnable\\]|;called_back;work_burn)",
             strcmp(kind, "none") == 0 ? "[^;]*0x[0-9a-f]+" : "made");
    work_expect(pattern);
    for (unsigned i = 0; i < 100; i++)
        call_generated(made);
    puts("ok");
    return 0;
}
