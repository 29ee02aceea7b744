/* SPDX-License-Identifier: MIT */
/*
 * late_library.c -- code that has no file is sampled, and then a library lies
 * at the same addresses, with the same callers: what was known of the frames is
 * no longer true. A loader of the program's own does that.
 *
 * Arguments: milliseconds of CPU time for each of the two, 500; and the
 * library, plugin_framed.so, which lies beside the program.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define ROOM (1ul << 20)

typedef uint64_t computing(uint64_t rounds);

static char path[4200];
static char *room; /* where the code is to lie */

/* Where plugin_compute lies, from the library's beginning. */
static uint64_t
find_offset(void)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *compute = plugin != NULL ? dlsym(plugin, "plugin_compute") : NULL;
    Dl_info info;
    uint64_t offset;

    if (compute == NULL || dladdr(compute, &info) == 0)
        work_fail("plugin_compute");
    offset = (uint64_t)compute - (uint64_t)info.dli_fbase;
    dlclose(plugin);
    return offset;
}

/* Map the library's segments, or copy them. */
static void
lay_out(bool is_copy)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    Elf64_Phdr segments[16];
    Elf64_Ehdr header;

    if (mmap(room, ROOM, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
        pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        header.e_phnum > 16 ||
        pread(fd, segments, sizeof segments, (off_t)header.e_phoff) <= 0)
        work_fail(path);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        const Elf64_Phdr *segment = &segments[i];
        uint64_t skew = segment->p_vaddr % page;
        char *to = room + segment->p_vaddr - skew;
        size_t size = segment->p_filesz + skew;
        off_t from = (off_t)(segment->p_offset - skew);
        int access =
            segment->p_flags & PF_X ? PROT_READ | PROT_EXEC : PROT_READ;
        if (segment->p_type != PT_LOAD)
            continue;
        if (is_copy ? pread(fd, to, size, from) != (ssize_t)size
                    : mmap(to, size, access, MAP_PRIVATE | MAP_FIXED, fd,
                           from) == MAP_FAILED)
            work_fail("lay_out");
        /* An instruction cache may not see what is written. */
        if (is_copy)
            __builtin___clear_cache(to, to + size);
    }
    if (is_copy && mprotect(room, ROOM, PROT_READ | PROT_EXEC) != 0)
        work_fail("mprotect");
    close(fd);
}

FRAME static uint64_t
compute_for(computing *compute, unsigned ms)
{
    const clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);
    uint64_t value = 0;

    while (clock() < end)
        value += compute(100000);
    return value;
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 500);
    computing *compute;
    uint64_t value = 0;

    work_beside(argc > 2 ? argv[2] : "plugin_framed.so", path, sizeof path);
    room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        work_fail("mmap");
    *(void **)&compute = room + find_offset();
    /* From the same places both times: no loop is unrolled over a volatile. */
    for (volatile unsigned i = 0; i < 2; i++) {
        lay_out(i == 0);
        value += compute_for(compute, ms);
    }
    puts(value != 0 ? "ok" : "nothing");
    return 0;
}
