/* SPDX-License-Identifier: MIT */
/* array.h -- makes room in arrays that grow. */
#ifndef UTIL_ARRAY_H
#define UTIL_ARRAY_H

#include <stddef.h>

/*
 * Make room for one more element of SIZE bytes behind the COUNT elements of
 * ARRAY (NULL when empty). Returns the array, perhaps moved. Returns NULL with
 * errno set if memory is short; the old array is then intact. The capacity is
 * the power of two at or above COUNT and is stored nowhere. So an array may
 * grow only by this function.
 */
void *array_room(void *array, size_t count, size_t size);

#endif
