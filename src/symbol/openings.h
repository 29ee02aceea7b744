/* SPDX-License-Identifier: MIT */
/*
 * openings.h -- opens several files and puts all questions to them, on as many
 * CPUs as there are. Report side.
 */
#ifndef SYMBOL_OPENINGS_H
#define SYMBOL_OPENINGS_H

#include <stddef.h>
#include <stdint.h>

#include "answer_store.h"
#include "image.h"
#include "symbolizer.h"

/* A file, what is asked of it, and what it says. */
struct opening {
    const char *path;
    const uint8_t *build_id;
    size_t length; /* of the build-id */
    const struct symbol_question *questions;
    size_t count;
    unsigned depth; /* frames wanted, the inlined ones included */

    struct image *image;          /* NULL if memory is short */
    struct image_answer *answers; /* to the first ANSWERED questions */
    size_t answered;
    struct answer_store store; /* has all of that */
};

/* Open all COUNT, which are different files, each in one thread. The images are
 * the caller's then. */
void openings_run(struct opening *openings, size_t count);

/* Put all questions to the image of one, which is open already. */
void openings_answer(struct opening *opening);

/* Give back what the answers of COUNT are in. */
void openings_free(struct opening *openings, size_t count);

#endif
