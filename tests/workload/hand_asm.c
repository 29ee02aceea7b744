/* SPDX-License-Identifier: MIT */
/*
 * hand_asm.c -- functions written in assembly, for each machine in its folder.
 * with_cfi describes itself (a save, then the frame pointer as the base of its
 * frame, then a register saved in the middle). without_cfi has no unwind table
 * at all and keeps only the chain of frame pointers. no_frame_leaf has a table
 * and no frame.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <stdio.h>

#include "work.h"

void with_cfi(void (*callback)(void));
void without_cfi(void (*callback)(void));
void no_frame_leaf(uint64_t rounds);

static volatile uint64_t sink;
static unsigned slice;

FRAME static void
called_back(void)
{
    sink += work_burn(slice);
    no_frame_leaf(1000000);
    KEEP_FRAME();
}

FRAME static void
call_without_cfi(void)
{
    without_cfi(called_back);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    slice = work_argument(argc, argv, 1, 1000) / 200;
    work_expect("main;with_cfi;called_back;(work_burn|no_frame_leaf)");
    work_expect("main;with_cfi;call_without_cfi;without_cfi;called_back;"
                "(work_burn|no_frame_leaf)");
    for (unsigned i = 0; i < 100; i++) {
        with_cfi(called_back);
        with_cfi(call_without_cfi);
    }
    puts("ok");
    return 0;
}
