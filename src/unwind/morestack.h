/* SPDX-License-Identifier: MIT */
/*
 * morestack.h -- leads from the function that grows a goroutine's stack to the
 * function that needed the larger one. The first runs on the stack of Go's
 * scheduler, and its frame pointer is 0, as at a root (Go 1.22 to 1.26,
 * src/runtime/asm_*.s, "morestack").
 */
#ifndef UNWIND_MORESTACK_H
#define UNWIND_MORESTACK_H

#include <stdint.h>

#include "base/arch.h"
#include "view.h"

enum morestack {
    MORESTACK_NO,    /* the walk does not stand in that function */
    MORESTACK_FOUND, /* *CALLER is valid */
    MORESTACK_LOST,  /* it stands there, but the goroutine cannot be read */
};

/* The walk stands AT, where a chain of frame pointers ends with 0. GO is the
 * content of the register ARCH_GO. *FROM becomes the registers in the function
 * that needs a larger stack, which has no frame yet, and *CALLER those in its
 * caller. Context: any. */
enum morestack morestack_find(struct view *view, uint64_t go,
                              const struct regs *at, struct regs *from,
                              struct regs *caller);

#endif
