/* SPDX-License-Identifier: MIT */
/*
 * elf_image.h -- reads the headers of an ELF file where it is mapped: bias,
 * segments, entry, unwind table and build-id. No read causes a fault.
 */
#ifndef PROCESS_ELF_IMAGE_H
#define PROCESS_ELF_IMAGE_H

#include "modules.h"

/* The fields of an ELF header that are used. */
struct elf_head {
    uint64_t phdrs; /* offset of the program headers in the file */
    uint64_t entry; /* before the bias is added; 0: none */
    unsigned count; /* of program headers */
};

/* Read the ELF header at ADDRESS. Returns 0, or -1 if none lies there, or if it
 * is for another machine. All functions here read by system calls only.
 * Context: sampler. */
int elf_image_head(uint64_t address, struct elf_head *head);

/* The size of the program headers in bytes. */
uint64_t elf_image_size(const struct elf_head *head);

/* Fill base, loads, entry, table and build_id of MODULE. Its ELF header HEAD
 * lies at MODULE->start, its program headers at MODULE->phdrs. Returns 0, or -1
 * if these cannot be used. */
int elf_image_read(struct module *module, const struct elf_head *head);

/* The same for a module that has no program headers in memory: they are read
 * from the file PATH. The file is used only if it has the ELF header that lies
 * at MODULE->start. */
int elf_image_read_file(struct module *module, const struct elf_head *head,
                        const char *path);

#endif
