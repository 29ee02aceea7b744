/* SPDX-License-Identifier: MIT */
/*
 * image.h -- everything known about the code of one file: its symbols, its
 * DWARF and its PLT behind one question. Modules that are the same file (loaded
 * twice, or by several processes) share one image.
 */
#ifndef SYMBOL_IMAGE_H
#define SYMBOL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sketch.h"
#include "unit.h"

struct image;

/* The strings belong to the image. */
struct image_answer {
    const char *symbol; /* that covers the address, mangled; NULL: none */
    bool is_stub;       /* the address is in the PLT stub for SYMBOL */
    uint64_t start; /* of a function that has no name, if that is known; else
                       the address */
    unsigned count; /* of FRAMES; 0 if there is no DWARF for it */
    struct unit_frame *frames;
};

/*
 * Open the file at PATH if its build-id is BUILD_ID (LENGTH 0: any). Returns
 * NULL only if memory is short; an image of an unusable file has a problem,
 * and answers nothing.
 */
struct image *image_open(const char *path, const uint8_t *build_id,
                         size_t length);

/*
 * The same without debug information, so that no file or line is known and no
 * inlined call: of the symbols of SKETCH, which is of this file, what is needed
 * for COUNT ADDRESSES, which are sorted; others get no name. Takes over SKETCH.
 */
struct image *image_open_brief(const char *path, const uint8_t *build_id,
                               size_t length, struct sketch *sketch,
                               const uint64_t *addresses, size_t count);

/* Whether image_open was given just this. */
bool image_is(const struct image *image, const char *path,
              const uint8_t *build_id, size_t length);

/* What lies at ADDRESS (the file's own numbering). The caller provides
 * ANSWER->frames with LIMIT > 0 places. */
void image_find(struct image *image, uint64_t address,
                struct image_answer *answer, unsigned limit);

/* Why the file is not used, a sentence; NULL if it is. */
const char *image_problem(const struct image *image);

bool image_has_symbols(const struct image *image);
bool image_has_lines(const struct image *image);

void image_close(struct image *image);

#endif
