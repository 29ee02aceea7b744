/* SPDX-License-Identifier: MIT */
/*
 * spool_file.h -- the file of a spool, as the profiled process uses it: it is
 * created, reserved on the disk and written. It is never mapped. If a mapped
 * file is shortened, the program's next access raises SIGBUS. Functions that
 * return -1 say why in errno. One thread at a time uses a file. Context: any
 * thread.
 */
#ifndef STORE_SPOOL_FILE_H
#define STORE_SPOOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The file is opened by its path for each use, and recognized by its device and
 * inode. Or it is kept open, in a descriptor table that the program lacks. */
struct spool_file {
    const char *path;
    uint64_t device, inode;
    uint64_t size; /* bytes that are reserved; the file has at least as many */
    int kept;      /* the descriptor of a file that is kept open, or -1 */
};

/* The system call NUMBER with its arguments, as syscall(2) makes it: -1 with
 * errno on failure. The library defines syscall itself, as a hook. */
long spool_file_call(long number, long a, long b, long c, long d, long e);

/* Whether the program's RLIMIT_FSIZE lets a file have END bytes. Beyond it a
 * signal would end the program (setrlimit(2)). Context: any. */
bool spool_file_may_have(uint64_t end);

/*
 * Create FILE->path, note in FILE what it is, and reserve its first SIZE bytes,
 * which are zero. Returns 0, or -1; then no new file is left.
 *
 * With KEEPS_OPEN it stays open: a change of user, a limit of descriptors or
 * its removal does not end it. It is also locked (flock(2)), which shows that
 * it is in use, even to readers in another PID namespace. The calling thread
 * then has a descriptor table of its own, and makes all later calls.
 */
int spool_file_create(struct spool_file *file, uint64_t size, bool keeps_open);

/* Give FILE, which is kept open, the lowest number that is free. Descriptors
 * that are opened later and closed in one call must lie above it. */
void spool_file_lower(struct spool_file *file);

/* Let the kernel's list of mappings name FILE, which is not kept open: map one
 * page of it that no thread can access and that takes no memory. The mapping
 * stays until the process ends. */
void spool_file_show(const struct spool_file *file);

/* spool_file_open returns a descriptor of FILE, or -1: ESTALE if the file is
 * neither kept open nor at its path. spool_file_close ends its use and keeps
 * errno. */
int spool_file_open(const struct spool_file *file);
void spool_file_close(const struct spool_file *file, int fd);

/* Reserve SIZE bytes in all. Returns 0, or -1: EFBIG if RLIMIT_FSIZE forbids
 * it, else as spool_file_open. */
int spool_file_reserve(struct spool_file *file, uint64_t size);

/* Whether a reader that follows FILE holds its lock (reader_follow). Returns
 * false if that is not known. */
bool spool_file_is_followed(const struct spool_file *file);

/* Write LENGTH bytes at OFFSET to FD. Returns 0, or -1; then some bytes may be
 * written. A breach of RLIMIT_FSIZE is EFBIG, and SIGXFSZ, which the calling
 * thread has blocked. */
int spool_file_write(int fd, const void *bytes, size_t length, uint64_t offset);

/* Whether FILE, open as FD, was shortened by another process. */
bool spool_file_is_short(const struct spool_file *file, int fd);

/* Whether FILE, which is kept open, has no name any more. */
bool spool_file_is_removed(const struct spool_file *file);

/* Whether FILE, which is kept open, was removed or moved. Returns false if that
 * is not known. */
bool spool_file_is_away(const struct spool_file *file);

/* If FILE is away, put a copy of it at its path and use the copy from now on. A
 * file that was moved stays as it is. Returns 0, or -1 with FILE as it was:
 * EEXIST if another file has its path. */
int spool_file_put_back(struct spool_file *file);

/* Give the file at PATH the name PAST, and the file at NEXT the name PATH: see
 * writer_succeed. Returns 0, or -1 with all names as they were. */
int spool_file_succeed(const char *path, const char *next, const char *past);

/* Remove the file at PATH, if there is one. errno is kept. */
void spool_file_remove(const char *path);

/* Cut FILE to SIZE bytes. Returns 0, or -1 as spool_file_open. */
int spool_file_cut(struct spool_file *file, uint64_t size);

/* Give FILE, which the superuser has made, to user UID. That user can then read
 * and remove it. Does nothing if that is not possible. */
void spool_file_give(const struct spool_file *file, uid_t uid);

/* Close FILE if it is kept open. errno is kept. */
void spool_file_release(struct spool_file *file);

#endif
