/* SPDX-License-Identifier: MIT */
/*
 * image.h -- one file's symbols, DWARF and PLT, asked by one function. Modules
 * with the same file (loaded twice, or by several processes) share one image.
 */
#ifndef SYMBOL_IMAGE_H
#define SYMBOL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sketch.h"
#include "symbolizer.h"
#include "unit.h"

struct image;

/* The answer of a file about one address. The strings belong to the image. */
struct image_answer {
    const char *symbol; /* mangled name of the symbol that covers the address;
                           NULL: none */
    bool is_stub;       /* the address is in the PLT stub for SYMBOL */
    uint64_t start; /* where a function without a name begins, if known; else
                       the address */
    unsigned count; /* number of FRAMES; 0 if no DWARF covers the address */
    struct unit_frame *frames;
};

/*
 * Open the file at PATH if its build-id is BUILD_ID (LENGTH 0: any build-id).
 * Returns NULL only if memory is short. An unusable file gives an image that
 * has a problem and answers nothing.
 */
struct image *image_open(const char *path, const uint8_t *build_id,
                         size_t length);

/* An image of the file at PATH, which must not be used: it has a problem, WHY
 * (the rest of a sentence), and answers nothing. NULL if memory is short. */
struct image *image_refuse(const char *path, const char *why);

/*
 * Open the file of SKETCH for its symbols alone: no file, line or inlined call
 * is known then. The image has only the symbols that answer the COUNT sorted
 * QUESTIONS. Other addresses get no name. Takes over SKETCH. NULL if
 * memory is short.
 */
struct image *image_open_brief(struct sketch *sketch,
                               const struct symbol_question *questions,
                               size_t count);

/* Find what lies at ADDRESS (the file's own numbering). The caller provides
 * ANSWER->frames with room for LIMIT > 0 frames. */
void image_find(struct image *image, uint64_t address,
                struct image_answer *answer, unsigned limit);

/* The symbol that begins nearest before or at ADDRESS in the same section, as
 * the table has it, whether or not it covers ADDRESS. *START becomes its
 * beginning. NULL if none begins there. */
const char *image_before(const struct image *image, uint64_t address,
                         uint64_t *start);

/* Why the file is not used, as a sentence. NULL if it is used. */
const char *image_problem(const struct image *image);

/* A sentence about debug information that cannot be read. NULL if all can. */
const char *image_unread(const struct image *image);

/* The file's flags: enum symbolizer_flags. */
unsigned image_flags(const struct image *image);

/* NULL is allowed. */
void image_close(struct image *image);

#endif
