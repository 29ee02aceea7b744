/* SPDX-License-Identifier: MIT */
/*
 * fuzz_module.c -- any bytes as a mapped ELF file: its headers and notes, as
 * the module map reads them in the profiled process.
 */
#include <stdlib.h>

#include "target/elf_image.h"

#include "fuzz.h"
#include "memory.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct module module = {.start = MEMORY_START};

    memory_set(data, size);
    if (elf_image_read(&module) == 0 &&
        module.build_id_length > sizeof(module.build_id))
        abort();
    return 0;
}
