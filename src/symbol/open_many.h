/* SPDX-License-Identifier: MIT */
/*
 * open_many.h -- opens several files and answers questions from them, on
 * several CPUs. Report side.
 */
#ifndef SYMBOL_OPEN_MANY_H
#define SYMBOL_OPEN_MANY_H

#include <stddef.h>
#include <stdint.h>

#include "util/intern.h"
#include "image.h"
#include "symbolizer.h"

/* A file, the questions to it, and its answers. */
struct opening {
    const char *path;
    const uint8_t *build_id;
    size_t length; /* of the build-id */
    const struct symbol_question *questions;
    size_t count;
    unsigned depth; /* wanted frames, including inlined ones */

    struct image *image;          /* NULL if memory is short */
    struct image_answer *answers; /* answers to the first ANSWERED questions */
    size_t answered;
    struct intern store; /* memory of the answers */
};

/* Open all COUNT files, which must differ, and answer their questions. One
 * thread handles each file. The caller owns the images afterwards. */
void open_many_run(struct opening *openings, size_t count);

/*
 * Choose the files whose debug information is worth its time among the COUNT
 * OPENINGS, which are not open. Files with the most questions for their cost
 * are left to be read whole, up to BUDGET ns in all by an estimate. The other
 * files, and files without debug information, are opened for their symbols
 * alone and answer their questions. They come first in OPENINGS. Returns their
 * number.
 */
size_t open_many_within(struct opening *openings, size_t count,
                        uint64_t budget);

/* Free the answers of COUNT openings. */
void open_many_free(struct opening *openings, size_t count);

#endif
