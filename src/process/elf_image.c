/* SPDX-License-Identifier: MIT */
/*
 * elf_image.c -- ELF headers; see elf_image.h and elf(5). They are read from
 * memory if they are mapped. The file may have been replaced or deleted since,
 * or lie outside a chroot, and to open it costs more. Any number in a header
 * may be wrong. The mapping may be gone at the next instruction, so all reading
 * is by system call.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "base/arch.h"
#include "base/sys.h"
#include "elf_image.h"
#include "base/poison.h"

/* Limit of the program headers of a file. Linkers write about a dozen. */
#define PHDRS_MAX 64

/* Type of the note of Go's linker (cmd/link: ELF_NOTE_GOBUILDID_TAG). */
#define NOTE_GO_BUILD_ID 4

/* Take the build-id, or the mark of Go, from the note HEAD, NAME and BODY. */
static void
read_note(struct module *module, const Elf64_Nhdr *head, const char *name,
          const char *body)
{
    if (head->n_namesz != 4)
        return;
    if (head->n_type == NOTE_GO_BUILD_ID && memcmp(name, "Go\0", 4) == 0)
        module->is_go = true;
    if (head->n_type == NT_GNU_BUILD_ID && memcmp(name, "GNU", 4) == 0 &&
        head->n_descsz != 0 && head->n_descsz <= MODULE_BUILD_ID_MAX &&
        module->build_id_length == 0) {
        memcpy(module->build_id, body, head->n_descsz);
        module->build_id_length = (uint8_t)head->n_descsz;
    }
}

/* The notes of one PT_NOTE segment. */
static void
read_notes(struct module *module, uint64_t address, uint64_t size)
{
    /* The build-id is among the first notes. The others are not needed. */
    char notes[1024];
    if (size > sizeof(notes))
        size = sizeof(notes);
    if (!sys_copy_memory(notes, address, size))
        return;
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
        Elf64_Nhdr head;
        memcpy(&head, notes + at, sizeof(head));
        size_t name = at + sizeof(head);
        /* Names and contents are padded to 4 bytes each. */
        size_t body = name + ((head.n_namesz + 3ul) & ~3ul);
        if (body > size || head.n_descsz > size - body)
            return;
        read_note(module, &head, notes + name, notes + body);
        at = body + ((head.n_descsz + 3ul) & ~3ul);
    }
}

#define PAGE 4096u /* bytes; the loader maps whole pages */

/* Add segment P to the loads of MODULE, in whole pages. */
static void
note_load(struct module *module, const Elf64_Phdr *p)
{
    uint64_t start = module->base + p->p_vaddr;
    if (module->load_count == MODULE_LOADS_MAX)
        return;
    module->loads[module->load_count++] =
        (struct module_load){.start = start & -(uint64_t)PAGE,
                             .end = (start + p->p_memsz + PAGE - 1) &
                                    -(uint64_t)PAGE,
                             .shift = start - p->p_offset,
                             .executable = (p->p_flags & PF_X) != 0};
}

/* Find the segments of MODULE, and its unwind table and build-id. A module may
 * lack either of these two. */
static void
read_segments(struct module *module, const Elf64_Phdr *phdrs, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const Elf64_Phdr *p = &phdrs[i];
        uint64_t address = module->base + p->p_vaddr;
        if (p->p_type == PT_LOAD) {
            note_load(module, p);
        } else if (p->p_type == PT_GNU_EH_FRAME) {
            module->table = address;
            module->table_size = p->p_memsz;
        } else if (p->p_type == PT_NOTE) {
            read_notes(module, address, p->p_memsz);
        }
    }
}

/* Set the bias of MODULE: the address of the ELF header, less the address that
 * the file asks for. Linkers may let the segment with that header begin some
 * bytes into the first page. Returns -1 without such a segment. */
static int
find_base(struct module *module, const Elf64_Phdr *phdrs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (phdrs[i].p_type == PT_LOAD && phdrs[i].p_offset < PAGE) {
            module->base =
                module->start - (phdrs[i].p_vaddr - phdrs[i].p_offset);
            return 0;
        }
    return -1;
}

static bool
is_head(const Elf64_Ehdr *head)
{
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_machine == ARCH_MACHINE && head->e_phnum <= PHDRS_MAX &&
           head->e_phentsize == sizeof(Elf64_Phdr);
}

int
elf_image_head(uint64_t address, struct elf_head *head)
{
    Elf64_Ehdr raw;
    if (!sys_copy_memory(&raw, address, sizeof(raw)) || !is_head(&raw))
        return -1;
    *head = (struct elf_head){raw.e_phoff, raw.e_entry, raw.e_phnum};
    return 0;
}

uint64_t
elf_image_size(const struct elf_head *head)
{
    return head->count * sizeof(Elf64_Phdr);
}

/* Fill MODULE from its program headers. */
static int
use_phdrs(struct module *module, const struct elf_head *head,
          const Elf64_Phdr *phdrs)
{
    if (find_base(module, phdrs, head->count) != 0)
        return -1;
    /* A library has no entry point. Address 0 would be the ELF header. */
    module->entry = head->entry != 0 ? module->base + head->entry : 0;
    read_segments(module, phdrs, head->count);
    return 0;
}

int
elf_image_read(struct module *module, const struct elf_head *head)
{
    Elf64_Phdr phdrs[PHDRS_MAX];
    if (!sys_copy_memory(phdrs, module->phdrs, elf_image_size(head)))
        return -1;
    return use_phdrs(module, head, phdrs);
}

/* Read LENGTH bytes at OFFSET of the file FD. */
static bool
read_at(int fd, uint64_t offset, void *to, size_t length)
{
    return sys_seek(fd, offset) >= 0 &&
           sys_read(fd, to, length) == (long)length;
}

int
elf_image_read_file(struct module *module, const struct elf_head *head,
                    const char *path)
{
    Elf64_Phdr phdrs[PHDRS_MAX];
    Elf64_Ehdr mapped, stored;
    /* The path may now name a pipe, for which a plain open(2) would wait. */
    int fd = (int)sys_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    bool is_same = sys_copy_memory(&mapped, module->start, sizeof(mapped)) &&
                   read_at(fd, 0, &stored, sizeof(stored)) &&
                   memcmp(&mapped, &stored, sizeof(stored)) == 0 &&
                   read_at(fd, head->phdrs, phdrs, elf_image_size(head));
    sys_close(fd);
    return is_same ? use_phdrs(module, head, phdrs) : -1;
}
