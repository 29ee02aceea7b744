/* SPDX-License-Identifier: MIT */
/*
 * sections.c -- see sections.h. Report side. libdw has inflated and relocated
 * them when it opened the file: this is after that.
 */
#include <string.h>

#include "sections.h"

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

void
sections_read(struct sections *sections, Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    size_t strings;

    *sections = (struct sections){0};
    if (!elf || elf_getshdrstrndx(elf, &strings))
        return;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header)
                               ? elf_strptr(elf, strings, header.sh_name)
                               : NULL;
        struct bytes *place = name ? place_of(sections, name) : NULL;
        Elf_Data *data = place ? elf_getdata(section, NULL) : NULL;
        if (data && data->d_buf && !place->at) {
            place->at = data->d_buf;
            place->end = place->at + data->d_size;
        }
    }
}
