/* SPDX-License-Identifier: MIT */
/* memory.c -- a program's memory made of a fuzzer's bytes; see memory.h. */
#include <errno.h>
#include <string.h>

#include "memory.h"

#define PAGE 4096u

static const uint8_t *bytes;
static size_t filled, mapped;

void
memory_set(const uint8_t *data, size_t size)
{
    bytes = data;
    filled = size;
    mapped = (size + PAGE - 1) / PAGE * PAGE;
}

long
__wrap_sys_read_memory(void *to, uint64_t address, size_t length)
{
    uint64_t at = address - MEMORY_START;
    size_t known;

    if (at >= mapped)
        return -EFAULT;
    if (length > mapped - at)
        length = mapped - at;
    known = at < filled ? filled - at : 0;
    if (known > length)
        known = length;
    if (known > 0)
        memcpy(to, bytes + at, known);
    memset((char *)to + known, 0, length - known);
    return (long)length;
}
