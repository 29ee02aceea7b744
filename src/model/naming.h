/* SPDX-License-Identifier: MIT */
/*
 * naming.h -- the symbols of a profile's nodes. The names of all frames are
 * looked up when the first of them is to be shown.
 */
#ifndef MODEL_NAMING_H
#define MODEL_NAMING_H

#include "symbol/generated_code.h"
#include "profile.h"

/*
 * Return the symbol of NODE (> 0): its function and those inlined there. A
 * marker has one function with a name in brackets. The first call for a frame
 * looks up the names of all samples' frames, which may take long. Never NULL.
 * Equal places give the same pointer. It is valid until profile_free; that of
 * generated code only until naming_forget.
 */
const struct symbol *naming_symbol(struct profile *profile, uint32_t node);

/* What a node is shown as in place of its symbol (folding.h). */
enum naming_mark {
    NAMING_OWN,            /* no mark */
    NAMING_UNKNOWN_SCRIPT, /* an unknown function of Python */
    NAMING_COLLECTOR,      /* collection of garbage */
    /* Code of the C library without a name, from which a stack begins. No node
     * stores these two. */
    NAMING_THREAD_START,
    NAMING_PROGRAM_START,
};

/* The symbol of NODE without regard to its mark, with all inlined functions. */
const struct symbol *naming_own_symbol(struct profile *profile, uint32_t node);

/* The process of NODE. NULL if it has none. */
struct profile_process *naming_process(const struct profile *profile,
                                       uint32_t node);

/* The markers, with the names that are shown for them. */
enum { NAMING_MARKERS = 5 };
extern const struct naming_marker {
    struct symbol symbol;
    struct symbol_frame frame;
    uint32_t node;  /* its only node; 0: any with FLAGS */
    uint32_t flags; /* enum node_flags */
} naming_markers[NAMING_MARKERS];

/* The time limit, in ns, for reading names of a profile that spares them. */
uint64_t naming_budget(const struct profile *profile);

/* A sentence that says why file I with names of generated code of process
 * NUMBER exists but is not used, or only in part. I is from 0 to NAMING_FILES -
 * 1; 0 is the perf map. NULL if the file is in use, does not exist, or was
 * never asked for.
 */
enum { NAMING_FILES = GENERATED_CODE_FILES + 1 };
const char *naming_problem(const struct profile *profile, uint32_t number,
                           unsigned i);

/*
 * For processes that still run. naming_has_news: whether a file with names has
 * changed since it was opened. naming_forget: drop all such files and their
 * names, so that they are read again. The caller must not hold such a symbol.
 */
bool naming_has_news(const struct profile *profile);
void naming_forget(struct profile *profile);

/*
 * Return the name to show for a function that came with a profile, in a pprof
 * file or a spool. Its writer may have chosen another form (enum
 * demangle_form). The file calls it NAME, and its symbol table calls it
 * LINKAGE, both strings of PROFILE. If LINKAGE is mangled, the name is made
 * from it as profile->full_names says; else it is NAME. NULL if memory is
 * short.
 */
const char *naming_spell(struct profile *profile, const char *name,
                         const char *linkage);

#endif
