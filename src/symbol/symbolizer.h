/* SPDX-License-Identifier: MIT */
/*
 * symbolizer.h -- from an address in a module to a function, file and line.
 *
 * libdw finds and decodes the files. An index of our own gives the answers. It
 * sorts the symbols once for each module. It reads line tables and functions
 * once for each unit, and only for units that contain a sampled address. Report
 * side only. Allocates. Not thread-safe.
 */
#ifndef SYMBOL_SYMBOLIZER_H
#define SYMBOL_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector.h"

struct symbolizer;

struct symbol_frame {
    const char *function; /* demangled as the options say; never NULL */
    const char *linkage;  /* spelled as in the symbol table; never NULL */
    const char *file;     /* "" if unknown */
    unsigned line;        /* 0 if unknown */
    unsigned start_line;  /* line of the function's declaration; 0 if unknown */
};

/* The meaning of one address. frames[0] is the innermost inlined function, and
 * frames[count - 1] is the function that owns the code. NAMED is false if
 * neither a symbol nor the DWARF names that function. It is then called
 * "module+0xoffset". The offset is that of the function's beginning if the file
 * has it, else that of the address. */
struct symbol {
    unsigned count;
    bool named;
    const struct symbol_frame *frames;
    bool is_collector; /* by a profile, it collects an interpreter's garbage */
};

struct symbolizer_options {
    struct symbolizer *shared; /* use this one; NULL: make a new one */
    bool inlines;              /* SPROF_INLINES */
    bool full_names; /* show full function names; see enum demangle_form */
    unsigned server_seconds; /* time for all debuginfod servers together, in
                                seconds; 0: no limit */
    const char *sysroot; /* files are below it; NULL: this machine's. It holds
                            for all existing symbolizers */
};

/* Make a symbolizer, or use OPTIONS->shared once more. Returns NULL with errno
 * set if memory is short. */
struct symbolizer *symbolizer_new(const struct symbolizer_options *options);

/*
 * Returns an id for the file at PATH with this BUILD_ID, a text, which has one
 * id for any number of processes. A file without a build-id may differ for
 * another OWNER. 0 if memory is short. The caller then calls symbolizer_add.
 */
uint32_t symbolizer_file(struct symbolizer *symbolizer, const char *path,
                         const char *build_id, uint32_t owner);

/* Returns a number for an owner of files: no other has it. */
uint32_t symbolizer_owner(struct symbolizer *symbolizer);

/* Returns how many files have an id. */
uint32_t symbolizer_files(const struct symbolizer *symbolizer);

/* Close all files until the next question that has no answer yet. Answers stay
 * valid. */
void symbolizer_rest(struct symbolizer *symbolizer);

/*
 * Make a module known under ID (> 0, as in the spool). PATH is the ELF file.
 * BUILD_ID of LENGTH bytes (may be 0) is what was mapped. A file with another
 * build-id is not used, and symbolizer_problem says so. No file is opened
 * before the caller asks for an address of the module.
 */
void symbolizer_add(struct symbolizer *symbolizer, uint32_t id,
                    const char *path, const uint8_t *build_id, size_t length);

/* The file of module ID can no longer be read at its path, but at COPY. Called
 * before the first symbolizer_find of the module. */
void symbolizer_add_copy(struct symbolizer *symbolizer, uint32_t id,
                         const char *copy);

/* Returns the path at which the file of module ID is read: its own, or the
 * copy. "" if ID is not known. */
const char *symbolizer_path(const struct symbolizer *symbolizer, uint32_t id);

/* The file of module ID, which has no build-id, must not be used. WHY is the
 * rest of the sentence of symbolizer_problem, and stays valid. Holds for
 * questions that were not asked yet. */
void symbolizer_refuse(struct symbolizer *symbolizer, uint32_t id,
                       const char *why);

/*
 * Returns the meaning of OFFSET in module ID. OFFSET is an address in the ELF
 * file's numbering; the caller has subtracted 1 from a return address. ID 0 or
 * an unknown ID gives "0xoffset". The result is never NULL and is valid until
 * symbolizer_free. Equal questions get the same pointer.
 */
const struct symbol *symbolizer_find(struct symbolizer *symbolizer, uint32_t id,
                                     uint64_t offset);

/*
 * For an OFFSET in module ID whose function has no name: returns the symbol
 * that begins nearest before that function, named as in the source, and puts
 * into *DISTANCE how many bytes lie between their beginnings. The function may
 * belong to that symbol or not. NULL if the file has none before it, or cannot
 * be read. The string is valid until symbolizer_free.
 */
const char *symbolizer_before(struct symbolizer *symbolizer, uint32_t id,
                              uint64_t offset, uint64_t *distance);

/* A question that the caller would put to symbolizer_find. *ANSWER becomes the
 * result if it is prepared; ANSWER may be NULL. */
struct symbol_question {
    uint32_t id;
    uint64_t offset;
    const struct symbol **answer;
};

/*
 * Prepare the answers to COUNT questions, which this function sorts. For
 * several modules on several CPUs, the files are read in parallel.
 * symbolizer_find looks up whatever is not prepared. Does nothing if
 * DEBUGINFOD_URLS names servers.
 */
void symbolizer_expect(struct symbolizer *symbolizer,
                       struct symbol_question *questions, size_t count);

/* Limit the time for the debug information of all files together to NS
 * nanoseconds, by an estimate. Functions of files beyond the limit get names
 * from their symbols, but no file, line or inlined call. The caller must set
 * the limit before symbolizer_expect. */
void symbolizer_limit(struct symbolizer *symbolizer, uint64_t ns);

/* Returns a sentence about a module whose file was missing, replaced or
 * damaged. Returns NULL if the file is usable, or if no address of it was asked
 * for. */
const char *symbolizer_problem(const struct symbolizer *symbolizer,
                               uint32_t id);

/* Returns a sentence about debug information of a module's file that cannot be
 * read. NULL if all can, or before its first symbolizer_find. */
const char *symbolizer_unread(const struct symbolizer *symbolizer, uint32_t id);

/* The contents of a module's file. */
enum symbolizer_flags {
    SYMBOLIZER_SYMBOLS = 1, /* a symbol table */
    SYMBOLIZER_LINES = 2,   /* line information */
};

/* Returns enum symbolizer_flags of module ID. 0 before its first
 * symbolizer_find. */
unsigned symbolizer_flags(const struct symbolizer *symbolizer, uint32_t id);

/* Find the function that collects the garbage of the CPython in module ID.
 * Returns false if the module has none, or if it is not found. */
bool symbolizer_collector(const struct symbolizer *symbolizer, uint32_t id,
                          struct collector *collector);

/* End a use of SYMBOLIZER, and free it with the last one. */
void symbolizer_free(struct symbolizer *symbolizer);

#endif
