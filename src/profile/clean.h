/* SPDX-License-Identifier: MIT */
/*
 * clean.h -- makes strings from spools and symbol tables fit to be shown. They
 * come from outside: a thread may be named with terminal escapes, a damaged
 * symbol table may hold anything.
 */
#ifndef PROFILE_CLEAN_H
#define PROFILE_CLEAN_H

#include <stdint.h>

struct intern;

/*
 * Put RAW into INTERN with a '?' for each control byte, each byte that is not
 * part of valid UTF-8 and each byte that is in FORBIDDEN. Returns its number,
 * INTERN_NONE if memory is short.
 */
uint32_t clean_put(struct intern *intern, const char *raw,
                   const char *forbidden);

#endif
