/* SPDX-License-Identifier: MIT */
/* array.c -- doubles an array when its length is a power of two. So adding an
 * element costs the same on average, however long the array gets. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "array.h"

void *
array_double(void *array, size_t count, size_t size)
{
    size_t capacity = count == 0 ? 1 : 2 * count;
    if (capacity > SIZE_MAX / 2 / size) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(array, capacity * size);
}
