/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h -- the one function that a fuzzer calls, by libFuzzer's name for it:
 * clang -fsanitize=fuzzer brings its own main, fuzz_main.c is one for any
 * compiler.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Try DATA. Returns 0; what is wrong ends the program. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
