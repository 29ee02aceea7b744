/* SPDX-License-Identifier: MIT */
/*
 * elf_image.h -- reads the headers of an ELF file where it is mapped, without
 * faulting: bias, entry, unwind table and build-id.
 */
#ifndef TARGET_ELF_IMAGE_H
#define TARGET_ELF_IMAGE_H

#include "modules.h"

/* Fill base, entry, table and build_id of MODULE from the ELF header mapped at
 * MODULE->start. Returns 0, or -1 if there is none (or it is another
 * machine's). Sampler thread; reads by system calls only. */
int elf_image_read(struct module *module);

#endif
