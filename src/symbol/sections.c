/* SPDX-License-Identifier: MIT */
/*
 * sections.c -- see sections.h. Report side. libdw inflated and relocated the
 * sections when it opened the file, before they are found here.
 *
 * A section that was neither inflated nor relocated lies in pages of the file,
 * which libelf has mapped. Such pages can be dropped. Memory that libelf or
 * this folder has allocated must not be dropped. /proc/self/maps shows which is
 * which.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sections.h"

/* Least size in bytes of a section whose pages are dropped. */
#define LARGE (16 << 20)

/* The field for the section called NAME. NULL if it has no field. */
static struct bytes *
place_of(struct sections *sections, const char *name)
{
    const struct {
        const char *name;
        struct bytes *place;
    } places[] = {
        {"info", &sections->info},         {"line", &sections->line},
        {"line_str", &sections->line_str}, {"str", &sections->str},
        {"ranges", &sections->ranges},     {"rnglists", &sections->rnglists},
    };
    if (strncmp(name, ".debug_", 7) == 0)
        name += 7;
    else if (strncmp(name, ".zdebug_", 8) == 0)
        name += 8;
    else
        return NULL;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strcmp(name, places[i].name) == 0)
            return places[i].place;
    return NULL;
}

/* Whether SECTION lies in one mapping of a file. The caller leaves relocatable
 * files out, because libdwfl has changed its private copy of them. */
static bool
is_mapped(const struct bytes *section)
{
    uint64_t start = (uintptr_t)section->at, end = (uintptr_t)section->end;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = false;
    char *line = NULL;
    size_t size = 0;
    while (maps != NULL && !found && getline(&line, &size, maps) > 0) {
        uint64_t low, high, inode;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64, &low,
                   &high, &inode) == 3)
            found = inode != 0 && low <= start && end <= high;
    }
    free(line);
    if (maps != NULL)
        fclose(maps);
    return found;
}

static void
find_large(struct sections *sections, Elf *elf)
{
    const struct bytes *candidates[SECTIONS_LARGE] = {&sections->info,
                                                      &sections->line,
                                                      &sections->ranges,
                                                      &sections->rnglists};
    GElf_Ehdr header;
    if (gelf_getehdr(elf, &header) == NULL || header.e_type == ET_REL)
        return;
    for (size_t i = 0; i < SECTIONS_LARGE; i++) {
        const struct bytes *section = candidates[i];
        if (section->at != NULL && section->end - section->at >= LARGE &&
            is_mapped(section))
            sections->large[sections->large_count++] = *section;
    }
}

Elf_Scn *
sections_next(Elf *elf, Elf_Scn *section, GElf_Shdr *header, const char **name)
{
    size_t strings;
    if (elf == NULL || elf_getshdrstrndx(elf, &strings) != 0)
        return NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        *name = gelf_getshdr(section, header) != NULL
                    ? elf_strptr(elf, strings, header->sh_name)
                    : NULL;
        if (*name != NULL)
            break;
    }
    return section;
}

struct bytes
sections_find(Elf *elf, const char *name)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *found;
    while ((section = sections_next(elf, section, &header, &found)) != NULL) {
        if (strcmp(found, name) != 0 || (header.sh_flags & SHF_COMPRESSED) != 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        const uint8_t *start = data != NULL ? data->d_buf : NULL;
        return (struct bytes){start,
                              start != NULL ? start + data->d_size : NULL};
    }
    return (struct bytes){0};
}

void
sections_read(struct sections *sections, Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    *sections = (struct sections){0};
    GElf_Shdr header;
    const char *name;
    while ((section = sections_next(elf, section, &header, &name)) != NULL) {
        struct bytes *place = place_of(sections, name);
        Elf_Data *data = place != NULL ? elf_getdata(section, NULL) : NULL;
        if (data != NULL && data->d_buf != NULL && place->at == NULL) {
            place->at = data->d_buf;
            place->end = place->at + data->d_size;
        }
    }
    find_large(sections, elf);
}

void
sections_rest(const struct sections *sections)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < sections->large_count; i++) {
        /* Only pages that lie wholly in the section. */
        const struct bytes *section = &sections->large[i];
        uintptr_t start = ((uintptr_t)section->at + page - 1) & -page;
        uintptr_t end = (uintptr_t)section->end & -page;
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
}
