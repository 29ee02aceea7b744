/* SPDX-License-Identifier: MIT */
/*
 * file_kind.h -- recognises files that are neither spools nor pprof files.
 * Users pass files of other profilers, the program itself, or a page that a
 * server sent.
 */
#ifndef READ_FILE_KIND_H
#define READ_FILE_KIND_H

#include <stddef.h>

/* FILE_KIND_BYTES: bytes from the beginning of a file that are looked at. */
enum { FILE_KIND_BYTES = 4096 };

/*
 * Describe a file that begins with the LENGTH bytes at HEAD in TEXT of SIZE
 * bytes: "it looks like perf.data, which `perf report` reads". "" if the kind
 * is unknown. For a gzip file it describes the content.
 */
void file_kind(const void *head, size_t length, char *text, size_t size);

#endif
