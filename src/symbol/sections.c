/* SPDX-License-Identifier: MIT */
/*
 * sections.c -- see sections.h. Report side. libdw has inflated and relocated
 * them when it opened the file: this is after that.
 *
 * Sections that were neither are pages of the file itself, mapped by libelf.
 * Such pages can be dropped, those that libelf or this folder has allocated
 * must not be: the kernel is asked which they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sections.h"

/* Smaller ones stay in memory. */
#define LARGE (16 << 20)
#define PAGE ((uintptr_t)4096)

/* Where the section called NAME belongs; NULL: nowhere. */
static struct bytes *
place_of(struct sections *sections, const char *name)
{
    if (strncmp(name, ".debug_", 7) == 0)
        name += 7;
    else if (strncmp(name, ".zdebug_", 8) == 0)
        name += 8;
    else
        return (NULL);
    if (strcmp(name, "info") == 0)
        return (&sections->info);
    if (strcmp(name, "line") == 0)
        return (&sections->line);
    if (strcmp(name, "line_str") == 0)
        return (&sections->line_str);
    if (strcmp(name, "str") == 0)
        return (&sections->str);
    if (strcmp(name, "ranges") == 0)
        return (&sections->ranges);
    return (strcmp(name, "rnglists") == 0 ? &sections->rnglists : NULL);
}

/* Whether SECTION lies in one mapping of a file that nobody writes to: of a
 * relocatable one libdwfl has changed its own copy. */
static bool
is_mapped(const struct bytes *section)
{
    uint64_t start = (uintptr_t)section->at, end = (uintptr_t)section->end;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = false;
    char *line = NULL;
    size_t size = 0;

    while (maps && !found && getline(&line, &size, maps) > 0) {
        uint64_t low, high, inode;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64, &low,
                   &high, &inode) == 3)
            found = inode != 0 && low <= start && end <= high;
    }
    free(line);
    if (maps)
        fclose(maps);
    return (found);
}

static void
find_large(struct sections *sections, Elf *elf)
{
    const struct bytes *candidates[SECTIONS_LARGE] = {&sections->info,
                                                      &sections->line,
                                                      &sections->ranges,
                                                      &sections->rnglists};
    GElf_Ehdr header;

    if (!gelf_getehdr(elf, &header) || header.e_type == ET_REL)
        return;
    for (size_t i = 0; i < SECTIONS_LARGE; i++) {
        const struct bytes *section = candidates[i];
        if (section->at && section->end - section->at >= LARGE &&
            is_mapped(section))
            sections->large[sections->large_count++] = *section;
    }
}

Elf_Scn *
sections_next(Elf *elf, Elf_Scn *section, GElf_Shdr *header, const char **name)
{
    size_t strings;

    if (!elf || elf_getshdrstrndx(elf, &strings))
        return (NULL);
    while ((section = elf_nextscn(elf, section))) {
        *name = gelf_getshdr(section, header)
                    ? elf_strptr(elf, strings, header->sh_name)
                    : NULL;
        if (*name)
            break;
    }
    return (section);
}

struct bytes
sections_find(Elf *elf, const char *name)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *found;

    while ((section = sections_next(elf, section, &header, &found))) {
        Elf_Data *data;
        const uint8_t *start;
        if (strcmp(found, name) != 0 || header.sh_flags & SHF_COMPRESSED)
            continue;
        data = elf_getdata(section, NULL);
        start = data ? data->d_buf : NULL;
        return ((struct bytes){start, start ? start + data->d_size : NULL});
    }
    return ((struct bytes){0});
}

void
sections_read(struct sections *sections, Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *name;

    *sections = (struct sections){0};
    while ((section = sections_next(elf, section, &header, &name))) {
        struct bytes *place = place_of(sections, name);
        Elf_Data *data = place ? elf_getdata(section, NULL) : NULL;
        if (data && data->d_buf && !place->at) {
            place->at = data->d_buf;
            place->end = place->at + data->d_size;
        }
    }
    find_large(sections, elf);
}

void
sections_rest(const struct sections *sections)
{
    for (size_t i = 0; i < sections->large_count; i++) {
        /* The pages that lie in the section alone. */
        const struct bytes *section = &sections->large[i];
        uintptr_t start = ((uintptr_t)section->at + PAGE - 1) & -PAGE;
        uintptr_t end = (uintptr_t)section->end & -PAGE;
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
}
