/* SPDX-License-Identifier: MIT */
/*
 * inflate.h -- a file of debug information whose sections are compressed, as
 * one in memory where they are not.
 */
#ifndef SYMBOL_INFLATE_H
#define SYMBOL_INFLATE_H

/*
 * A new descriptor for the ELF file FD with its sections inflated, several at a
 * time where there are CPUs for it, and without those that nobody here reads
 * (where variables are). FD stays open. -1 if nothing is compressed, or not by
 * zlib, or other files belong to it, or it is damaged, or memory is short: then
 * FD itself is to be used.
 */
int inflate_file(int fd);

#endif
