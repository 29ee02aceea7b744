/* SPDX-License-Identifier: MIT */
/* array.h -- arrays that grow, in one function. */
#ifndef PROFILE_ARRAY_H
#define PROFILE_ARRAY_H

#include <stddef.h>

/*
 * Make room for one more element of SIZE bytes behind the COUNT that ARRAY
 * (NULL when empty) holds. Returns the array, perhaps moved, or NULL with errno
 * set and the old one intact. The capacity is the power of two at or above
 * COUNT, so it is stored nowhere and an array must grow only by this function.
 */
void *array_room(void *array, size_t count, size_t size);

#endif
