/* SPDX-License-Identifier: MIT */
/*
 * symbols.c -- the symbolizer as a program, for names.py: addresses of FILE on
 * standard input, one hexadecimal number a line; on standard output for each
 * one a line with the address, two lines for every function, innermost first
 * (its name; file:line), and an empty line. As llvm-symbolizer prints it.
 *
 *   symbols [-C] FILE [BUILD-ID] <ADDRESSES
 *
 * -C: names as in the source, else as in the file. With the file's BUILD-ID, in
 * hexadecimal digits, the answers are kept in SPROF_CACHE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbolizer.h"

static void
print(uint64_t address, const struct symbol *symbol, bool demangled)
{
    printf("0x%llx\n", (unsigned long long)address);
    for (unsigned i = 0; i < symbol->count; i++) {
        const struct symbol_frame *frame = &symbol->frames[i];
        const char *name = demangled ? frame->function : frame->linkage;
        fputs(symbol->named || i + 1 < symbol->count ? name : "??", stdout);
        putchar('\n');
        fputs(frame->file[0] ? frame->file : "??", stdout);
        printf(":%u\n", frame->line);
    }
    putchar('\n');
}

/* Read the hexadecimal digits of TEXT into BYTES. Returns how many bytes. */
static size_t
read_build_id(const char *text, uint8_t bytes[64])
{
    size_t count = 0;
    while (count < 64 && sscanf(text + 2 * count, "%2hhx", &bytes[count]) == 1)
        count++;
    return count;
}

int
main(int argc, char **argv)
{
    struct symbolizer_options options = {.inlines = true};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    bool demangled = argc >= 3 && strcmp(argv[1], "-C") == 0;
    char **words = argv + 1 + demangled;
    char line[64];
    uint8_t build_id[64];

    if (words[0] == NULL || !symbolizer) {
        fprintf(stderr, "usage: symbols [-C] FILE [BUILD-ID] <ADDRESSES\n");
        return (2);
    }
    symbolizer_add(symbolizer, 1, words[0], build_id,
                   words[1] != NULL ? read_build_id(words[1], build_id) : 0);
    while (fgets(line, sizeof(line), stdin)) {
        uint64_t address = strtoull(line, NULL, 16);
        print(address, symbolizer_find(symbolizer, 1, address), demangled);
    }
    symbolizer_free(symbolizer);
    return (0);
}
