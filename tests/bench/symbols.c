/* SPDX-License-Identifier: MIT */
/*
 * symbols.c -- random code addresses of a file through the symbolizer: how long
 * it takes and how much memory, on stderr; each answer as one line on stdout:
 * address|linkage name|file:line, and the same again for each inlined caller.
 *
 *   symbols FILE COUNT SEED
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "symbol/symbolizer.h"

static double
now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return ((double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6);
}

/* The section .text of the file at PATH. Returns 0, or -1. */
static int
find_text(const char *path, GElf_Shdr *header)
{
    int fd = open(path, O_RDONLY);
    Elf_Scn *section = NULL;
    size_t strings;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!elf || elf_getshdrstrndx(elf, &strings))
        return (-1);
    while ((section = elf_nextscn(elf, section))) {
        const char *name = NULL;
        if (gelf_getshdr(section, header))
            name = elf_strptr(elf, strings, header->sh_name);
        if (name && strcmp(name, ".text") == 0)
            return (0);
    }
    return (-1);
}

static void
print(uint64_t address, const struct symbol *symbol)
{
    printf("0x%llx", (unsigned long long)address);
    for (unsigned i = 0; i < symbol->count; i++)
        printf("|%s|%s:%u", symbol->frames[i].linkage, symbol->frames[i].file,
               symbol->frames[i].line);
    putchar('\n');
}

int
main(int argc, char **argv)
{
    struct symbolizer_options options = {.inlines = true};
    size_t count = argc == 4 ? (size_t)atol(argv[2]) : 0, named = 0;
    uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
    struct symbolizer *symbolizer = symbolizer_new(&options);
    struct rusage usage;
    GElf_Shdr text;
    double start;

    if (count == 0 || !addresses || !symbolizer || find_text(argv[1], &text)) {
        fprintf(stderr, "usage: symbols FILE COUNT SEED\n");
        return (2);
    }
    srandom((unsigned)atoi(argv[3]));
    for (size_t i = 0; i < count; i++)
        addresses[i] = text.sh_addr + (uint64_t)random() % text.sh_size;

    symbolizer_add(symbolizer, 1, argv[1], NULL, 0);
    start = now();
    for (size_t i = 0; i < count; i++)
        named += symbolizer_find(symbolizer, 1, addresses[i])->named;
    fprintf(stderr, "%s: %zu addresses in %.0f ms, %zu named", argv[1], count,
            now() - start, named);
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, ", peak %ld MiB\n", usage.ru_maxrss / 1024);
    for (size_t i = 0; i < count; i++)
        print(addresses[i], symbolizer_find(symbolizer, 1, addresses[i]));
    symbolizer_free(symbolizer);
    free(addresses);
    return (0);
}
