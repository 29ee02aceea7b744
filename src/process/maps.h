/* SPDX-License-Identifier: MIT */
/*
 * maps.h -- reads /proc/self/maps line by line, without allocation or stdio.
 * The kernel hands out whole lines; the list is consistent within one read
 * and may change between two (proc(5)).
 */
#ifndef PROCESS_MAPS_H
#define PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
    uint64_t start, end, offset, device, inode;
    bool readable, writable, executable;
    bool deleted; /* the path ends in MAPS_DELETED; so may a file's own name */
    const char *path; /* "" if anonymous; valid until the next call */
};

/* The text that the kernel adds to the path of a file that no longer has a name
 * (proc_pid_maps(5)). */
#define MAPS_DELETED " (deleted)"

#define MAPS_BUFFER 16384

struct maps {
    int fd;
    bool is_emulated; /* see maps_begin_emulated */
    size_t at, filled;
    char buffer[MAPS_BUFFER];
};

/* Returns 0, or -1 if the file cannot be opened. */
int maps_begin(struct maps *maps);

/* The same if no executable mapping was found: an emulator of this same
 * processor runs the program (qemu-user), and need not map its code as
 * executable. Readable mappings of a file count as executable then. */
int maps_begin_emulated(struct maps *maps);

/* The next mapping, in order of address. Returns 1, or 0 at the end. */
int maps_next(struct maps *maps, struct mapping *mapping);

void maps_end(struct maps *maps);

#endif
