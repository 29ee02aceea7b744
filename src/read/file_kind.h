/* SPDX-License-Identifier: MIT */
/*
 * file_kind.h -- recognises files that are neither spools nor pprof files.
 * Users may by mistake pass files of other profilers, the program itself, or a
 * web page.
 */
#ifndef READ_FILE_KIND_H
#define READ_FILE_KIND_H

#include <stddef.h>

/* FILE_KIND_BYTES limits the part of a file that is looked at, in bytes from
 * the beginning. */
enum { FILE_KIND_BYTES = 4096 };

/*
 * Write a description of a file to TEXT of SIZE bytes: "it looks like
 * perf.data, which `perf report` reads". The file begins with the LENGTH bytes
 * at HEAD. TEXT is "" if the kind is unknown. For a gzip file, TEXT describes
 * the content.
 */
void file_kind(const void *head, size_t length, char *text, size_t size);

#endif
