/* SPDX-License-Identifier: MIT */
/*
 * runtime_name.h -- what the names in perf maps say: each runtime packs
 * function, file and line into one text in a way of its own. Report side only.
 */
#ifndef SYMBOL_RUNTIME_NAME_H
#define SYMBOL_RUNTIME_NAME_H

#include "answer_store.h"
#include "symbolizer.h"

/*
 * Fill FRAME from NAME; strings go into STORE. LINKAGE is NAME as it is, and a
 * NAME of no known form is the function's. The line that a map knows is where
 * the function begins: LINE stays 0. Returns 0, or -1 if memory is short.
 */
int runtime_name_split(struct answer_store *store, const char *name,
                       struct symbol_frame *frame);

#endif
