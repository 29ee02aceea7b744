/* SPDX-License-Identifier: MIT */
/*
 * fuzz_module.c -- any bytes as a mapped ELF file: its headers and notes, as
 * the module map reads them in the profiled process.
 */
#include <stdlib.h>

#include "process/elf_image.h"

#include "fuzz.h"
#include "memory.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct module module = {.start = MEMORY_START};
    struct elf_head head;

    memory_set(data, size);
    if (elf_image_head(MEMORY_START, &head) != 0)
        return 0;
    module.phdrs = MEMORY_START + head.phdrs;
    if (elf_image_read(&module, &head) == 0 &&
        (module.build_id_length > sizeof(module.build_id) ||
         module.load_count > MODULE_LOADS_MAX))
        abort();
    return 0;
}
