/* SPDX-License-Identifier: MIT */
/*
 * untabled.h -- rules for code that has no unwind table: Go's, assembly, and
 * what runtimes generate. The code says how much a function has on the stack
 * (epilogue.h), or else a chain of frame pointers is tried.
 */
#ifndef CAPTURE_UNTABLED_H
#define CAPTURE_UNTABLED_H

#include <stdbool.h>
#include <stdint.h>

#include "rules.h"

struct untabled {
    uint64_t pc;
    uint64_t start, end; /* nothing beyond has to do with PC */
    bool is_return;      /* PC is the last byte before a return address */
    bool is_go;          /* made by Go's linker */
    bool is_generated;   /* it may change */
};

/* Put the rule for CODE->pc, and for as many pcs around it as it holds for.
 * Returns it. Context: sampler, in window. */
struct rule untabled_put(const struct untabled *code);

/* A walk found no way on from PC, which is in code without a table: let RULE
 * hold for it from now on (until it changes, if it is generated). Context:
 * sampler. */
void untabled_decide(uint64_t pc, bool is_generated, struct rule rule);

/* Forget rules for generated code that has changed since they were put: some of
 * them are looked at in each call, all within a second. Context: sampler. */
void untabled_settle(uint64_t now);

#endif
