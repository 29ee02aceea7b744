/* SPDX-License-Identifier: MIT */
/*
 * fuzz_seed.c -- "fuzz_seed /FILE" makes the spool that fuzz_spool and
 * fuzz_report begin with: a record of every kind, in today's format. The build
 * runs it, so that a change of the format never leaves the fuzzers with inputs
 * that no rule of the reader lets pass.
 */
#include "spool_maker.h"

int
main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] != '/') {
        fputs("usage: fuzz_seed /FILE\n", stderr);
        return 1;
    }
    unlink(argv[1]);
    return maker_small_spool(argv[1]) == 0 ? 0 : 1;
}
