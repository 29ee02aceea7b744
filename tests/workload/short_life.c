/* SPDX-License-Identifier: MIT */
/*
 * short_life.c -- uses the given number of milliseconds of CPU time and ends.
 * These are too few for sampling to pay, and more than a shell's small commands
 * use.
 *
 * Argument: milliseconds of CPU time.
 */
#include "work.h"

int
main(int argc, char **argv)
{
    work_burn(work_argument(argc, argv, 1, 3));
    return 0;
}
