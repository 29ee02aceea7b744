/* SPDX-License-Identifier: MIT */
/*
 * elf_image.c -- ELF headers in memory; see elf_image.h and elf(5). The image
 * in memory is read and not the file: the file may have been replaced or
 * deleted since, or lie outside a chroot, and opening it costs more. Everything
 * in it is foreign: any number may be wrong, and the mapping may be gone at the
 * next instruction, so all reading is by system call.
 */
#include <elf.h>
#include <string.h>

#include "base/arch.h"
#include "base/sys.h"
#include "elf_image.h"

/* Linkers write about a dozen; a table with more is not believed. */
#define PHDRS_MAX 64

/* Copy LENGTH bytes at ADDRESS; false if not all of them can be read. */
static bool
copy(void *to, uint64_t address, size_t length)
{
    long got = sys_read_memory(to, address, length);
    return got == (long)length;
}

/* Look for the GNU build-id among the notes of one PT_NOTE segment. */
static void
read_build_id(struct module *module, uint64_t address, uint64_t size)
{
    /* The build-id is among the first notes; what lies beyond is not needed. */
    char notes[1024];
    if (size > sizeof(notes))
        size = sizeof(notes);
    if (!copy(notes, address, size))
        return;
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
        Elf64_Nhdr head;
        memcpy(&head, notes + at, sizeof(head));
        size_t name = at + sizeof(head);
        /* Names and contents are padded to 4 bytes each. */
        size_t body = name + ((head.n_namesz + 3ul) & ~3ul);
        if (body > size || head.n_descsz > size - body)
            return;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(notes + name, "GNU", 4) == 0 && head.n_descsz != 0 &&
            head.n_descsz <= MODULE_BUILD_ID_MAX) {
            memcpy(module->build_id, notes + body, head.n_descsz);
            module->build_id_length = (uint8_t)head.n_descsz;
            return;
        }
        at = body + ((head.n_descsz + 3ul) & ~3ul);
    }
}

/* The unwind table and the build-id, of which a module may lack either. */
static void
read_segments(struct module *module, const Elf64_Phdr *phdrs, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const Elf64_Phdr *p = &phdrs[i];
        uint64_t address = module->base + p->p_vaddr;
        if (p->p_type == PT_GNU_EH_FRAME) {
            module->table = address;
            module->table_size = p->p_memsz;
        } else if (p->p_type == PT_NOTE && module->build_id_length == 0) {
            read_build_id(module, address, p->p_memsz);
        }
    }
}

/* The bias: where the segment with file offset 0 lies, minus where it asked to
 * be. Linkers may let that segment begin some bytes into the first page. -1 if
 * no segment holds the ELF header. */
static int
find_base(struct module *module, const Elf64_Phdr *phdrs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (phdrs[i].p_type == PT_LOAD && phdrs[i].p_offset < 4096) {
            module->base =
                module->start - (phdrs[i].p_vaddr - phdrs[i].p_offset);
            return 0;
        }
    return -1;
}

int
elf_image_read(struct module *module)
{
    Elf64_Ehdr head;
    Elf64_Phdr phdrs[PHDRS_MAX];
    if (!copy(&head, module->start, sizeof(head)) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_machine != ARCH_MACHINE || head.e_phnum > PHDRS_MAX ||
        head.e_phentsize != sizeof(Elf64_Phdr))
        return -1;
    size_t size = head.e_phnum * sizeof(Elf64_Phdr);
    if (!copy(phdrs, module->start + head.e_phoff, size) ||
        find_base(module, phdrs, head.e_phnum) != 0)
        return -1;
    /* Libraries have none; address 0 would be the ELF header itself. */
    module->entry = head.e_entry != 0 ? module->base + head.e_entry : 0;
    read_segments(module, phdrs, head.e_phnum);
    return 0;
}
