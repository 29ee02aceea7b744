/* SPDX-License-Identifier: MIT */
/*
 * generated.h -- stacks through generated code whose address was used again. A
 * spool has one node for an address, whatever code lay there. The jitdumps of
 * the process show the code at the time of a sample. If that was not the first
 * code at the address, the sample gets nodes of its own (variants).
 */
#ifndef READ_GENERATED_H
#define READ_GENERATED_H

#include <stdint.h>

#include "spool_load.h"

/* Take a JITDUMP record. Samples before it are taken to be of the first code at
 * each address. */
enum outcome generated_add(struct spool_load *load, const void *bytes);

/* Returns the node of a sample that was taken with NODE at TIME of a record. It
 * is NODE itself unless the stack has code that was not the first at its
 * address. New nodes may be added. */
uint32_t generated_node(struct spool_load *load, uint32_t node, uint64_t time);

/* Free what generated_add has made; NULL is allowed. */
void generated_release(struct generated *generated);

#endif
