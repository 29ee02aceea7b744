/* SPDX-License-Identifier: MIT */
/*
 * sys.h -- the system calls of the suspended window, each by its own name. They
 * return what the kernel returns (-errno on failure), and leave errno alone.
 * They are no cancellation points, and may be called from
 * any context.
 */
#ifndef BASE_SYS_H
#define BASE_SYS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "arch.h"

/* sys_call(number, arguments...): a system call with up to six arguments, which
 * are numbers or addresses. Missing ones are 0. */
#define SYS_SIX(number, a, b, c, d, e, f, ...)                         \
    arch_syscall((number), (long)(a), (long)(b), (long)(c), (long)(d), \
                 (long)(e), (long)(f))
#define sys_call(...) SYS_SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* Wait until *WORD is no longer VALUE, another thread wakes this one, or it is
 * UNTIL (CLOCK_MONOTONIC, ns). futex(2), FUTEX_WAIT_BITSET. */
long sys_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t until);

/* Wake up to COUNT waiters. */
long sys_futex_wake(_Atomic uint32_t *word, int count);

/* Queue signal SIGNO with CODE (< 0) and VALUE to thread TID of process PID,
 * which must be this one. rt_tgsigqueueinfo(2), Linux 2.6.31. */
long sys_queue_signal(pid_t pid, pid_t tid, int signo, int code,
                      uint64_t value);

/* Send SIGNO to process PID; 0: only ask whether it is there. kill(2). */
long sys_kill(pid_t pid, int signo);

/* Copy LENGTH bytes at ADDRESS of this process to TO without faulting: up to
 * the first byte that cannot be read. Returns the number of bytes copied, or
 * -errno. process_vm_readv(2) on the calling thread, or /proc/thread-self/mem
 * where that is denied. The main thread's memory is out of reach once it has
 * ended. */
long sys_read_memory(void *to, uint64_t address, size_t length);

/* As sys_read_memory. Returns whether all LENGTH bytes were copied. */
static inline bool
sys_copy_memory(void *to, uint64_t address, size_t length)
{
    return sys_read_memory(to, address, length) == (long)length;
}

/* The word at ADDRESS, read as sys_read_memory does; 0 if it cannot be read. */
uint64_t sys_read_word(uint64_t address);

/* Copy SIZE bytes at each of COUNT ADDRESSES to TO, one after the other, as
 * sys_read_memory does, but with a single system call. Returns how many of them
 * come before the first one that cannot be read. COUNT is at most
 * SYS_READS_MOST. */
#define SYS_READS_MOST 16u
unsigned sys_read_memories(void *to, const uint64_t *addresses, unsigned count,
                           size_t size);

/* How many of LENGTH bytes from ADDRESS on come before a page that is not
 * mapped or not in memory. Reading such a page may wait, without limit, for a
 * thread that supplies it (userfaultfd(2)). LENGTH if the kernel does not
 * say. */
size_t sys_present(uint64_t address, size_t length);

/* Whether anything is mapped at ADDRESS. mincore(2). */
bool sys_is_mapped(uint64_t address);

/* As sys_read_memory, if all LENGTH bytes are in memory; -EFAULT if not. */
long sys_read_present(void *to, uint64_t address, size_t length);

/* Whether the 8 bytes at ADDRESS can be read now. It is one system call that
 * takes no lock and is a fraction of what sys_read_memory costs. False if the
 * kernel does not look at the address, as an emulator may do. */
bool sys_can_load(uint64_t address);

/* Whether the kernel can read, or write, the signal set at ADDRESS; the call
 * may change the set. One system call each. */
bool sys_can_read_set(const void *address);
bool sys_can_write_set(void *address);

/* From now on both answer yes for every address but NULL, without a system
 * call. */
void sys_believe_sets(void);

/* Change the calling thread's mask by the signals in SET (signal N is bit N -
 * 1) as HOW says. *OLD becomes the mask before, unless OLD is NULL.
 * rt_sigprocmask(2). */
long sys_mask(int how, uint64_t set, uint64_t *old);

/* A disposition as the kernel has it (rt_sigaction(2)), of all signals alike;
 * HANDLER is SIG_DFL, SIG_IGN or a function. */
struct sys_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};
long sys_get_action(int signo, struct sys_action *action);
long sys_set_action(int signo, const struct sys_action *action);

pid_t sys_getpid(void);
pid_t sys_gettid(void);
uid_t sys_geteuid(void);

/* Directory entries of descriptor FD into BUFFER. getdents64(2). */
long sys_getdents(int fd, void *buffer, size_t size);

/* open(2) read-only with O_CLOEXEC, read(2), close(2): without errno and
 * without cancellation. */
long sys_open(const char *path, int flags);
long sys_read(int fd, void *buffer, size_t size);
void sys_close(int fd);

/* As sys_read, from OFFSET on. pread64(2). */
long sys_read_at(int fd, void *buffer, size_t size, uint64_t offset);

/* Read the first SIZE - 1 bytes of a file of /proc into BUFFER, NUL-terminated.
 * One read(2) is enough: files with one record (stat, status, syscall, comm,
 * cmdline) give it whole. Returns their number, or -errno. With _AT, PATH is
 * relative to the directory DIRECTORY (openat(2)). */
long sys_read_file(const char *path, char *buffer, size_t size);
long sys_read_file_at(int directory, const char *path, char *buffer,
                      size_t size);

/* How many names FD has, or -errno. fstat(2). */
long sys_count_links(int fd);

/* stat(2), which has a hook. Returns 0 or -errno. */
struct stat;
long sys_stat(const char *path, struct stat *status);

/* The CLONE_NEW... of the namespace FD (ioctl_ns(2)), 0 if FD is no
 * namespace. */
long sys_namespace_type(int fd);

/* Let the next sys_read or sys_getdents of FD begin at OFFSET. Returns OFFSET,
 * or -errno. lseek(2). */
long sys_seek(int fd, uint64_t offset);

/* Read the target of the symbolic link PATH in DIRECTORY, NUL-terminated.
 * Returns its length, or -errno. readlinkat(2). */
long sys_read_link_at(int directory, const char *path, char *buffer,
                      size_t size);

/* Map SIZE bytes with ACCESS, FLAGS, FD and OFFSET of mmap(2). Returns their
 * address, or -errno. All that this file maps lies in ranges of addresses that
 * are reserved for it, the first one at the start. A program may rely on an
 * address range that it has just unmapped, and map it again (MAP_FIXED,
 * shmat(2), or a stack that grows). */
long sys_map(size_t size, int access, int flags, int fd, uint64_t offset);

/* SIZE bytes of zeroed private memory, reserved but touched only when used, or
 * NULL. sys_release gives back this memory and what sys_map has mapped. It
 * takes the same SIZE. */
void *sys_reserve(size_t size);
void sys_release(void *memory, size_t size);

/* The same for a stack: below it is a page that cannot be touched. It is never
 * given back. */
void *sys_reserve_stack(size_t size);

/* The same for memory that a forked child begins anew. The child finds the
 * memory zeroed, and neither a fork nor a write after it copies any of it.
 * MADV_WIPEONFORK of madvise(2), Linux 4.14; older kernels let the child
 * inherit it. */
void *sys_reserve_for_one(size_t size);

/* The same with all pages in memory at once, for memory that will be written as
 * a whole. A page that is first read and then written costs two faults. The
 * second one stops every CPU that runs the program. */
void *sys_reserve_present(size_t size);

/* Bring the SIZE bytes at MEMORY, which sys_reserve_for_one has reserved, into
 * memory in the same way. Their contents stay. MADV_POPULATE_WRITE of
 * madvise(2), Linux 5.14; with an older kernel this does nothing. */
void sys_populate(void *memory, size_t size);

/* Set MEMORY, SIZE bytes of sys_reserve_for_one, to zero. If MEMORY is NULL,
 * reserve it; only then the result may be NULL. */
void *sys_renew(void *memory, size_t size);

#endif
