/* SPDX-License-Identifier: MIT */
/*
 * no_size.c -- assembly as libraries of codecs have it, for each machine in its
 * folder: one symbol without type and size, and after it a stretch of several
 * functions whose symbols are gone. `no_size [MS]` computes for MS milliseconds
 * of CPU time in each function, in turns, and prints for each
 *
 *     function NUMBER ADDRESS SECONDS
 *
 * with its address in the file's own numbering, and its CPU time. Only function
 * 0 has a name, simd_first.
 */
#include <link.h>
#include <stdio.h>

#include "work.h"

#define FUNCTIONS 5u

/* Of the assembly: each counts ROUNDS down. */
extern void (*const simd_functions[FUNCTIONS])(uint64_t rounds);

static int
find_base(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1; /* the program is the first one */
}

/* Returns the CPU time in ns. */
FRAME static uint64_t
run(unsigned number, unsigned ms)
{
    uint64_t begin = work_cpu_ns();
    while (work_cpu_ns() - begin < ms * 1000000ull)
        simd_functions[number](1000000);
    return work_cpu_ns() - begin;
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 300);
    uint64_t spent[FUNCTIONS] = {0};
    uintptr_t base = 0;
    (void)dl_iterate_phdr(find_base, &base);
    for (unsigned i = 0; i < 4 * FUNCTIONS; i++)
        spent[i % FUNCTIONS] += run(i % FUNCTIONS, ms / 4);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        printf("function %u %#lx %.3f\n", i,
               (unsigned long)((uintptr_t)simd_functions[i] - base),
               (double)spent[i] / 1e9);
    puts("ok");
    return 0;
}
