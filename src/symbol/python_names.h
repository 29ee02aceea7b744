/* SPDX-License-Identifier: MIT */
/* python_names.h -- names of Python functions as they are shown. */
#ifndef SYMBOL_PYTHON_NAMES_H
#define SYMBOL_PYTHON_NAMES_H

#include <stddef.h>

/* Write the name of the function NAME of the file at PATH to TEXT, which has
 * SIZE bytes: "json.decoder.JSONDecoder.decode". The file determines the
 * module. A name that does not fit is cut. */
void python_names_full(const char *path, const char *name, char *text,
                       size_t size);

#endif
