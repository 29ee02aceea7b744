/* SPDX-License-Identifier: MIT */
/*
 * elf_view.h -- the sections of an ELF file, read in place. libelf and libdwfl
 * do more, and need milliseconds for a large symbol table. Report side only.
 */
#ifndef SYMBOL_ELF_VIEW_H
#define SYMBOL_ELF_VIEW_H

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/* All zero is no file. */
struct elf_view {
    const uint8_t *bytes;
    size_t size;
    bool is_mapped; /* elf_view_open mapped it; elf_view_close unmaps it */
    const Elf64_Shdr *sections;
    size_t count;
    const Elf64_Shdr *names; /* the section that has their names */
};

/* From now on take all files from below ROOT, a copy of another machine's. NULL
 * or "": from this machine. The caller keeps ROOT. No file may be open. */
void elf_view_set_root(const char *root);

/* Returns the path from which the file PATH is read, for which TEXT has room.
 * It is PATH itself without a root, if PATH is already below it, is not
 * absolute, or is the kernel's (/proc). */
const char *elf_view_place(const char *path, char text[PATH_MAX]);

/* Open PATH, which may come from a damaged spool or from another machine, for
 * reading if it is a regular file. The open cannot block. Returns a descriptor,
 * or -1 with errno set. */
int elf_view_open_file(const char *path);

/* Map the regular file at PATH; "[vdso]" is this process's own. Returns 0.
 * Returns -1 if the file cannot be read, or is not a 64-bit little-endian ELF
 * file with section headers. */
int elf_view_open(struct elf_view *view, const char *path);

/* The same for SIZE bytes at BYTES (may be NULL), which the caller keeps and
 * frees. */
int elf_view_open_memory(struct elf_view *view, const void *bytes, size_t size);

/* The name of SECTION; "" if it has none. */
const char *elf_view_name(const struct elf_view *view,
                          const Elf64_Shdr *section);

/* The section called NAME; NULL if none is. */
const Elf64_Shdr *elf_view_section(const struct elf_view *view,
                                   const char *name);

/* The section with code that holds ADDRESS; NULL if none does. */
const Elf64_Shdr *elf_view_code(const struct elf_view *view, uint64_t address);

/* The bytes of SECTION in the file. AT is NULL if it has none there. */
struct bytes elf_view_content(const struct elf_view *view,
                              const Elf64_Shdr *section);

/* The GNU build-id (elf(5), Notes); AT is NULL if it has none. */
struct bytes elf_view_build_id(const struct elf_view *view);

/* Whether that is BUILD_ID of LENGTH bytes; 0 is any. */
bool elf_view_has_build_id(const struct elf_view *view, const uint8_t *build_id,
                           size_t length);

/* A table of symbols, in place. The first one is empty. */
struct elf_view_symbols {
    const Elf64_Sym *all;
    size_t count;
    struct bytes strings;
};

/* Take the table called NAME. Returns false if no usable one exists. */
bool elf_view_symbols(const struct elf_view *view, const char *name,
                      struct elf_view_symbols *symbols);

/* The name of SYMBOL; "" if it has none. */
const char *elf_view_symbol_name(const struct elf_view_symbols *symbols,
                                 const Elf64_Sym *symbol);

/* The address of the first segment that is loaded; UINT64_MAX if none is. */
uint64_t elf_view_first_address(const struct elf_view *view);

/* The address of the byte at OFFSET of the file, by its segments; UINT64_MAX if
 * it is not loaded. In a page of two segments it belongs to code. */
uint64_t elf_view_address(const struct elf_view *view, uint64_t offset);

void elf_view_close(struct elf_view *view);

#endif
