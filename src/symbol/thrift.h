/* SPDX-License-Identifier: MIT */
/*
 * thrift.h -- names within a time budget: decides which files' debug
 * information is read, and which files are read for their symbols alone. Report
 * side only.
 */
#ifndef SYMBOL_THRIFT_H
#define SYMBOL_THRIFT_H

#include <stddef.h>
#include <stdint.h>

#include "open_many.h"

/*
 * Decide for the COUNT OPENINGS, none of which is open. Files with the most
 * questions for their cost are left to be read whole, up to BUDGET ns in all by
 * an estimate. The other files, and those without debug information, are opened
 * for their symbols alone and answer their questions. They come first in
 * OPENINGS. Returns their number.
 */
size_t thrift_run(struct opening *openings, size_t count, uint64_t budget);

#endif
