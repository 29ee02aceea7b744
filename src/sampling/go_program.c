/* SPDX-License-Identifier: MIT */
/* go_program.c -- see go_program.h. */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "go_program.h"

#define GO_BUILD_ID 4 /* cmd/link: ELF_NOTE_GOBUILDID_TAG */

static size_t
align(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

/* Whether one of the notes in SIZE bytes at AT is Go's. elf(5), "Notes". */
static bool
has_go_note(const char *at, size_t size)
{
    ElfW(Nhdr) note;
    while (size >= sizeof(note)) {
        memcpy(&note, at, sizeof(note));
        const char *name = at + sizeof(note);
        size_t whole =
            sizeof(note) + align(note.n_namesz) + align(note.n_descsz);
        if (whole > size)
            return false;
        if (note.n_type == GO_BUILD_ID && note.n_namesz == 4 &&
            memcmp(name, "Go\0", 4) == 0)
            return true;
        at += whole;
        size -= whole;
    }
    return false;
}

/* Whether the bytes of NOTE are in memory. strip(1) with -R leaves a segment of
 * notes that is in no loaded one, and has the address 0. */
static bool
is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * note)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        ElfW(Addr) at = note->p_vaddr - load->p_vaddr;
        if (load->p_type == PT_LOAD && (load->p_flags & PF_R) != 0 &&
            note->p_vaddr >= load->p_vaddr && at <= load->p_memsz &&
            note->p_memsz <= load->p_memsz - at)
            return true;
    }
    return false;
}

/* The first object is the program itself (dl_iterate_phdr(3)). */
static int
look(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_NOTE && is_loaded(info, header) &&
            has_go_note((const char *)(info->dlpi_addr + header->p_vaddr),
                        header->p_memsz))
            *(bool *)found = true;
    }
    return 1;
}

static bool is_go;

void
go_program_begin(void)
{
    dl_iterate_phdr(look, &is_go);
}

bool
go_program_is_this(void)
{
    return is_go;
}
