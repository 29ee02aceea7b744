/* SPDX-License-Identifier: MIT */
/*
 * spool.h -- records for workloads that write a spool themselves. What cannot
 * be written ends the workload.
 */
#ifndef WORKLOAD_SPOOL_H
#define WORKLOAD_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "store/writer.h"

/* The writer of the spool, which the workload makes. */
extern struct writer *spool_writer;

/* Append a record. Returns its place in the file. */
uint64_t spool_append(enum record_kind kind, const void *record, size_t size,
                      const struct writer_tail *tail, size_t parts);

/* A record of that kind. */
void spool_process(uint32_t pid, const char *exe, const char *command);
void spool_module(uint32_t id, uint64_t base, const char *path,
                  const uint8_t *build_id, uint32_t length);
void spool_thread(uint32_t id, uint32_t tid, const char *name);
void spool_text(uint32_t id, const char *string);

/* Append a node. Returns its id. */
uint32_t spool_node(uint32_t parent, uint32_t in, uint64_t offset,
                    uint32_t flags);

#endif
