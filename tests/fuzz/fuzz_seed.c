/* SPDX-License-Identifier: MIT */
/*
 * fuzz_seed.c -- "fuzz_seed /FILE /STACKS" makes the spool that fuzz_spool and
 * fuzz_report begin with: a record of every kind, in today's format; and that
 * of fuzz_stacks, with the stacks of some threads. The build runs it, so that a
 * change of the format never leaves the fuzzers with inputs that no rule of the
 * reader lets pass.
 */
#include <stdio.h>
#include <unistd.h>

#include "spool_maker.h"

int
main(int argc, char **argv)
{
    if (argc != 3 || argv[1][0] != '/' || argv[2][0] != '/') {
        fputs("usage: fuzz_seed /FILE /STACKS\n", stderr);
        return 1;
    }
    unlink(argv[1]);
    unlink(argv[2]);
    return maker_small_spool(argv[1]) == 0 && maker_stacks_spool(argv[2]) == 0
               ? 0
               : 1;
}
