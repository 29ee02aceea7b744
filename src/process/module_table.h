/* SPDX-License-Identifier: MIT */
/*
 * module_table.h -- the known modules, in order of their appearance, with holes
 * where one has gone. Part of modules.c; sampler thread.
 */
#ifndef PROCESS_MODULE_TABLE_H
#define PROCESS_MODULE_TABLE_H

#include "modules.h"
#include "ranges.h"

/* Make it empty. Returns 0, or -1 if memory is short. */
int module_table_begin(modules_listener *listener);

/* Entries in use, holes (id 0, not seen) included; and one of them. */
uint32_t module_table_count(void);
struct module *module_table_at(uint32_t i);

/* The index of the module that was reported and begins at START, of the file
 * that DEVICE and INODE name; NO_MODULE if there is none. */
uint32_t module_table_find(uint64_t start, uint64_t device, uint64_t inode);

/* Enter MODULE, of the file PATH; it is not reported yet. Returns its index, or
 * NO_MODULE if there is no room. */
uint32_t module_table_add(const struct module *module, const char *path);

/* A refresh begins: no module has been seen by it. */
void module_table_unsee(void);

/* A refresh is over: report the modules that have gone, free their entries,
 * then report the new ones. */
void module_table_report(void);

#endif
