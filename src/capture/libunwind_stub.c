/* SPDX-License-Identifier: MIT */
/*
 * libunwind_stub.c -- names that libunwind refers to and must not have. They
 * are bound inside this library alone.
 */
#include "poison.h"

/* Resumes a thread at a frame: only the local half has it, and it is asked for
 * nowhere here. Never called. */
int _Ux86_64_setcontext(const void *context);

int
_Ux86_64_setcontext(const void *context)
{
    (void)context;
    return -1;
}

/* The local half checks memory through a pipe, which it makes as soon as an
 * address space is made: two descriptors that the program would find. Without
 * them it would use mincore; here nobody asks it. */
int pipe2(int fds[2], int flags);

int
pipe2(int fds[2], int flags)
{
    (void)flags;
    fds[0] = fds[1] = -1;
    return -1;
}
