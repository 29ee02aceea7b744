/* SPDX-License-Identifier: MIT */
/*
 * elf_local.h -- where a thread has a thread-local variable that a module
 * exports. The answer is a distance from the thread pointer that is the same in
 * all threads. It is found by the relocations with which the module finds its
 * own variable ("ELF Handling For Thread-Local Storage", U. Drepper). No lock
 * of the loader is taken, and no memory is made for a thread.
 * Context: sampler.
 */
#ifndef PROCESS_ELF_LOCAL_H
#define PROCESS_ELF_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "modules.h"

/* How a module finds the variable. */
enum elf_local_way {
    ELF_LOCAL_PROGRAM,    /* the program's own data is that of module 1 */
    ELF_LOCAL_MODULE,     /* at PLACE is the number of the module */
    ELF_LOCAL_PAIR,       /* the same, and behind it the offset */
    ELF_LOCAL_DISTANCE,   /* at PLACE is the distance */
    ELF_LOCAL_DESCRIPTOR, /* behind a function at PLACE is the distance, or the
                           * address of more */
};

struct elf_local {
    enum elf_local_way way;
    uint64_t place;  /* an address */
    uint64_t offset; /* in the module's data of a thread */
};

/* Find how MODULE finds its variable NAME. Returns false if the module does not
 * export one. */
bool elf_local_find(struct elf_local *local, const struct module *module,
                    const char *name);

/* The distance of LOCAL from the thread pointer. POINTER is that of a thread
 * that lives. 0: the module is not relocated yet, or the distance is not the
 * same in all threads, because the module was loaded late. */
int64_t elf_local_distance(const struct elf_local *local, uint64_t pointer);

#endif
