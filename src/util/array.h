/* SPDX-License-Identifier: MIT */
/* array.h -- makes room in arrays that grow. */
#ifndef UTIL_ARRAY_H
#define UTIL_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/* As array_room, for a COUNT that is 0 or a power of two. */
void *array_double(void *array, size_t count, size_t size);

/*
 * Make room for one more element of SIZE bytes after the COUNT elements of
 * ARRAY (NULL when empty). Returns the array, perhaps moved. Returns NULL with
 * errno set if memory is short; the old array is then intact. The capacity is
 * the power of two at or above COUNT and is stored nowhere. So an array may
 * grow only by this function.
 */
static inline void *
array_room(void *array, size_t count, size_t size)
{
    return (count & (count - 1)) != 0 ? array
                                      : array_double(array, count, size);
}

/* Make room for one more element after the COUNT elements of ARRAY, which is a
 * pointer that can be assigned. Returns false if memory is short. */
#define ARRAY_GROW(array, count)                                       \
    ({                                                                 \
        void *grown_ = array_room((array), (count), sizeof(*(array))); \
        if (grown_ != NULL)                                            \
            (array) = grown_;                                          \
        grown_ != NULL;                                                \
    })

/* Let ARRAY, a pointer that can be assigned, have COUNT zeros, for free(3).
 * Returns false if memory is short; COUNT may be 0. */
#define ARRAY_NEW(array, count) \
    (((array) = calloc((count) + (size_t)1, sizeof(*(array)))) != NULL)

#endif
