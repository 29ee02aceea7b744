/* SPDX-License-Identifier: MIT */
/* spool_script.h -- the functions of interpreters, as a spool defines them. */
#ifndef READ_SPOOL_SCRIPT_H
#define READ_SPOOL_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"
#include "util/intern.h"

/* The functions of one spool. All zero: none yet. */
struct spool_scripts {
    struct intern ids;                 /* with numbers in FUNCTIONS */
    struct script_function *functions; /* spool_script.c */
    struct intern lines;               /* with numbers in SYMBOLS */
    const struct symbol **symbols;
};

/* Add the function of RECORD. Returns 0; 1 if it makes no sense, or -1 if
 * memory is short. */
int spool_script_add(struct spool_scripts *scripts, struct profile *profile,
                     const struct record_script *record);

/* The symbol of the function ID at the byte OFFSET of its code. The same line
 * has the same symbol. An ID that is not defined has one that says so. NULL if
 * memory is short. */
const struct symbol *spool_script_symbol(struct spool_scripts *scripts,
                                         struct profile *profile, uint32_t id,
                                         int64_t offset);

/* Whether the function ID is one of PHP. */
bool spool_script_is_php(const struct spool_scripts *scripts, uint32_t id);

/* Free what was noted; symbols are the profile's. */
void spool_script_release(struct spool_scripts *scripts);

#endif
