/* SPDX-License-Identifier: MIT */
/*
 * python_find.h -- recognizes CPython in a module, and reads from its memory
 * what the walk needs. Context: sampler.
 */
#ifndef UNWIND_PYTHON_FIND_H
#define UNWIND_PYTHON_FIND_H

#include <stdint.h>

#include "process/modules.h"
#include "python.h"

enum python_find {
    PYTHON_FIND_NONE,    /* the module has no interpreter */
    PYTHON_FIND_READY,   /* *PYTHON describes it */
    PYTHON_FIND_EARLY,   /* its module is not relocated yet */
    PYTHON_FIND_REFUSED, /* its frames cannot be read; see *MINOR */
};

/* Look for an interpreter in MODULE. *MINOR becomes the 3.MINOR of its version,
 * 0 if that is not known. */
enum python_find python_find(struct python *python, const struct module *module,
                             unsigned *minor);

#endif
