/* SPDX-License-Identifier: MIT */
/*
 * thrift.h -- names within a budget: which files' debug information is read,
 * and which ones are asked for their symbols alone. Report side only.
 */
#ifndef SYMBOL_THRIFT_H
#define SYMBOL_THRIFT_H

#include <stddef.h>
#include <stdint.h>

#include "openings.h"

/*
 * Decide for the COUNT OPENINGS, of which none is open: those with the most
 * questions for the time that they take are to be read whole, as long as that
 * takes no more than BUDGET ns in all, by an estimate. The others, and those
 * without debug information, are opened for their symbols alone, asked, and put
 * first. Returns how many these are.
 */
size_t thrift_run(struct opening *openings, size_t count, uint64_t budget);

#endif
