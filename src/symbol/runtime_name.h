/* SPDX-License-Identifier: MIT */
/*
 * runtime_name.h -- reads the names in perf maps. Each runtime packs function,
 * file and line into one text in its own way. Report side only.
 */
#ifndef SYMBOL_RUNTIME_NAME_H
#define SYMBOL_RUNTIME_NAME_H

#include "util/intern.h"
#include "symbolizer.h"

/*
 * Fill FRAME from NAME, with strings in STORE. LINKAGE becomes NAME itself. A
 * NAME of no known form becomes the function. The line in a map is where the
 * function begins, so LINE stays 0. Returns 0, or -1 if memory is short.
 */
int runtime_name_split(struct intern *store, const char *name,
                       struct symbol_frame *frame);

#endif
