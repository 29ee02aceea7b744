/* SPDX-License-Identifier: MIT */
/*
 * memory.h -- the memory of a profiled program, made of a fuzzer's bytes: what
 * sys_read_memory reads once the linker has put __wrap_sys_read_memory in its
 * place (CMakeLists.txt).
 */
#ifndef TESTS_FUZZ_MEMORY_H
#define TESTS_FUZZ_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define MEMORY_START 0x7f0000000000ull

/* Let the memory hold SIZE bytes of DATA at MEMORY_START, and zeros after them
 * to the end of the page. Both stay the caller's. */
void memory_set(const uint8_t *data, size_t size);

/* As sys_read_memory; nothing but these pages can be read. */
long __wrap_sys_read_memory(void *to, uint64_t address, size_t length);

#endif
