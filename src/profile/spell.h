/* SPDX-License-Identifier: MIT */
/*
 * spell.h -- names of functions that came with a profile, in a pprof file or a
 * spool: whoever wrote it may have chosen another form (enum demangle_form).
 * Names that come from ELF files are the symbolizer's.
 */
#ifndef PROFILE_SPELL_H
#define PROFILE_SPELL_H

struct profile;

/*
 * The name to show for a function that the file calls NAME and that is LINKAGE
 * in its symbol table, both strings of PROFILE: if LINKAGE is mangled, made
 * from that as profile->full_names says, else NAME. NULL if memory is short.
 */
const char *spell_function(struct profile *profile, const char *name,
                           const char *linkage);

/* Forget what is known; the names stay. */
void spell_end(struct profile *profile);

#endif
