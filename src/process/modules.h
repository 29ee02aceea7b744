/* SPDX-License-Identifier: MIT */
/*
 * modules.h -- the module map: which ELF file and which unwind table lie where.
 * It is made from /proc/self/maps and the ELF headers in memory, read without
 * faulting. So it touches no loader lock, and a library that is being unmapped
 * yields an error. It sees what dl_iterate_phdr does not (dlmopen, the vdso,
 * code without a file).
 *
 * Only one module map exists. Only the sampler thread calls these functions,
 * except modules_are_current and modules_are_current_here.
 *
 * Unloads have numbers (unloads.h); dlopen has no hook. Until the sampler has
 * read the map again after an unload, rules may be stale. A handler then leaves
 * its walk to the sampler. The sampler reads the map again when it serves no
 * parked thread.
 */
#ifndef PROCESS_MODULES_H
#define PROCESS_MODULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_BUILD_ID_MAX 64

/* Linkers make two to six; tools that rewrite files add one or two. */
#define MODULE_LOADS_MAX 12

/* A segment (PT_LOAD) at its place. */
struct module_load {
    uint64_t start, end; /* addresses, in whole pages */
    uint64_t shift;      /* address - shift = offset in the file */
    bool executable;
};

struct module {
    uint64_t start, end; /* addresses, from its first mapping to its last */
    uint64_t base;       /* load bias: address - base = ELF's own address */
    uint64_t phdrs;      /* address of its program headers; 0: not mapped */
    uint64_t table;      /* address of .eh_frame_hdr; 0: none */
    uint64_t table_size;
    uint64_t entry;         /* address of the ELF entry point */
    uint64_t device, inode; /* what the mapping names */
    uint64_t since;         /* start of the reading that found it */
    const char *path;       /* of the file; "[vdso]" */
    uint32_t id;            /* 1, 2, ...: new for each appearance */
    uint8_t build_id_length;
    bool deleted; /* the file is gone from its path */
    bool is_vdso;
    bool is_go; /* Go's linker made it: its functions keep a frame pointer */
    bool seen;  /* seen by the present refresh */
    bool was_unloaded; /* new since the last refresh */
    uint8_t build_id[MODULE_BUILD_ID_MAX];
    uint8_t load_count;
    struct module_load loads[MODULE_LOADS_MAX];
};

/* The kind of code at an address. */
enum code_kind {
    CODE_NONE,      /* no executable mapping */
    CODE_MODULE,    /* in a module */
    CODE_ANONYMOUS, /* executable, in no module: generated code */
};

/* Called for every module that appears (GONE false) or has gone; a refresh
 * reports those gone first. The module is valid during the call. */
typedef void modules_listener(const struct module *module, bool gone);

/* Make the map empty: not current before the first refresh. Returns 0, or -1 if
 * memory is short. */
int modules_begin(modules_listener *listener);

/* Read the map again. Returns 0, or -1 if it could not be read (the old one
 * stays). It takes no lock that a program can hold, and 30 us and more. The
 * sampler calls it when it serves no parked thread. */
int modules_refresh(void);

/* The state of the map, which modules.c alone changes. */
extern struct modules_state {
    uint64_t
        read_at;   /* start of the last reading, CLOCK_MONOTONIC ns; 0: none */
    uint64_t took; /* ns that it took */
    uint32_t newest;  /* id of the newest module, or 0 */
    uint32_t unloads; /* number of the last unload after the reading */
    bool is_torn;     /* modules were unloaded meanwhile, or may have been */
    /* An emulator runs the program (maps_begin_emulated). Context: any thread.
     */
    _Atomic bool is_emulated;
} modules_state;

/* The module at ADDRESS, or NULL. */
const struct module *modules_find(uint64_t address);

/* Call VISIT with TO for each module. Context: sampler. */
void modules_each(void (*visit)(void *to, const struct module *module),
                  void *to);

/* Whether ADDRESS lies in a module's file, code or not. */
bool modules_holds(uint64_t address);

/* The kind of code at ADDRESS as of the last refresh. */
enum code_kind modules_code_kind(uint64_t address);

/* The mapping that holds ADDRESS, read now; *IS_STACK if it is that of the main
 * thread's stack. Returns 0, or -1 if none does. */
int modules_mapping(uint64_t address, uint64_t *start, uint64_t *end,
                    bool *is_stack);

/* Whether a module's file is no longer at its path, because it was deleted,
 * replaced or moved. Reads the map. */
bool modules_have_left(void);

/* Whether the map shows what lay at ADDRESS at TIME (CLOCK_MONOTONIC, ns), when
 * AFTER was the last unload: no later unload up to UNTIL took ADDRESS. The map
 * was read at TIME or later. */
bool modules_are_sure(uint64_t address, uint64_t time, uint32_t after,
                      uint32_t until);

/* Whether rules learned so far hold. Context: any. */
bool modules_are_current(void);

/* The same for the stack of the calling thread, which has thread-local words
 * and may itself be closing a module. Context: any. */
bool modules_are_current_here(void);

#endif
