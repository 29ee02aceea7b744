/* SPDX-License-Identifier: MIT */
/*
 * spool_file.h -- the file of a spool as the profiled process sees it: made,
 * reserved on the disk, written. It is never mapped: to shorten a mapped file
 * is to take memory from under the program, and SIGBUS. Used by writer.c alone,
 * on the sampler thread; the file may be made on the thread that starts the
 * profiler.
 */
#ifndef STORE_SPOOL_FILE_H
#define STORE_SPOOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The file is opened by path whenever it is used, and known again by what it
 * was at its creation; or it is KEPT open, where no program can close it. */
struct spool_file {
    const char *path;
    uint64_t device, inode;
    uint64_t size; /* bytes that are reserved: the file is no shorter */
    int kept;      /* descriptor, -1 for none */
};

/* Whether the program's RLIMIT_FSIZE lets a file have END bytes. Beyond it a
 * signal would end the program (setrlimit(2)). Safe in signals. */
bool spool_file_may_have(uint64_t end);

/*
 * Create FILE->path, learn what it is, and reserve its first SIZE bytes, which
 * are zero. Returns 0, or -1 with errno set; then no file is left that was not
 * there before.
 * KEEPS_OPEN: it stays open, so that neither a change of user nor a limit of
 * descriptors ends it, nor that it is removed; and locked (flock(2)), so that
 * who finds the file sees that it is in use, whatever process ids mean to him.
 * The caller may run system calls. With KEEPS_OPEN it has a descriptor table of
 * its own, and makes all later calls. It takes no lock, and is not safe in
 * signals. Context: any thread.
 */
int spool_file_create(struct spool_file *file, uint64_t size, bool keeps_open);

/* FILE, which is kept open, gets the lowest number that is free: others, which
 * are opened later and closed in one call, must lie above it. */
void spool_file_lower(struct spool_file *file);

/*
 * Where FILE cannot be kept open, let the kernel's list of mappings name it: a
 * page of it is mapped that nobody may touch, and that is no memory. Its end is
 * that of the process.
 */
void spool_file_show(const struct spool_file *file);

/*
 * A descriptor of FILE, and its end. -1 with errno set: ESTALE if the file is
 * not at its path any more and not kept open, else the kernel's reason. errno
 * is kept by the second.
 */
int spool_file_open(const struct spool_file *file);
void spool_file_close(const struct spool_file *file, int fd);

/* Reserve SIZE bytes in all. Returns 0, or -1 with errno set: EFBIG if
 * RLIMIT_FSIZE forbids it, else as above. */
int spool_file_reserve(struct spool_file *file, uint64_t size);

/*
 * Write LENGTH bytes at OFFSET to FD. Returns 0, or -1 with errno set, and some
 * of them may be there. A breach of RLIMIT_FSIZE is EFBIG, and SIGXFSZ, which
 * the calling thread has blocked.
 */
int spool_file_write(int fd, const void *bytes, size_t length, uint64_t offset);

/* Whether somebody has shortened FILE, open as FD. */
bool spool_file_is_short(const struct spool_file *file, int fd);

/* Whether FILE, which is kept open, has no name any more. */
bool spool_file_is_removed(const struct spool_file *file);

/* Whether FILE, which is kept open, is not at its path any more: somebody
 * removed or moved it. Where that cannot be told it is there. */
bool spool_file_is_away(const struct spool_file *file);

/* Where FILE is away, put a copy of it at its path, which is FILE from then on;
 * one that was moved stays there as it is. Returns 0, or -1 with errno set and
 * FILE as it was: EEXIST if there is another one at its path. */
int spool_file_put_back(struct spool_file *file);

/* Cut FILE to SIZE bytes. Returns 0, or -1 with errno set as above. */
int spool_file_cut(struct spool_file *file, uint64_t size);

/* FILE, which the superuser has made, becomes user UID's, who can read and
 * remove it then. Nothing if that is not possible. */
void spool_file_give(const struct spool_file *file, uid_t uid);

/* Close FILE if it is kept open. errno is kept. */
void spool_file_release(struct spool_file *file);

#endif
