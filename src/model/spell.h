/* SPDX-License-Identifier: MIT */
/*
 * spell.h -- how to show names of functions that came with a profile, in a
 * pprof file or a spool. Its writer may have chosen another form (enum
 * demangle_form). Names from ELF files are the symbolizer's.
 */
#ifndef MODEL_SPELL_H
#define MODEL_SPELL_H

struct profile;

/*
 * Return the name to show for a function that the file calls NAME and that its
 * symbol table calls LINKAGE, both strings of PROFILE. If LINKAGE is mangled,
 * the name is made from it as profile->full_names says; else it is NAME. NULL
 * if memory is short.
 */
const char *spell_function(struct profile *profile, const char *name,
                           const char *linkage);

#endif
