/* SPDX-License-Identifier: MIT */
/*
 * fuzz_image.h -- everything about an ELF file that fuzz_elf and fuzz_package
 * have made is asked for: symbols, lines, inlined calls and PLT stubs.
 */
#ifndef TESTS_FUZZ_IMAGE_H
#define TESTS_FUZZ_IMAGE_H

#include <stdint.h>

/* Ask for FIRST, and for addresses spread over the first 64 KiB. */
void fuzz_ask(const char *path, uint64_t first);

/* The same without debug information (image_open_brief). */
void fuzz_ask_briefly(const char *path, uint64_t first);

#endif
