/* SPDX-License-Identifier: MIT */
/*
 * file_name.h -- the parts of a profile's name: DIRECTORY/STEM.ENDING.
 * Context: any.
 */
#ifndef AGENT_FILE_NAME_H
#define AGENT_FILE_NAME_H

#include <stddef.h>
#include <stdint.h>

#define FILE_NAME_SPOOL ".sprof"

/* The part of PATH after the last slash. */
const char *file_name_base(const char *path);

/* The length of PATH without the ending that names its format. */
size_t file_name_stem(const char *path);

/* Put ".WORD" or ".WORDnumber" before the ending of PATH, which has room for
 * PATH_MAX bytes. */
void file_name_insert(char *path, const char *word, uint64_t number);

#endif
