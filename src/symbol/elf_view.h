/* SPDX-License-Identifier: MIT */
/*
 * elf_view.h -- the sections of an ELF file, read where they lie. libelf and
 * libdwfl do more, and take milliseconds for it where a symbol table is large.
 * Report side only.
 */
#ifndef SYMBOL_ELF_VIEW_H
#define SYMBOL_ELF_VIEW_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/* All zero is no file. */
struct elf_view {
    const uint8_t *bytes;
    size_t size;
    bool is_mapped; /* by elf_view_open, and unmapped by elf_view_close */
    const Elf64_Shdr *sections;
    size_t count;
    const Elf64_Shdr *names; /* the section that has their names */
};

/* Map the regular file at PATH; "[vdso]" is this process's own. Returns 0, or
 * -1 if it cannot be read or is no 64-bit little-endian ELF file with section
 * headers. */
int elf_view_open(struct elf_view *view, const char *path);

/* The same of SIZE BYTES (may be NULL), which stay the caller's. */
int elf_view_open_memory(struct elf_view *view, const void *bytes, size_t size);

/* The name of SECTION; "" if it has none. */
const char *elf_view_name(const struct elf_view *view,
                          const Elf64_Shdr *section);

/* The section called NAME; NULL if there is none. */
const Elf64_Shdr *elf_view_section(const struct elf_view *view,
                                   const char *name);

/* Its bytes in the file. AT is NULL if it has none there. */
struct bytes elf_view_content(const struct elf_view *view,
                              const Elf64_Shdr *section);

/* The GNU build-id (elf(5), Notes); AT is NULL if it has none. */
struct bytes elf_view_build_id(const struct elf_view *view);

/* For which machine it is; EM_NONE of no file. */
unsigned elf_view_machine(const struct elf_view *view);

/* The address of the first segment that is loaded; UINT64_MAX if none is. */
uint64_t elf_view_first_address(const struct elf_view *view);

void elf_view_close(struct elf_view *view);

#endif
