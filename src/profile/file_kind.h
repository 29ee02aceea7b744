/* SPDX-License-Identifier: MIT */
/*
 * file_kind.h -- what a file is that is no profile of ours: people give us what
 * another profiler wrote, the program itself, or a page that a server sent.
 */
#ifndef PROFILE_FILE_KIND_H
#define PROFILE_FILE_KIND_H

#include <stddef.h>

/* So many bytes from the beginning of a file are enough. */
enum { FILE_KIND_BYTES = 4096 };

/*
 * Write "it looks like perf.data, which `perf report` reads" for a file that
 * begins with the LENGTH BYTES at HEAD to TEXT of SIZE bytes, or "" if it looks
 * like nothing that is known. Of a compressed file, what is in it is told.
 */
void file_kind(const void *head, size_t length, char *text, size_t size);

#endif
