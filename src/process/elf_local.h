/* SPDX-License-Identifier: MIT */
/*
 * elf_local.h -- where a thread has a thread-local variable that a module
 * exports. It is found by the relocations that the module uses for its own
 * variable ("ELF Handling For Thread-Local Storage", U. Drepper). No lock of
 * the loader is taken, and no memory is made for a thread.
 */
#ifndef PROCESS_ELF_LOCAL_H
#define PROCESS_ELF_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "modules.h"

/* How a module finds the variable. */
enum elf_local_way {
    ELF_LOCAL_PROGRAM,    /* the program's own data is that of module 1 */
    ELF_LOCAL_MODULE,     /* PLACE has the number of the module */
    ELF_LOCAL_PAIR,       /* the same, followed by the offset */
    ELF_LOCAL_DISTANCE,   /* PLACE has the distance */
    ELF_LOCAL_DESCRIPTOR, /* PLACE has a function, then the distance or the
                             address of more */
};

struct elf_local {
    enum elf_local_way way;
    uint64_t place;  /* an address */
    uint64_t offset; /* in the module's data of a thread */
};

/* The data that threads have of module NUMBER, and where in it the variable is.
 * The loader numbers the modules that have such data. */
struct elf_block {
    uint64_t number, offset;
};

/* Find how MODULE finds its variable NAME. Returns false if the module does not
 * export one. Context: sampler. */
bool elf_local_find(struct elf_local *local, const struct module *module,
                    const char *name);

/* The distance of LOCAL from the thread pointer. POINTER is that of a thread
 * that lives. 0: the module is not relocated yet, or the distance is not the
 * same in all threads, because the module was loaded late. Context: sampler. */
int64_t elf_local_distance(const struct elf_local *local, uint64_t pointer);

/* Where LOCAL is in the data of a module that was loaded late. Returns false if
 * that is not known yet. Context: sampler. */
bool elf_local_block(const struct elf_local *local, struct elf_block *block);

/* The address of the variable of BLOCK in the thread whose table of modules'
 * data is at TABLE (ARCH_MODULES_DATA). 0: the thread has none. It is read by
 * system calls. Context: any. */
uint64_t elf_local_address(const struct elf_block *block, uint64_t table);

#endif
