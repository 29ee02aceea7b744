/* SPDX-License-Identifier: MIT */
/*
 * memory.c -- memcpy, memmove, memset and memcmp for this library alone. The
 * linker binds the calls in this library to these functions. Any context.
 *
 * Other modules define functions with these names, too. The loader would find a
 * sanitizer's functions first. A sanitizer's functions check every byte. A
 * target thread or the sampler copies a whole stack, with the gaps between its
 * variables. A sanitizer takes such a copy for an error, and ends the program.
 * A sanitizer may also take locks that the interrupted thread holds.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arch.h"

void *
memcpy(void *restrict to, const void *restrict from, size_t length)
{
    arch_copy(to, from, length);
    return to;
}

/* A copy from the first byte up could overwrite bytes that are not copied yet.
 * The copy then goes from the last byte down. */
void *
memmove(void *to, const void *from, size_t length)
{
    if ((uintptr_t)to - (uintptr_t)from >= length)
        return memcpy(to, from, length);
    arch_copy_down((char *)to + length - 1, (const char *)from + length - 1,
                   length);
    return to;
}

void *
memset(void *to, int byte, size_t length)
{
    arch_fill(to, byte, length);
    return to;
}

int
memcmp(const void *left, const void *right, size_t length)
{
    const unsigned char *a = left, *b = right;
    for (size_t i = 0; i < length; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}
