/* SPDX-License-Identifier: MIT */
/*
 * libunwind_stub.c -- functions that replace some of those to which the private
 * copy of libunwind refers. The build renames its references.
 */
#include <libunwind.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "base/sys.h"
#include "base/poison.h"

int UNW_ARCH_OBJ(setcontext)(const void *context);
void *libunwind_stub_calloc(size_t count, size_t size);
void libunwind_stub_free(void *memory);
int libunwind_stub_pipe2(int fds[2], int flags);
void *libunwind_stub_mmap(void *at, size_t size, int access, int flags, int fd,
                          off_t offset);
int libunwind_stub_lock(void *mutex);
int libunwind_stub_unlock(void *mutex);
int libunwind_stub_sigprocmask(int how, const sigset_t *set, sigset_t *old);

/* Resumes a thread at a frame. Only the local half of libunwind has this
 * function. It is never called. */
int
UNW_ARCH_OBJ(setcontext)(const void *context)
{
    (void)context;
    return -1;
}

/* The local half checks memory through a pipe. It makes the pipe as soon as an
 * address space is made: two descriptors that the program would find. Without
 * them it would use mincore. Here it never has to check memory. */
int
libunwind_stub_pipe2(int fds[2], int flags)
{
    (void)flags;
    fds[0] = fds[1] = -1;
    return -1;
}

/* Memory of the address space, which is made once and kept. The program's
 * allocator may be in use by a thread that believes it is the only one. */
void *
libunwind_stub_calloc(size_t count, size_t size)
{
    return sys_reserve(count * size);
}

/* Called only where an earlier calloc has failed halfway. */
void
libunwind_stub_free(void *memory)
{
    (void)memory;
}

/* The function of that name is a hook. The place argument is never used. */
void *
libunwind_stub_mmap(void *at, size_t size, int access, int flags, int fd,
                    off_t offset)
{
    (void)at;
    long result = sys_map(size, access, flags, fd, (uint64_t)offset);
    return result < 0 && result >= -4095 ? MAP_FAILED : (void *)result;
}

/* Each step would block all signals and unblock them again: two system calls.
 * The sampler always has all of them blocked. */
int
libunwind_stub_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)how;
    (void)set;
    if (old != NULL)
        sigemptyset(old);
    return 0;
}

/* The sampler is the only thread that takes libunwind's locks. A lock that was
 * taken at the instant of a fork would stay locked in the child for ever. */
int
libunwind_stub_lock(void *mutex)
{
    (void)mutex;
    return 0;
}

int
libunwind_stub_unlock(void *mutex)
{
    (void)mutex;
    return 0;
}
