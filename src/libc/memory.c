/* SPDX-License-Identifier: MIT */
/*
 * memory.c -- memcpy and its kin for this library alone, which the linker binds
 * to these. Any context.
 *
 * The hard thing is that other modules define them, too. A sanitizer's
 * functions, found first, check every byte. To them a copy of a thread's whole
 * stack, with the gaps between its variables, is an error. They end the
 * program. Or they take locks that the interrupted thread may hold.
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

/* From the last byte down, if the first would overwrite what is to be copied.
 */
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
