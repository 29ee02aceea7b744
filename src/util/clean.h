/* SPDX-License-Identifier: MIT */
/*
 * clean.h -- makes strings from spools and symbol tables fit to be shown. They
 * come from outside. A thread may have terminal escapes in its name, and a
 * damaged symbol table may hold anything.
 */
#ifndef UTIL_CLEAN_H
#define UTIL_CLEAN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

/* Returns how many bytes at the start of TEXT are clean: whole characters of
 * valid UTF-8, no control characters, and none that is in FORBIDDEN. */
size_t clean_length(const char *text, const char *forbidden);

/*
 * Put RAW into INTERN. A '?' replaces each control byte, each byte that is not
 * part of valid UTF-8 and each byte that is in FORBIDDEN. Returns its number,
 * or INTERN_NONE if memory is short.
 */
uint32_t clean_put(struct intern *intern, const char *raw,
                   const char *forbidden);

/* As printf: a sentence that contains texts from outside. A '?' replaces each
 * control character. The caller frees it. NULL if memory is short. */
__attribute__((format(printf, 1, 2))) char *clean_format(const char *format,
                                                         ...);

#endif
