/* SPDX-License-Identifier: MIT */
/*
 * chunk.h -- one stretch of the spool's file: reserved on the disk, then
 * mapped. Used by writer.c alone, on the sampler thread (the first chunk also
 * on the thread that starts the profiler).
 */
#ifndef STORE_CHUNK_H
#define STORE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

/* The file that chunks belong to. It is opened by path for each chunk, and
 * known again by what it was at its creation; or it is KEPT open, where no
 * program can close it. */
struct chunk_file {
    const char *path;
    uint64_t device, inode;
    int kept; /* descriptor, 0 for none */
};

struct chunk {
    unsigned char *map;
    size_t size; /* a multiple of the page size */
};

/*
 * Create FILE->path, learn what it is, and reserve and map its first
 * CHUNK->size bytes, which are zero. Returns 0, or -1 with errno set; then no
 * file is left that was not there before.
 * Context: any thread that may run system calls. Not safe in signals. Locks:
 * none.
 */
int chunk_create(struct chunk_file *file, struct chunk *chunk);

/*
 * Keep FILE open from now on, so that neither a change of user nor a limit of
 * descriptors ends it. Without effect if it cannot be opened.
 * Locked (flock(2)), so that who finds the file sees that it is in use,
 * whatever process ids mean to him. Context: a thread with a descriptor table
 * of its own, which makes all later calls. Locks: none.
 */
void chunk_keep(struct chunk_file *file);

/*
 * Reserve and map CHUNK->size bytes of FILE from OFFSET, its end. Returns 0, or
 * -1 with errno set: ESTALE if the file is not at its path any more, EFBIG if
 * RLIMIT_FSIZE forbids it, else the kernel's reason.
 * Context: sampler thread. Not safe in signals. Locks: none.
 */
int chunk_extend(const struct chunk_file *file, uint64_t offset,
                 struct chunk *chunk);

/* Give back the memory of CHUNK; its bytes stay readable and writable, at the
 * price of a page fault. */
void chunk_retire(const struct chunk *chunk);

/* End the mapping. */
void chunk_unmap(const struct chunk *chunk);

/* Close FILE if it is kept open. errno is kept. */
void chunk_release(struct chunk_file *file);

/* Cut FILE to SIZE bytes. Returns 0, or -1 with errno set as above. */
int chunk_cut(const struct chunk_file *file, uint64_t size);

#endif
