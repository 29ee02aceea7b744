/* SPDX-License-Identifier: MIT */
/*
 * clean.h -- makes strings from spools and symbol tables fit to be shown. They
 * come from outside: a thread may be named with terminal escapes, a damaged
 * symbol table may hold anything.
 */
#ifndef PROFILE_CLEAN_H
#define PROFILE_CLEAN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

/* How many bytes at the start of TEXT are clean: whole characters of valid
 * UTF-8, no control characters, none that is in FORBIDDEN. */
size_t clean_length(const char *text, const char *forbidden);

/*
 * Put RAW into INTERN with a '?' for each control byte, each byte that is not
 * part of valid UTF-8 and each byte that is in FORBIDDEN. Returns its number,
 * INTERN_NONE if memory is short.
 */
uint32_t clean_put(struct intern *intern, const char *raw,
                   const char *forbidden);

#endif
