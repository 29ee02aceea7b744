/* SPDX-License-Identifier: MIT */
/*
 * memory_elf.c -- see memory_elf.h. Report side. libelf lays the file out and
 * writes it; this file only lists the sections.
 */
#include <elf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arch.h"
#include "memory_elf.h"

static bool
add_section(Elf *elf, Elf64_Word name, Elf64_Word type,
            const struct bytes *bytes)
{
    Elf_Scn *section = elf_newscn(elf);
    Elf64_Shdr *header = section != NULL ? elf64_getshdr(section) : NULL;
    Elf_Data *data = header != NULL ? elf_newdata(section) : NULL;
    if (data == NULL)
        return false;
    header->sh_name = name;
    header->sh_type = type;
    data->d_buf = (void *)(uintptr_t)bytes->at;
    data->d_size = (size_t)(bytes->end - bytes->at);
    data->d_type = ELF_T_BYTE;
    data->d_align = 1;
    return true;
}

/* Add the sections, and at the end the section of their names. The names are
 * written to NAMES, whose text is *TEXT of *SIZE bytes. Returns false on
 * failure. */
static bool
add_sections(Elf *elf, const struct memory_section *sections, size_t count,
             FILE *names, char **text, size_t *size)
{
    fputc('\0', names);
    for (size_t i = 0; i < count; i++) {
        if (sections[i].bytes.at == NULL)
            continue;
        long at = ftell(names);
        fputs(sections[i].name, names);
        fputc('\0', names);
        if (!add_section(elf, (Elf64_Word)at, SHT_PROGBITS, &sections[i].bytes))
            return false;
    }
    long at = ftell(names);
    fputs(".shstrtab", names);
    fputc('\0', names);
    if (fflush(names) != 0)
        return false;
    struct bytes all =
        (struct bytes){(uint8_t *)*text, (uint8_t *)*text + *size};
    return add_section(elf, (Elf64_Word)at, SHT_STRTAB, &all);
}

static bool
write_file(Elf *elf, const struct memory_section *sections, size_t count)
{
    Elf64_Ehdr *header = elf != NULL ? elf64_newehdr(elf) : NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *names = header != NULL ? open_memstream(&text, &size) : NULL;
    if (names == NULL)
        return false;
    /* A type without relocations. The sections are read for no machine. */
    header->e_type = ET_NONE;
    header->e_machine = ARCH_MACHINE;
    header->e_version = EV_CURRENT;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    size_t last;
    bool done = add_sections(elf, sections, count, names, &text, &size) &&
                elf_getshdrnum(elf, &last) == 0;
    if (done) {
        header->e_shstrndx = (Elf64_Half)(last - 1);
        done = elf_update(elf, ELF_C_WRITE) > 0;
    }
    fclose(names);
    free(text);
    return done;
}

int
memory_elf_make(const struct memory_section *sections, size_t count)
{
    int fd = memfd_create("elf", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
    bool done = write_file(elf, sections, count);
    elf_end(elf);
    if (done)
        return fd;
    close(fd);
    return -1;
}
