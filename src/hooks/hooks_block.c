/* SPDX-License-Identifier: MIT */
/*
 * hooks_block.c -- the functions of libc that wait for files, sockets, time and
 * other threads; see hooks.c for hooks in general. Each notes where the thread
 * stands (capture/waiting.h), and calls the real function. Those that wait
 * under a mask of signals are in hooks_wait.c.
 *
 * pthread_mutex_lock and sem_wait have no hook: most locks are free, and a hook
 * would then take as long as the lock.
 *
 * A library of the program may have a function of such a name for itself (send,
 * sleep), and the loader prefers the hook. So a hook passes on whole registers,
 * whatever they hold, and this file is compiled separately (CMakeLists.txt).
 * All of these functions have at most six arguments.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "capture/waiting.h"
#include "libc/real.h"
#include "unwind/own_frames.h"
#include "hook.h"

typedef long block_function(long, long, long, long, long, long);

/* Define the hook on NAME. It calls the function FOUND, unless the statement
 * EARLY has returned. */
#define BLOCKS(name, found, early)                                        \
    block_function hook_##name __asm__(#name);                            \
    HOOK long hook_##name(long a, long b, long c, long d, long e, long f) \
    {                                                                     \
        block_function *real = (found);                                   \
        early;                                                            \
        struct waiting waiting;                                           \
        struct regs at;                                                   \
        waiting_at(&at, (const void *)real);                              \
        waiting_begin(&waiting, &at);                                     \
        long result = real(a, b, c, d, e, f);                             \
        waiting_end(&waiting);                                            \
        return result;                                                    \
    }

static long
no_function(void)
{
    errno = ENOSYS;
    return -1;
}

#define MAY_WAIT(name)                            \
    BLOCKS(name, REAL_AS(block_function *, name), \
           if (real == NULL) return no_function())

/* The same for a system call that an allocator may make, or libunwind in this
 * library. Before real_begin it is made directly, because a search for the
 * function would allocate (real.h). For this library it is always made
 * directly, because another module may have a function of that name
 * (libc/system_calls.c). */
#define CALL_MAY_WAIT(name, number)                               \
    BLOCKS(name, REAL_FOUND_AS(block_function *, name),           \
           if (real == NULL ||                                    \
               own_frames_has((uint64_t)__builtin_return_address( \
                   0))) return real_direct(number, a, b, c, d, e, f))

/* Files. With _FORTIFY_SOURCE the headers replace some functions by names with
 * _chk. */
CALL_MAY_WAIT(read, SYS_read)
MAY_WAIT(__read_chk)
CALL_MAY_WAIT(pread, SYS_pread64)
CALL_MAY_WAIT(pread64, SYS_pread64)
MAY_WAIT(__pread_chk)
MAY_WAIT(__pread64_chk)
CALL_MAY_WAIT(readv, SYS_readv)
MAY_WAIT(preadv)
MAY_WAIT(preadv64)
CALL_MAY_WAIT(write, SYS_write)
MAY_WAIT(pwrite)
MAY_WAIT(pwrite64)
CALL_MAY_WAIT(writev, SYS_writev)
MAY_WAIT(pwritev)
MAY_WAIT(pwritev64)
MAY_WAIT(fsync)
MAY_WAIT(fdatasync)
MAY_WAIT(sendfile)
MAY_WAIT(sendfile64)

/* Sockets. */
MAY_WAIT(recv)
MAY_WAIT(__recv_chk)
MAY_WAIT(recvfrom)
MAY_WAIT(recvmsg)
MAY_WAIT(send)
MAY_WAIT(sendto)
MAY_WAIT(sendmsg)
MAY_WAIT(accept)
MAY_WAIT(accept4)
MAY_WAIT(connect)

/* Many files and sockets at once. */
MAY_WAIT(poll)
MAY_WAIT(__poll_chk)
MAY_WAIT(select)
MAY_WAIT(epoll_wait)

/* Time. */
CALL_MAY_WAIT(nanosleep, SYS_nanosleep)
MAY_WAIT(clock_nanosleep)
MAY_WAIT(usleep)
MAY_WAIT(sleep)
MAY_WAIT(thrd_sleep)

/* Other threads. */
MAY_WAIT(pthread_cond_wait)
MAY_WAIT(pthread_cond_timedwait)
MAY_WAIT(pthread_cond_clockwait)
MAY_WAIT(cnd_wait)
MAY_WAIT(cnd_timedwait)
MAY_WAIT(sem_timedwait)
MAY_WAIT(sem_clockwait)
