/* SPDX-License-Identifier: MIT */
/*
 * symbolizer.h -- from an address in a module to a function, file and line.
 * Report side only: libdw finds and decodes the files, an index of our own
 * answers: symbols sorted once a module, line tables and functions once a unit
 * and only for units that were hit. Allocates. Not thread-safe.
 */
#ifndef SYMBOL_SYMBOLIZER_H
#define SYMBOL_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer;

struct symbol_frame {
    const char *function; /* demangled, as options say; never NULL */
    const char *linkage;  /* as in the symbol table; never NULL */
    const char *file;     /* "" if unknown */
    unsigned line;        /* 0 if unknown */
    unsigned start_line;  /* of the function's declaration, 0 if unknown */
};

/* What one address means: frames[0] is the innermost inlined function,
 * frames[count - 1] the one that owns the code. named is false where no symbol
 * covers the address: then there is one frame, called "module+0xoffset", where
 * the offset is that of the function's beginning if the file tells it. */
struct symbol {
    unsigned count;
    bool named;
    const struct symbol_frame *frames;
};

struct symbolizer_options {
    bool inlines;            /* SPROF_INLINES */
    bool full_names;         /* of functions, see enum demangle_form */
    unsigned server_seconds; /* for debuginfod servers; 0: no limit */
};

/* Returns NULL with errno set if memory is short. */
struct symbolizer *symbolizer_new(const struct symbolizer_options *options);

/*
 * Make a module known under ID (> 0, as in the spool). PATH is the ELF file;
 * BUILD_ID of LENGTH bytes (may be 0) is what was mapped: a file whose
 * build-id differs is not used, and symbolizer_problem says so. Nothing is
 * opened before an address of the module is asked for.
 */
void symbolizer_add(struct symbolizer *symbolizer, uint32_t id,
                    const char *path, const uint8_t *build_id, size_t length);

/* The file of module ID can (still) be read at COPY, and is no longer at its
 * path. To be told before the first symbolizer_find of the module. */
void symbolizer_add_copy(struct symbolizer *symbolizer, uint32_t id,
                         const char *copy);

/*
 * The meaning of OFFSET (an address in the ELF file's numbering; the caller has
 * taken 1 from a return address) in module ID; ID 0 or an unknown one gives
 * "0xoffset". Never NULL; stable until symbolizer_free; equal questions give
 * the same pointer.
 */
const struct symbol *symbolizer_find(struct symbolizer *symbolizer, uint32_t id,
                                     uint64_t offset);

/* What will be asked of symbolizer_find. */
struct symbol_question {
    uint32_t id;
    uint64_t offset;
};

/*
 * Get ready for COUNT questions, which are put in another order: where they are
 * of several modules, and there are several CPUs, these are read at the same
 * time. Whatever is not ready then, symbolizer_find finds out as ever.
 */
void symbolizer_expect(struct symbolizer *symbolizer,
                       struct symbol_question *questions, size_t count);

/* The debug information of all files together is to take NS, by an estimate:
 * where there is more, functions have names by their symbols, and no file, line
 * or inlined call. To be told before symbolizer_expect. */
void symbolizer_limit(struct symbolizer *symbolizer, uint64_t ns);

/* A sentence for a module whose file was missing, replaced or damaged; NULL if
 * all is well or it was never asked for. */
const char *symbolizer_problem(const struct symbolizer *symbolizer,
                               uint32_t id);

/* Whether the module has a symbol table, and line information (false before
 * its first symbolizer_find). */
bool symbolizer_has_symbols(const struct symbolizer *symbolizer, uint32_t id);
bool symbolizer_has_lines(const struct symbolizer *symbolizer, uint32_t id);

void symbolizer_free(struct symbolizer *symbolizer);

#endif
