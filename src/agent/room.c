/* SPDX-License-Identifier: MIT */
/* room.c -- see room.h. */
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/note.h"
#include "room.h"

/* What we reserve, some 85 MiB, is a small part of this. */
#define ROOM (1u << 30)

bool
room_is_enough(void)
{
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
    static const char *const names[] = {"RLIMIT_AS", "RLIMIT_DATA"};
    for (int i = 0; i < 2; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)limits[i], &limit) != 0 ||
            limit.rlim_cur >= ROOM)
            continue;
        note(NOTE_ERROR, names[i],
             " is below 1 GiB: the program needs it for itself; not profiling",
             NULL);
        return false;
    }
    return true;
}
