/* SPDX-License-Identifier: MIT */
/*
 * libunwind_stub.c -- what the private copy of libunwind is given in place of
 * five names that it refers to. The build renames its references.
 */
#include <signal.h>
#include <stddef.h>

#include "base/sys.h"
#include "poison.h"

int _Ux86_64_setcontext(const void *context);
void *libunwind_stub_calloc(size_t count, size_t size);
void libunwind_stub_free(void *memory);
int libunwind_stub_pipe2(int fds[2], int flags);
int libunwind_stub_sigprocmask(int how, const sigset_t *set, sigset_t *old);

/* Resumes a thread at a frame: only the local half has it, and it is asked for
 * nowhere here. Never called. */
int
_Ux86_64_setcontext(const void *context)
{
    (void)context;
    return -1;
}

/* The local half checks memory through a pipe, which it makes as soon as an
 * address space is made: two descriptors that the program would find. Without
 * them it would use mincore; here nobody asks it. */
int
libunwind_stub_pipe2(int fds[2], int flags)
{
    (void)flags;
    fds[0] = fds[1] = -1;
    return -1;
}

/* The address space, which is made once and for good. The program's allocator
 * may be in use by a thread that believes to be the only one. */
void *
libunwind_stub_calloc(size_t count, size_t size)
{
    return sys_reserve(count * size);
}

/* Called only where the calloc of before has failed halfway. */
void
libunwind_stub_free(void *memory)
{
    (void)memory;
}

/* Each step would block all signals and unblock them again: two system calls.
 * The sampler has all of them blocked for good. */
int
libunwind_stub_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)how;
    (void)set;
    if (old != NULL)
        sigemptyset(old);
    return 0;
}
