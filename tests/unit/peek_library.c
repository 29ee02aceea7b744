/* SPDX-License-Identifier: MIT */
/*
 * peek_library.c -- functions of a shared library that block, with frame
 * pointers: reached through a PLT. One has a frame of variable size.
 */
#include <alloca.h>
#include <string.h>
#include <unistd.h>

#include "peek_calls.h"

FRAME void
library_wait(int fd)
{
    char byte;

    if (read(fd, &byte, 1) < 0)
        KEEP_FRAME();
    KEEP_FRAME();
}

FRAME void
library_wait_alloca(int fd, unsigned size)
{
    char *room = alloca(size);

    memset(room, 0, size);
    if (read(fd, room, 1) < 0)
        KEEP_FRAME();
    KEEP_FRAME();
}
